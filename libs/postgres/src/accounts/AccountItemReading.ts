/**
 * The transactions, notes and statements of an account, as values of the domain. A row arrives as
 * JSON without nulls, so that a field that was not sent is absent.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { itemBytes, transactionBytes } from "@data-import/domain/account/AccountChange"
import { type Database, rowsOf } from "../connection/Database.ts"
import { date, texts } from "../tables/Column.ts"
import * as tables from "../tables/AccountItemTables.ts"
import { schemaOf, selected, withoutNulls } from "../tables/Table.ts"

type Sql = Database["Service"]["sql"]

/** A transaction with the counts of its items instead of the items; null for a missing list. */
const headRows = rowsOf(
  Schema.Struct({
    sequence: Schema.Int,
    lineItems: Schema.NullOr(Schema.Int),
    taxItems: Schema.NullOr(Schema.Int),
    row: Schema.Struct({
      ledgerCode: Schema.NullOr(Schema.String),
      movedFrom: Schema.NullOr(date.schema),
      transaction: schemaOf(tables.transactionColumns)
    })
  })
)
export type TransactionHead = Effect.Success<ReturnType<typeof headRows>>[number]

const sizeRows = rowsOf(
  Schema.Struct({ id: Schema.String.pipe(Schema.brand("TransactionId")), bytes: Schema.Int })
)

/** The source for all transactions of the account. */
export const allTransactions = (sql: Sql, id: bigint) =>
  sql`(select * from transactions where account_id = ${id}) as held`

/** SQL for the size of a transaction; see `sizeOf`. */
const transactionSize = `${transactionBytes}
  + ${itemBytes} * (coalesce(line_item_count, 0) + coalesce(tax_item_count, 0))
  + coalesce(octet_length(display_note), 0) + coalesce(octet_length(note), 0)
  + coalesce(octet_length(reference), 0)`

export const readSizes = (sql: Sql, source: Statement.Fragment) =>
  sizeRows(sql`
    select transaction_id as id, ${sql.literal(transactionSize)} as bytes from ${source}`)

/** The rows of a list of an account from the number `from` on, and before `end`. */
export interface Range {
  readonly from: number
  readonly end: number
}

const pageRows = 200
const pageBytes = 1024 * 1024

/**
 * The source for the first rows of a range: at least one, and so many that they are of about a
 * mebibyte. `size` is SQL for the bytes of a row.
 */
const pageOf =
  (table: string, size: string) =>
  (sql: Sql, id: bigint, { end, from }: Range) =>
    sql`(
    select * from (
      select *, sum(${sql.literal(size)}) over (order by sequence) - ${sql.literal(size)} as earlier
      from (select * from ${sql(table)} where account_id = ${id} and sequence >= ${from}
        and sequence < ${end} order by sequence limit ${pageRows}) as page
    ) as sized where earlier < ${pageBytes}) as held`

export const pageOfTransactions = pageOf(tables.transactions.name, transactionSize)

/** A page of statements, which are small. */
export const pageOfStatements = pageOf(tables.statements.name, "1000")

/** A page of notes with their documents. */
export const pageOfNotes = pageOf(
  tables.notes.name,
  `200 + coalesce(octet_length(body), 0) + 1000 * (select count(*) from note_documents
    where note_documents.account_id = page.account_id and note_sequence = page.sequence)`
)

/**
 * The first transaction of each id. Each is a separate lookup, because PostgreSQL would plan a join
 * on statistics that do not know a new account yet.
 */
export const firstTransactions = (sql: Sql, id: bigint, ids: ReadonlyArray<string>) => sql`
  unnest(${ids}::text[]) as named(value) cross join lateral (
    select * from transactions where account_id = ${id} and transaction_id = named.value
    order by occurrence limit 1) as held`

/** The transactions of the source without their items, in the order in which they were added. */
export const readHeads = (sql: Sql, source: Statement.Fragment) =>
  headRows(sql`
    select sequence, line_item_count as "lineItems", tax_item_count as "taxItems",
      json_build_object(
        'ledgerCode', (select ledger_code from ledgers where ledgers.account_id = held.account_id
          and ledgers.position = held.ledger_position),
        'movedFrom', moved_from_date,
        'transaction', ${sql.literal(withoutNulls(tables.transactionColumns))}) as row
    from ${source} order by sequence`)

/** The number of items that are decoded together, small enough for no pause. */
const chunk = 200

interface Items {
  readonly table: { readonly name: string }
  /** SQL for one item. */
  readonly item: string
}

/**
 * Reads the items of transactions, in order and in chunks. Each transaction is a separate lookup;
 * see `firstTransactions`.
 */
