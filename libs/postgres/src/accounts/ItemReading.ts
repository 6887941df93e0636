/**
 * The transactions, notes and statements of an account, as values of the domain. A row arrives as
 * JSON without nulls, so that what was not sent is left out, with figures as text, so that no digit
 * is lost.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { itemBytes, transactionBytes } from "@data-import/domain/account/AccountChange"
import { type Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

const optional = Schema.optionalKey
/** A `numeric` as text. */
export const Decimal = Schema.BigDecimalFromString
const Instant = Schema.DateTimeUtcFromString
export const Day = Schema.String.pipe(Schema.brand("CalendarDate"))
const Path = Schema.String.pipe(Schema.brand("DocumentPath"))

const lineItem = Schema.Struct({
  rate_band: optional(Schema.String),
  start_date: Day,
  end_date: Day,
  number_of_units: Decimal,
  net_amount: Decimal,
  price_per_unit: optional(Decimal),
  units: optional(Schema.Array(Decimal))
})

const taxItem = Schema.Struct({
  amount: Decimal,
  tax_type: Schema.String,
  value_taxed: Decimal,
  rate: Decimal,
  unit_type: Schema.Literals(["PROPORTION", "CURRENCY_PER_KWH"])
})

/** A transaction but for its items, of which it has the numbers; null where it has no list. */
const headRows = rowsOf(
  Schema.Struct({
    sequence: Schema.Int,
    lineItems: Schema.NullOr(Schema.Int),
    taxItems: Schema.NullOr(Schema.Int),
    row: Schema.Struct({
      ledgerCode: Schema.NullOr(Schema.String),
      movedFrom: Schema.NullOr(Day),
      transaction: Schema.Struct({
        transaction_id: Schema.String.pipe(Schema.brand("TransactionId")),
        transaction_date: Day,
        amount: Decimal,
        type: Schema.Literals(["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"]),
        reason: optional(Schema.String),
        display_note: optional(Schema.String),
        note: optional(Schema.String),
        reference: optional(Schema.String),
        payment_type: optional(Schema.String),
        product_code: optional(Schema.String)
      })
    })
  })
)
export type TransactionHead = Effect.Success<ReturnType<typeof headRows>>[number]

const sizeRows = rowsOf(
  Schema.Struct({ id: Schema.String.pipe(Schema.brand("TransactionId")), bytes: Schema.Int })
)

/** A source to read from: all transactions of the account. */
export const allTransactions = (sql: Sql, id: bigint) =>
  sql`(select * from transactions where account_id = ${id}) as held`

/** The sizes of the transactions of the source, as `sizeOf` counts them. */
export const readSizes = (sql: Sql, source: Statement.Fragment) =>
  sizeRows(sql`
    select transaction_id as id, ${transactionBytes}::int
        + ${itemBytes}::int * (coalesce(line_item_count, 0) + coalesce(tax_item_count, 0))
        + coalesce(octet_length(display_note), 0) + coalesce(octet_length(note), 0)
        + coalesce(octet_length(reference), 0) as bytes
    from ${source}`)

/**
 * The first transaction of each id. Each is looked up by itself, because a join would be planned on
 * statistics that know nothing of an account which has just been filled.
 */
export const firstTransactions = (sql: Sql, id: bigint, ids: ReadonlyArray<string>) => sql`
  unnest(${ids}::text[]) as named(value) cross join lateral (
    select * from transactions where account_id = ${id} and transaction_id = named.value
    order by occurrence limit 1) as held`

/** The transactions of the source without their items, in the order in which they came. */
export const readHeads = (sql: Sql, source: Statement.Fragment) =>
  headRows(sql`
    select sequence, line_item_count as "lineItems", tax_item_count as "taxItems",
      json_build_object(
        'ledgerCode', (select ledger_code from ledgers where ledgers.account_id = held.account_id
          and ledgers.position = held.ledger_position),
        'movedFrom', moved_from_date,
        'transaction', json_strip_nulls(json_build_object('transaction_id', transaction_id,
          'transaction_date', transaction_date, 'amount', amount::text, 'type', type,
          'reason', reason, 'display_note', display_note, 'note', note, 'reference', reference,
          'payment_type', payment_type, 'product_code', product_code))) as row
    from ${source} order by sequence`)

/** How many items arrive together: few enough to be decoded without a pause. */
const chunk = 200

const itemsOf = <Item>(
  chunks: ReadonlyArray<{ readonly sequence: number; readonly items: ReadonlyArray<Item> }>
): ReadonlyMap<number, ReadonlyArray<Item>> => {
  const items = new Map<number, Array<Item>>()
  for (const { items: some, sequence } of chunks) {
    const before = items.get(sequence)
    if (before === undefined) items.set(sequence, [...some])
    else before.push(...some)
  }
  return items
}

/**
 * The items of these transactions, in their order and in chunks. Those of each transaction are
 * looked up by themselves, see `firstTransactions`.
 */
