/**
 * What an import and later requests alike bring onto an account, as parts of the statement that
 * stores it. The statement has a common table expression `target` with the `id` of the account and
 * the numbers at which its transactions, notes and statements go on; where it has no row, nothing
 * is stored.
 */
import type { Statement } from "effect/sql"
import type { Database } from "../connection/Database.ts"
import { documentDigest } from "./NoteLookup.ts"

type Sql = Database["Service"]["sql"]

/** The lists of rows, each as one JSON text. */
export interface ItemTexts {
  readonly transactions: string
  readonly lineItems: string
  readonly taxItems: string
  readonly notes: string
  readonly noteDocuments: string
  readonly statements: string
}

/** `occurrence` counts the transactions of one id on the account, from 1. */
export const transactionInserts = (
  sql: Sql,
  rows: ItemTexts,
  recordedAt: Date,
  occurrence: Statement.Fragment
): Statement.Fragment => sql`
  new_transactions as (
    insert into transactions (account_id, sequence, occurrence, recorded_at, ledger_position,
      origin, transaction_id, transaction_date, moved_from_date, amount, type, reason,
      display_note, note, reference, payment_type, product_code, line_item_count,
      tax_item_count)
    select target.id, target.transactions + sequence, ${occurrence}, ${recordedAt},
      ledger_position, origin, transaction_id, transaction_date, moved_from_date, amount, type,
      reason, display_note, note, reference, payment_type, product_code, line_item_count,
      tax_item_count
    from target, json_to_recordset(${rows.transactions}::json) as sent(
      sequence integer, ledger_position integer, origin text, transaction_id text,
      transaction_date date, moved_from_date date, amount numeric, type text, reason text,
      display_note text, note text, reference text, payment_type text, product_code text,
      line_item_count integer, tax_item_count integer)
  ),
  new_line_items as (
    insert into transaction_line_items (account_id, transaction_sequence, position, start_date,
      end_date, rate_band, number_of_units, price_per_unit, net_amount, reading_at_start,
      reading_at_end)
    select target.id, target.transactions + transaction_sequence, position, start_date, end_date,
      rate_band, number_of_units, price_per_unit, net_amount, reading_at_start, reading_at_end
    from target, json_to_recordset(${rows.lineItems}::json) as sent(
      transaction_sequence integer, position integer, start_date date, end_date date,
      rate_band text, number_of_units numeric, price_per_unit numeric, net_amount numeric,
      reading_at_start numeric, reading_at_end numeric)
  ),
  new_tax_items as (
    insert into transaction_tax_items (account_id, transaction_sequence, position, amount,
      tax_type, value_taxed, rate, unit_type)
    select target.id, target.transactions + transaction_sequence, position, amount, tax_type,
      value_taxed, rate, unit_type
    from target, json_to_recordset(${rows.taxItems}::json) as sent(
      transaction_sequence integer, position integer, amount numeric, tax_type text,
      value_taxed numeric, rate numeric, unit_type text)
  )`

/** `origin` is where the statements come from. */
export const noteAndStatementInserts = (
  sql: Sql,
  rows: ItemTexts,
  recordedAt: Date,
  origin: "account_payload" | "historical_statements"
): Statement.Fragment => sql`
  new_notes as (
    insert into notes (account_id, sequence, body, created_at, is_pinned, unpin_at,
      document_digest)
    select target.id, target.notes + sequence, body, created_at, is_pinned, unpin_at,
      ${sql.literal(documentDigest)}
    from target, json_to_recordset(${rows.notes}::json) as sent(
      sequence integer, body text, created_at timestamptz, is_pinned boolean,
      unpin_at timestamptz, documents text)
  ),
  new_note_documents as (
    insert into note_documents (account_id, note_sequence, position, document_path,
      document_size, document_etag, document_checksum)
    select target.id, target.notes + note_sequence, position, document_path, document_size,
      document_etag, document_checksum
    from target, json_to_recordset(${rows.noteDocuments}::json) as sent(
      note_sequence integer, position integer, document_path text, document_size bigint,
      document_etag text, document_checksum text)
  ),
  new_statements as (
    insert into statements (account_id, sequence, origin, recorded_at, statement_id,
      bill_period_from_date, bill_period_to_date, issued_date, number, gross_amount,
      statement_path, document_size, document_etag, document_checksum)
    select target.id, target.statements + sequence, ${origin}, ${recordedAt}, statement_id,
      bill_period_from_date, bill_period_to_date, issued_date, number, gross_amount,
      statement_path, document_size, document_etag, document_checksum
    from target, json_to_recordset(${rows.statements}::json) as sent(
      sequence integer, statement_id text, bill_period_from_date date,
      bill_period_to_date date, issued_date date, number text, gross_amount numeric,
      statement_path text, document_size bigint, document_etag text, document_checksum text)
  )`