const itemDecoder = <Item>({ item, table }: Items, schema: Schema.Codec<Item, unknown>) => {
  const decode = rowsOf(Schema.Struct({ sequence: Schema.Int, items: Schema.Array(schema) }))
  return Effect.fnUntraced(function* (sql: Sql, id: bigint, sequences: ReadonlyArray<number>) {
    const chunks = yield* decode(sql`
      select held.sequence, items
      from unnest(${sequences}::integer[]) as held(sequence) cross join lateral (
        select position / ${chunk}::integer as part,
          json_strip_nulls(json_agg(${sql.literal(item)} order by position)) as items
        from ${sql(table.name)}
        where account_id = ${id} and transaction_sequence = held.sequence group by 1) as parts
      order by sequence, part`)
    const items = new Map<number, Array<Item>>()
    for (const { items: some, sequence } of chunks) {
      const before = items.get(sequence)
      if (before === undefined) items.set(sequence, [...some])
      else before.push(...some)
    }
    return items
  })
}

const readLineItems = itemDecoder(
  {
    table: tables.lineItems,
    item: `json_build_object('item', ${selected(tables.lineItemColumns)},
      'readings', ${selected(tables.readingColumns)})`
  },
  Schema.Struct({
    item: schemaOf(tables.lineItemColumns),
    readings: schemaOf(tables.readingColumns)
  })
)

const readTaxItems = itemDecoder(
  { table: tables.taxItems, item: selected(tables.taxItemColumns) },
  schemaOf(tables.taxItemColumns)
)

type ReadLineItem =
  Effect.Success<ReturnType<typeof readLineItems>> extends ReadonlyMap<
    number,
    ReadonlyArray<infer Item>
  >
    ? Item
    : never

const lineItemOf = ({ item, readings }: ReadLineItem) => {
  const { reading_at_end: end, reading_at_start: start } = readings
  return { ...item, ...(start !== undefined && end !== undefined && { units: [start, end] }) }
}

/** The sequences of the transactions with such items, or none if there are no such transactions. */
const havingItems = (
  heads: ReadonlyArray<TransactionHead>,
  count: (head: TransactionHead) => number | null
) => heads.flatMap((head) => ((count(head) ?? 0) > 0 ? [head.sequence] : []))

/** These transactions of the account, with their items. */
export const readTransactions = Effect.fnUntraced(function* (
  sql: Sql,
  id: bigint,
  heads: ReadonlyArray<TransactionHead>
) {
  const withLines = havingItems(heads, ({ lineItems }) => lineItems)
  const withTaxes = havingItems(heads, ({ taxItems }) => taxItems)
  const lines = withLines.length > 0 ? yield* readLineItems(sql, id, withLines) : null
  const taxes = withTaxes.length > 0 ? yield* readTaxItems(sql, id, withTaxes) : null
  return heads.map(({ lineItems, row, sequence, taxItems }) => ({
    ...row,
    transaction: {
      ...row.transaction,
      ...(lineItems !== null && { line_items: (lines?.get(sequence) ?? []).map(lineItemOf) }),
      ...(taxItems !== null && { tax_items: taxes?.get(sequence) ?? [] })
    }
  }))
})

const noteRows = rowsOf(
  Schema.Struct({
    row: Schema.Struct({
      sequence: Schema.Int,
      note: schemaOf(tables.noteColumns),
      omitted: Schema.optionalKey(texts.schema),
      documents: Schema.optionalKey(Schema.Array(schemaOf(tables.noteDocumentColumns)))
    })
  })
)

/** The source for all notes of the account. */
export const allNotes = (sql: Sql, id: bigint) =>
  sql`(select * from notes where account_id = ${id}) as held`

/** The notes of the source with their documents, in the order in which they were added. */
export const readNotes = (sql: Sql, source: Statement.Fragment) =>
  Effect.map(
    noteRows(sql`
      select json_strip_nulls(json_build_object(
        'sequence', sequence,
        'omitted', omitted,
        'note', ${sql.literal(selected(tables.noteColumns))},
        'documents', (select json_agg(
            ${sql.literal(selected(tables.noteDocumentColumns))} order by position)
          from note_documents
          where note_documents.account_id = held.account_id and note_sequence = held.sequence)
        )) as row
      from ${source} order by sequence`),
    (rows) => rows.map(({ row }) => row)
  )

const { origin } = tables.statements.columns

const statementRows = rowsOf(
  Schema.Struct({
    row: Schema.Struct({
      sequence: Schema.Int,
      origin: origin.schema,
      statement: schemaOf(tables.statementColumns),
      document: schemaOf(tables.documentColumns)
    })
  })
)

/** The source for all statements of the account. */
export const allStatements = (sql: Sql, id: bigint) =>
  sql`(select * from statements where account_id = ${id}) as held`

/** The statement of each id; see `firstTransactions`. */
export const namedStatements = (sql: Sql, id: bigint, ids: ReadonlyArray<string>) => sql`
  unnest(${ids}::text[]) as named(value) cross join lateral (
    select * from statements where account_id = ${id} and statement_id = named.value
    limit 1) as held`

/** The statements of the source, in the order in which they were added. */
export const readStatements = (sql: Sql, source: Statement.Fragment) =>
  Effect.map(
    statementRows(sql`
      select json_build_object('sequence', sequence, 'origin', origin,
        'statement', ${sql.literal(withoutNulls(tables.statementColumns))},
        'document', ${sql.literal(withoutNulls(tables.documentColumns))}) as row
      from ${source} order by sequence`),
    (rows) => rows.map(({ row }) => row)
  )