const itemChunks = (
  sql: Sql,
  {
    id,
    item,
    sequences,
    table
  }: {
    readonly id: bigint
    readonly sequences: ReadonlyArray<number>
    readonly table: string
    readonly item: Statement.Fragment
  }
) => sql`
  select held.sequence, items
  from unnest(${sequences}::integer[]) as held(sequence) cross join lateral (
    select position / ${chunk}::integer as part,
      json_strip_nulls(json_agg(${item} order by position)) as items
    from ${sql(table)}
    where account_id = ${id} and transaction_sequence = held.sequence group by 1) as parts
  order by sequence, part`

const lineItemRows = rowsOf(Schema.Struct({ sequence: Schema.Int, items: Schema.Array(lineItem) }))
const taxItemRows = rowsOf(Schema.Struct({ sequence: Schema.Int, items: Schema.Array(taxItem) }))

const readLineItems = (sql: Sql, id: bigint, sequences: ReadonlyArray<number>) => {
  const item = sql`json_build_object('rate_band', rate_band, 'start_date', start_date,
    'end_date', end_date, 'number_of_units', number_of_units::text,
    'net_amount', net_amount::text, 'price_per_unit', price_per_unit::text,
    'units', case when reading_at_start is not null
      then json_build_array(reading_at_start::text, reading_at_end::text) end)`
  return Effect.map(
    lineItemRows(itemChunks(sql, { id, item, sequences, table: "transaction_line_items" })),
    itemsOf
  )
}

const readTaxItems = (sql: Sql, id: bigint, sequences: ReadonlyArray<number>) => {
  const item = sql`json_build_object('amount', amount::text, 'tax_type', tax_type,
    'value_taxed', value_taxed::text, 'rate', rate::text, 'unit_type', unit_type)`
  return Effect.map(
    taxItemRows(itemChunks(sql, { id, item, sequences, table: "transaction_tax_items" })),
    itemsOf
  )
}

/** The sequences of those that have such items; without any, nothing needs to be read. */
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
      ...(lineItems !== null && { line_items: lines?.get(sequence) ?? [] }),
      ...(taxItems !== null && { tax_items: taxes?.get(sequence) ?? [] })
    }
  }))
})

/** As far as the document store was asked. */
const Document = {
  size: optional(Schema.Number),
  etag: optional(Schema.String),
  checksum: optional(Schema.String)
}

const noteRows = rowsOf(
  Schema.Struct({
    row: Schema.Struct({
      note: Schema.Struct({
        body: optional(Schema.String),
        created_at: Instant,
        is_pinned: Schema.Boolean,
        unpin_at: optional(Instant)
      }),
      documents: optional(Schema.Array(Schema.Struct({ document_path: Path, ...Document })))
    })
  })
)

/** A source to read from: all notes of the account. */
export const allNotes = (sql: Sql, id: bigint) =>
  sql`(select * from notes where account_id = ${id}) as held`

/** The notes of the source, each with its documents, in the order in which they came. */
export const readNotes = (sql: Sql, source: Statement.Fragment) =>
  Effect.map(
    noteRows(sql`
      select json_strip_nulls(json_build_object(
        'note', json_build_object('body', body, 'created_at', created_at,
          'is_pinned', is_pinned, 'unpin_at', unpin_at),
        'documents', (select json_agg(json_build_object('document_path', document_path,
            'size', document_size, 'etag', document_etag, 'checksum', document_checksum
          ) order by position)
          from note_documents
          where note_documents.account_id = held.account_id and note_sequence = held.sequence)
        )) as row
      from ${source} order by sequence`),
    (rows) => rows.map(({ row }) => row)
  )

const statementRows = rowsOf(
  Schema.Struct({
    row: Schema.Struct({
      origin: Schema.Literals(["account_payload", "historical_statements"]),
      statement: Schema.Struct({
        statement_id: Schema.String.pipe(Schema.brand("StatementId")),
        bill_period_from_date: Day,
        bill_period_to_date: Day,
        issued_date: optional(Day),
        number: optional(Schema.String),
        gross_amount: optional(Decimal),
        statement_path: optional(Path)
      }),
      document: Schema.Struct(Document)
    })
  })
)

/** A source to read from: all statements of the account. */
export const allStatements = (sql: Sql, id: bigint) =>
  sql`(select * from statements where account_id = ${id}) as held`

/** The statement of each id; see `firstTransactions`. */
export const namedStatements = (sql: Sql, id: bigint, ids: ReadonlyArray<string>) => sql`
  unnest(${ids}::text[]) as named(value) cross join lateral (
    select * from statements where account_id = ${id} and statement_id = named.value
    limit 1) as held`

/** The statements of the source, in the order in which they came onto the account. */
export const readStatements = (sql: Sql, source: Statement.Fragment) =>
  Effect.map(
    statementRows(sql`
      select json_strip_nulls(json_build_object('origin', origin,
        'statement', json_build_object('statement_id', statement_id,
          'bill_period_from_date', bill_period_from_date,
          'bill_period_to_date', bill_period_to_date, 'issued_date', issued_date,
          'number', number, 'gross_amount', gross_amount::text,
          'statement_path', statement_path),
        'document', json_build_object('size', document_size, 'etag', document_etag,
          'checksum', document_checksum))) as row
      from ${source} order by sequence`),
    (rows) => rows.map(({ row }) => row)
  )
