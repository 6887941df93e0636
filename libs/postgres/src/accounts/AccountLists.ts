/**
 * The lists of an account to which requests add: where the rows of each are, how large they are,
 * and how one is read. Rows are numbered from 0. A row arrives as JSON without nulls, so that a
 * field that was not sent is absent.
 */
import { Effect, Schema } from "effect"
import { type Database, rowsOf } from "../connection/Database.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import { schemaOf, selected, withoutNulls } from "../tables/Table.ts"

type Sql = Database["Service"]["sql"]

interface Source {
  readonly table: string
  /** SQL for the approximate size of the row `held` in bytes. */
  readonly bytes: string
  /** SQL for the JSON of the row `held`. */
  readonly row: string
}

export interface List<Row> extends Source {
  readonly schema: Schema.Codec<Row, unknown>
}

/** SQL for the JSON of all rows of the account of this SQL id, from the number of this SQL on. */
export const wholeList = ({ row, table }: Source, id: string, from: string): string =>
  `coalesce((select json_agg(${row} order by sequence)
    from ${table} as held where account_id = ${id} and sequence >= ${from}), '[]')`

/** The rows of a list of an account from the number `from` on, and before `end`. */
export interface Range {
  readonly from: number
  readonly end: number
}

const pageRows = 200
/** About how many bytes are read at once. Each of many unread answers holds a page. */
export const pageBytes = 128 * 1024

/** The source for the first rows of a range: at least one, and as many as fill a page. */
export const pageOf = (
  sql: Sql,
  { bytes, table }: Source,
  id: bigint,
  { end, from }: Range
) => sql`(
  select * from (
    select *, sum(row_bytes) over (order by sequence) - row_bytes as earlier_bytes
    from (
      select *, ${sql.literal(bytes)} as row_bytes from ${sql(table)} as held
      where account_id = ${id} and sequence >= ${from} and sequence < ${end}
      order by sequence limit ${pageRows}
    ) as page
  ) as sized where earlier_bytes < ${pageBytes}) as held`

/** Reads the first rows of a range of a list. */
export const pageReader = <Row>(list: List<Row>) => {
  const decode = rowsOf(Schema.Struct({ row: list.schema }))
  return (sql: Sql, id: bigint, range: Range) =>
    Effect.map(
      decode(sql`
        select ${sql.literal(list.row)} as row from ${pageOf(sql, list, id, range)}
        order by sequence`),
      (rows) => rows.map(({ row }) => row)
    )
}

/** The bytes of a row of short texts. */
const shortRow = "1000"

const noteRow = Schema.Struct({
  sequence: Schema.Int,
  note: schemaOf(itemTables.noteColumns),
  documents: Schema.optionalKey(Schema.Array(schemaOf(itemTables.noteDocumentColumns)))
})

/** Notes with their documents. */
export const notes: List<typeof noteRow.Type> = {
  table: itemTables.notes.name,
  bytes: `200 + coalesce(octet_length(body), 0) + 1000 * (
    select count(*) from note_documents
    where note_documents.account_id = held.account_id and note_sequence = held.sequence)`,
  row: `json_strip_nulls(json_build_object(
    'sequence', sequence,
    'note', ${selected(itemTables.noteColumns)},
    'documents', (
      select json_agg(${selected(itemTables.noteDocumentColumns)} order by position)
      from note_documents
      where note_documents.account_id = held.account_id and note_sequence = held.sequence)))`,
  schema: noteRow
}

const statementRow = Schema.Struct({
  sequence: Schema.Int,
  origin: itemTables.statements.columns.origin.schema,
  statement: schemaOf(itemTables.statementColumns),
  document: schemaOf(itemTables.documentColumns)
})

export const statements: List<typeof statementRow.Type> = {
  table: itemTables.statements.name,
  bytes: shortRow,
  row: `json_build_object('sequence', sequence, 'origin', origin,
    'statement', ${withoutNulls(itemTables.statementColumns)},
    'document', ${withoutNulls(itemTables.documentColumns)})`,
  schema: statementRow
}

/**
 * SQL for the JSON of the statement of each of the ids, which are SQL for a set of texts. Each is a
 * separate lookup; see `firstTransactions`. A statement of the payload that was completed has a
 * second row, which is read: its origin comes last in the order of their names.
 */
export const namedStatements = (id: string, ids: string): string => `(
  select json_agg(${statements.row}) from ${ids} as named(value) cross join lateral (
    select * from statements where account_id = ${id} and statement_id = named.value
    order by origin desc limit 1) as held)`
