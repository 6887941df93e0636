/**
 * Lets clients read accounts back as they were sent. Most optional fields have a default that is
 * stored; `omitted` has the names of those that the payload left out, null if there are none.
 * `payload_notes` counts the notes of the payload, because later notes are in the same table.
 * Accounts of earlier releases have neither: their defaults are shown, and all notes are the
 * payload's. Reads are in the audit log.
 *
 * Can be undone: no, what a payload left out and who read it would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accountReads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table accounts add column omitted text[], add column payload_notes integer`
  yield* sql`alter table customers add column omitted text[]`
  yield* sql`alter table billing_addresses add column omitted text[]`
  yield* sql`alter table billing_options add column omitted text[]`
  yield* sql`alter table ledgers add column omitted text[]`
  yield* sql`alter table notes add column omitted text[]`
  yield* allowReads
  yield* sql`alter table api_keys drop constraint api_keys_scopes_known`
  yield* sql`
    alter table api_keys add constraint api_keys_scopes_known
    check (scopes <@ array['import:read', 'import:write', 'account:read']) not valid`
})

/** The query service reads accounts, and nothing of what is staged. */
const allowReads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select on accounts, account_metadata, customers, billing_addresses, billing_options,
      supply_addresses, ledgers, transactions, transaction_line_items, transaction_tax_items, notes,
      note_documents, statements, payment_instructions
    to data_import_query`
  yield* sql`grant insert on audit_log to data_import_query`
})
