/**
 * The transactions, notes and statements of an account, as values of the domain. A row arrives as
 * JSON without nulls, so that what was not sent is left out, with figures as text, so that no digit
 * is lost.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { type Database, rowsOf } from "./Database.ts"

type Sql = Database["Service"]["sql"]

const optional = Schema.optionalKey
/** A `numeric` as text. */
export const Figure = Schema.BigDecimalFromString
const Instant = Schema.DateTimeUtcFromString
export const Day = Schema.String.pipe(Schema.brand("CalendarDate"))
const Path = Schema.String.pipe(Schema.brand("DocumentPath"))

const transactionRows = rowsOf(
  Schema.Struct({
    row: Schema.Struct({
      ledgerCode: Schema.NullOr(Schema.String),
      movedFrom: Schema.NullOr(Day),
      transaction: Schema.Struct({
        transaction_id: Schema.String.pipe(Schema.brand("TransactionId")),
        transaction_date: Day,
        amount: Figure,
        type: Schema.Literals(["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"]),
        reason: optional(Schema.String),
        display_note: optional(Schema.String),
        note: optional(Schema.String),
        reference: optional(Schema.String),
        payment_type: optional(Schema.String),
        product_code: optional(Schema.String),
        line_items: optional(
          Schema.Array(
            Schema.Struct({
              rate_band: optional(Schema.String),
              start_date: Day,
              end_date: Day,
              number_of_units: Figure,
              net_amount: Figure,
              price_per_unit: optional(Figure),
              units: optional(Schema.Array(Figure))
            })
          )
        ),
        tax_items: optional(
          Schema.Array(
            Schema.Struct({
              amount: Figure,
              tax_type: Schema.String,
              value_taxed: Figure,
              rate: Figure,
              unit_type: Schema.Literals(["PROPORTION", "CURRENCY_PER_KWH"])
            })
          )
        )
      })
    })
  })
)

const lineItems = (sql: Sql): Statement.Fragment => sql`
  case when line_item_count is not null then (
    select coalesce(json_agg(json_build_object('rate_band', rate_band, 'start_date', start_date,
      'end_date', end_date, 'number_of_units', number_of_units::text,
      'net_amount', net_amount::text, 'price_per_unit', price_per_unit::text,
      'units', case when reading_at_start is not null
        then json_build_array(reading_at_start::text, reading_at_end::text) end
    ) order by position), '[]')
    from transaction_line_items item
    where item.account_id = held.account_id and transaction_sequence = held.sequence) end`

const taxItems = (sql: Sql): Statement.Fragment => sql`
  case when tax_item_count is not null then (
    select coalesce(json_agg(json_build_object('amount', amount::text, 'tax_type', tax_type,
      'value_taxed', value_taxed::text, 'rate', rate::text, 'unit_type', unit_type
    ) order by position), '[]')
    from transaction_tax_items item
    where item.account_id = held.account_id and transaction_sequence = held.sequence) end`

/** A source to read from: all transactions of the account. */
export const allTransactions = (sql: Sql, id: bigint) =>
  sql`(select * from transactions where account_id = ${id}) as held`

/**
 * The first transaction of each id. Each is looked up by itself, because a join would be planned on
 * statistics that know nothing of an account which has just been filled.
 */
export const firstTransactions = (sql: Sql, id: bigint, ids: ReadonlyArray<string>) => sql`
  unnest(${ids}::text[]) as named(value) cross join lateral (
    select * from transactions where account_id = ${id} and transaction_id = named.value
    order by occurrence limit 1) as held`

/** The transactions of the source, in the order in which they came onto the account. */
export const readTransactions = (sql: Sql, source: Statement.Fragment) =>
  Effect.map(
    transactionRows(sql`
      select json_build_object(
        'ledgerCode', (select ledger_code from ledgers where ledgers.account_id = held.account_id
          and ledgers.position = held.ledger_position),
        'movedFrom', moved_from_date,
        'transaction', json_strip_nulls(json_build_object('transaction_id', transaction_id,
          'transaction_date', transaction_date, 'amount', amount::text, 'type', type,
          'reason', reason, 'display_note', display_note, 'note', note, 'reference', reference,
          'payment_type', payment_type, 'product_code', product_code,
          'line_items', ${lineItems(sql)}, 'tax_items', ${taxItems(sql)}))) as row
      from ${source} order by sequence`),
    (rows) => rows.map(({ row }) => row)
  )

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

/** The notes with one of the bodies, and those without one if asked for. */
export const namedNotes = (
  sql: Sql,
  id: bigint,
  bodies: ReadonlyArray<string>,
  withoutBody: boolean
) => sql`
  (select * from notes where account_id = ${id} and case when body is null
    then ${withoutBody} else body in (select unnest(${bodies}::text[])) end) as held`

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
        gross_amount: optional(Figure),
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
