/**
 * The transactions of an account, as values of the domain. A row arrives as JSON without nulls, so
 * that a field that was not sent is absent.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { itemBytes, transactionBytes } from "@data-import/domain/accounts/AccountChange"
import { type Database, rowsOf } from "../connection/Database.ts"
import { date } from "../tables/Column.ts"
import * as tables from "../tables/AccountItemTables.ts"
import { schemaOf, selected, withoutNulls } from "../tables/Table.ts"
import type { List } from "./AccountLists.ts"

type Sql = Database["Service"]["sql"]

const headFields = {
  sequence: Schema.Int,
  lineItems: Schema.NullOr(Schema.Int),
  taxItems: Schema.NullOr(Schema.Int),
  row: Schema.Struct({
    ledgerCode: Schema.NullOr(Schema.String),
    origin: tables.transactionOrigin.schema,
    movedFrom: Schema.NullOr(date.schema),
    transaction: schemaOf(tables.transactionColumns)
  })
}

/** A transaction with the counts of its items instead of the items; null for a missing list. */
const headRows = rowsOf(Schema.Struct(headFields))
export type TransactionHead = Effect.Success<ReturnType<typeof headRows>>[number]

/** SQL for the JSON object from which the row of a head is decoded. */
const headRow = `json_build_object(
  'ledgerCode', (select ledger_code from ledgers where ledgers.account_id = held.account_id
    and ledgers.position = held.ledger_position),
  'origin', origin,
  'movedFrom', moved_from_date,
  'transaction', ${withoutNulls(tables.transactionColumns)})`

/** An element of the array that `sizes` returns. */
export const sizeSchema = Schema.Struct({
  id: tables.transactionColumns.transaction_id.schema,
  bytes: Schema.Int
})

/** SQL for the size of a transaction; see `sizeOf`. */
const transactionSize = `${transactionBytes}
  + ${itemBytes} * (coalesce(line_item_count, 0) + coalesce(tax_item_count, 0))
  + coalesce(octet_length(display_note), 0) + coalesce(octet_length(note), 0)
  + coalesce(octet_length(reference), 0)`

/** A query for the sizes of transactions, as one value; null if there are none. */
export const sizes = (sql: Sql, source: Statement.Fragment) => sql`
  select json_agg(json_build_object('id', transaction_id,
    'bytes', ${sql.literal(transactionSize)})) from ${source}`

/**
 * The first transaction of each of the ids, a set of texts. Each is a separate lookup, because
 * PostgreSQL would plan a join on statistics that do not know a new account yet.
 */
export const firstTransactions = (
  sql: Sql,
  id: bigint | Statement.Fragment,
  ids: Statement.Fragment
) => sql`
  ${ids} as named(value) cross join lateral (
    select * from transactions where account_id = ${id} and transaction_id = named.value
    order by occurrence limit 1) as held`

/** The transactions of the source without their items, in the order in which they were added. */
export const readHeads = (sql: Sql, source: Statement.Fragment) =>
  headRows(sql`
    select sequence, line_item_count as "lineItems", tax_item_count as "taxItems",
      ${sql.literal(headRow)} as row
    from ${source} order by sequence`)

/** The number of items that are decoded together, small enough for no pause. */
const chunk = 200

interface Items<Item> {
  readonly table: { readonly name: string }
  /** SQL for one item. */
  readonly item: string
  readonly schema: Schema.Codec<Item, unknown>
}

/**
 * Reads the items of transactions, in order and in chunks. Each transaction is a separate lookup;
 * see `firstTransactions`.
 */
const itemDecoder = <Item>({ item, schema, table }: Items<Item>) => {
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

const lineItemSchema = Schema.Struct({
  item: schemaOf(tables.lineItemColumns),
  readings: schemaOf(tables.readingColumns)
})

const lineItems: Items<typeof lineItemSchema.Type> = {
  table: tables.lineItems,
  item: `json_build_object('item', ${selected(tables.lineItemColumns)},
    'readings', ${selected(tables.readingColumns)})`,
  schema: lineItemSchema
}

const taxItems = {
  table: tables.taxItems,
  item: selected(tables.taxItemColumns),
  schema: schemaOf(tables.taxItemColumns)
}

const readLineItems = itemDecoder(lineItems)
const readTaxItems = itemDecoder(taxItems)

type ReadTaxItem = typeof taxItems.schema.Type

const lineItemOf = ({ item, readings }: typeof lineItemSchema.Type) => {
  const { reading_at_end: end, reading_at_start: start } = readings
  return { ...item, ...(start !== undefined && end !== undefined && { units: [start, end] }) }
}

/** The transaction with these items, where it was sent with such lists. */
const withItems = (
  head: Pick<TransactionHead, "lineItems" | "row" | "taxItems">,
  lines: ReadonlyArray<typeof lineItemSchema.Type>,
  taxes: ReadonlyArray<ReadTaxItem>
) => ({
  ...head.row,
  transaction: {
    ...head.row.transaction,
    ...(head.lineItems !== null && { line_items: lines.map(lineItemOf) }),
    ...(head.taxItems !== null && { tax_items: taxes })
  }
})

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
  return heads.map((head) =>
    withItems(head, lines?.get(head.sequence) ?? [], taxes?.get(head.sequence) ?? [])
  )
})

/**
 * SQL for the items of the transaction `held`; null if the SQL `count` says that there are none.
 */
const itemsOf = ({ item, table }: Omit<Items<never>, "schema">, count: string): string =>
  `case when ${count} > 0 then (select json_strip_nulls(json_agg(${item} order by position))
    from ${table.name}
    where account_id = held.account_id and transaction_sequence = held.sequence) end`

const wholeTransaction = Schema.Struct({
  ...headFields,
  lines: Schema.NullOr(Schema.Array(lineItems.schema)),
  taxes: Schema.NullOr(Schema.Array(taxItems.schema))
})

/** Transactions with their items, for accounts that are small enough. */
export const transactions: List<typeof wholeTransaction.Type> = {
  table: tables.transactions.name,
  bytes: transactionSize,
  row: `json_build_object('sequence', sequence, 'lineItems', line_item_count,
    'taxItems', tax_item_count, 'row', ${headRow},
    'lines', ${itemsOf(lineItems, "line_item_count")},
    'taxes', ${itemsOf(taxItems, "tax_item_count")})`,
  schema: wholeTransaction
}

export const transactionOf = ({ lines, taxes, ...head }: typeof wholeTransaction.Type) =>
  withItems(head, lines ?? [], taxes ?? [])
