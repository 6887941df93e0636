/**
 * The lists of an account: where the rows of each are, how large they are, and how one is read. A
 * row arrives as JSON without nulls, so that a field that was not sent is absent.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { type Database, rowsOf } from "../connection/Database.ts"
import { texts } from "../tables/Column.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import * as tables from "../tables/AccountTables.ts"
import { type Columns, schemaOf, selected, type Table, withoutNulls } from "../tables/Table.ts"

type Sql = Database["Service"]["sql"]

interface Source {
  readonly table: string
  /** The column that numbers the rows of an account from 0. */
  readonly order: string
  /** SQL for the approximate size of the row `held` in bytes. */
  readonly bytes: string
  /** SQL for the JSON of the row `held`. */
  readonly row: string
}

export interface List<Row> extends Source {
  readonly schema: Schema.Codec<Row, unknown>
}

/** SQL for the JSON of all rows of the account of this SQL id. */
export const wholeList = ({ order, row, table }: Source, id: string): string =>
  `coalesce((select json_agg(${row} order by ${order})
    from ${table} as held where account_id = ${id}), '[]')`

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
  { bytes, order, table }: Source,
  id: bigint,
  { end, from }: Range
) => sql`(
  select * from (
    select *, sum(row_bytes) over (order by ${sql(order)}) - row_bytes as earlier_bytes
    from (
      select *, ${sql.literal(bytes)} as row_bytes from ${sql(table)} as held
      where account_id = ${id} and ${sql(order)} >= ${from} and ${sql(order)} < ${end}
      order by ${sql(order)} limit ${pageRows}
    ) as page
  ) as sized where earlier_bytes < ${pageBytes}) as held`

/** Reads the rows of a source, which is named `held`, in their order. */
const rowsOfList = <Row>({ order, row, schema }: List<Row>) => {
  const decode = rowsOf(Schema.Struct({ row: schema }))
  return (sql: Sql, source: Statement.Fragment) =>
    Effect.map(
      decode(sql`select ${sql.literal(row)} as row from ${source} order by ${sql(order)}`),
      (rows) => rows.map(({ row: decoded }) => decoded)
    )
}

/** Reads the first rows of a range of a list. */
export const pageReader = <Row>(list: List<Row>) => {
  const read = rowsOfList(list)
  return (sql: Sql, id: bigint, range: Range) => read(sql, pageOf(sql, list, id, range))
}

/** The names of the fields of a row that were not sent. */
export const OmittedNames = Schema.NullOr(texts.schema)

/** The bytes of a row of short texts. */
const shortRow = "1000"

/** A list that only the import fills. */
const positioned = <C extends Columns>(
  { name }: Table<Columns>,
  columns: C,
  { bytes = shortRow, omitted = "null" } = {}
) => {
  const schema = Schema.Struct({
    sequence: Schema.Int,
    omitted: OmittedNames,
    row: schemaOf(columns)
  })
  const list: List<typeof schema.Type> = {
    table: name,
    order: "position",
    bytes,
    row: `json_build_object('sequence', position, 'omitted', ${omitted},
      'row', ${withoutNulls(columns)})`,
    schema
  }
  return list
}

export const metadata = positioned(tables.metadata, tables.metadataColumns, {
  bytes: "100 + octet_length(key) + octet_length(value::text)"
})
export const supplyAddresses = positioned(tables.supplyAddresses, tables.supplyAddressColumns)
export const ledgers = positioned(tables.ledgers, tables.ledgerColumns, { omitted: "omitted" })

const customerRow = Schema.Struct({
  sequence: Schema.Int,
  omitted: OmittedNames,
  row: schemaOf(tables.customerColumns),
  preferences: schemaOf(tables.preferenceColumns)
})

export const customers: List<typeof customerRow.Type> = {
  table: tables.customers.name,
  order: "position",
  bytes: shortRow,
  row: `json_build_object('sequence', position, 'omitted', omitted,
    'row', ${withoutNulls(tables.customerColumns)},
    'preferences', ${selected(tables.preferenceColumns)})`,
  schema: customerRow
}

const noteRow = Schema.Struct({
  sequence: Schema.Int,
  note: schemaOf(itemTables.noteColumns),
  omitted: Schema.optionalKey(texts.schema),
  documents: Schema.optionalKey(Schema.Array(schemaOf(itemTables.noteDocumentColumns)))
})

/** Notes with their documents. */
export const notes: List<typeof noteRow.Type> = {
  table: itemTables.notes.name,
  order: "sequence",
  bytes: `200 + coalesce(octet_length(body), 0) + 1000 * (
    select count(*) from note_documents
    where note_documents.account_id = held.account_id and note_sequence = held.sequence)`,
  row: `json_strip_nulls(json_build_object(
    'sequence', sequence,
    'omitted', omitted,
    'note', ${selected(itemTables.noteColumns)},
    'documents', (
      select json_agg(${selected(itemTables.noteDocumentColumns)} order by position)
      from note_documents
      where note_documents.account_id = held.account_id and note_sequence = held.sequence)))`,
  schema: noteRow
}

/** The source for all notes of the account. */
export const allNotes = (sql: Sql, id: bigint) =>
  sql`(select * from notes where account_id = ${id}) as held`

export const readNotes = rowsOfList(notes)

const statementRow = Schema.Struct({
  sequence: Schema.Int,
  origin: itemTables.statements.columns.origin.schema,
  statement: schemaOf(itemTables.statementColumns),
  document: schemaOf(itemTables.documentColumns)
})

export const statements: List<typeof statementRow.Type> = {
  table: itemTables.statements.name,
  order: "sequence",
  bytes: shortRow,
  row: `json_build_object('sequence', sequence, 'origin', origin,
    'statement', ${withoutNulls(itemTables.statementColumns)},
    'document', ${withoutNulls(itemTables.documentColumns)})`,
  schema: statementRow
}

/** The source for all statements of the account. */
export const allStatements = (sql: Sql, id: bigint) =>
  sql`(select * from statements where account_id = ${id}) as held`

/**
 * SQL for the JSON of the statement of each of the ids, which are SQL for a set of texts. Each is a
 * separate lookup; see `firstTransactions`. A statement of the payload that was completed has a
 * second row, which is read: its origin comes last in the order of their names.
 */
export const namedStatements = (id: string, ids: string): string => `(
  select json_agg(${statements.row}) from ${ids} as named(value) cross join lateral (
    select * from statements where account_id = ${id} and statement_id = named.value
    order by origin desc limit 1) as held)`

export const readStatements = rowsOfList(statements)
