/**
 * Everything stored of the imports of a supplier, read without the services: the account, the
 * attempts, the outbox and the audit log.
 */
import { type Effect, Schema } from "effect"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { type Database, rowsOf } from "@data-import/postgres/connection/Database"

const Texts = Schema.Array(Schema.String)

const Stored = Schema.Struct({
  number: Schema.String,
  /** Of the payload that is staged. */
  marker: Schema.NullOr(Schema.String),
  account: Schema.NullOr(Schema.String),
  /** The number of the account that has this import's id. */
  platform_account: Schema.NullOr(Schema.String),
  platform_marker: Schema.NullOr(Schema.String),
  /** Names and numbers of the rows of the account's own parts. */
  parts: Schema.String,
  notes: Texts,
  transactions: Texts,
  statements: Texts,
  instructions: Texts,
  /** The difference of the balance from the transfer balance plus the additions. */
  drift: Schema.NullOr(Schema.String),
  stagings: Schema.Int,
  staged_events: Schema.Int,
  staged_audits: Schema.Int,
  complete_events: Schema.Int,
  created_attempts: Schema.Int,
  created_audits: Schema.Int,
  /** Attempts without an end that do not hold the lease of the import. */
  open_attempts: Schema.Int,
  added_events: Schema.Int,
  added_audits: Schema.Int
})
export type Stored = typeof Stored.Type

const rows = rowsOf(Stored)

type Sql = Database["Service"]["sql"]

/** Whether the payload is the staged one, and its rows; what was added afterwards has items too. */
const parts = (sql: Sql) => sql`
  concat_ws(' ',
    'payload', (account.payload::text is not distinct from import.payload::text)::integer,
    'ledgers', (select count(*) from ledgers where account_id = account.id),
    'transactions', (select count(*) from transactions
      where account_id = account.id and origin <> 'post_import'),
    'line_items', (select count(*) from transaction_line_items where account_id = account.id),
    'tax_items', (select count(*) from transaction_tax_items where account_id = account.id),
    'notes', (select count(*) from notes
      where account_id = account.id and body not like 'The % note on %'),
    'documents', (select count(*) from note_documents where account_id = account.id),
    'statements', (select count(*) from statements
      where account_id = account.id and origin = 'account_payload'))`

const added = (sql: Sql) => sql`
  array(select body from notes
    where account_id = account.id and body like 'The % note on %' order by sequence) as notes,
  array(select transaction_id from transactions
    where account_id = account.id and origin = 'post_import' order by sequence) as transactions,
  array(select statement_id from statements where account_id = account.id
    and origin = 'historical_statements' order by sequence) as statements,
  array(select reference from payment_instructions
    where account_id = account.id order by sequence) as instructions,
  (account.balance - account.transfer_balance - coalesce((select sum(effect_on_balance)
    from transactions where account_id = account.id and origin = 'post_import'), 0))::text as drift`

const history = (sql: Sql) => sql`
  (select count(*)::int from outbox where import_id = import.id
    and name = 'data_import.import_process.staged-v1') as staged_events,
  (select count(*)::int from outbox where import_id = import.id
    and name = 'data_import.import_process.complete-v1') as complete_events,
  (select count(*)::int from outbox where import_id = import.id
    and name = 'data_import.import_process.post_import.completed-v1') as added_events,
  (select count(*)::int from import_attempts
    where import_id = import.id and outcome = 'created') as created_attempts,
  (select count(*)::int from import_attempts where import_id = import.id
    and ended_at is null and import.lease_attempt is distinct from id) as open_attempts,
  coalesce(audits.staged, 0)::int as staged_audits,
  coalesce(audits.created, 0)::int as created_audits,
  coalesce(audits.added, 0)::int as added_audits`

/** Every import of the supplier, in no particular order. */
export const storedOf = (
  { run, sql }: Database["Service"],
  supplier: string
): Effect.Effect<ReadonlyArray<Stored>, StorageUnavailable> =>
  run(
    rows(sql`
      with audits as (
        select external_account_number,
          count(*) filter (where action = 'stage' and outcome in ('created', 'replaced')) as staged,
          count(*) filter (where action = 'process' and outcome = 'created') as created,
          count(*) filter (where action like 'create%' and outcome = 'created') as added
        from audit_log where import_supplier = ${supplier} group by external_account_number
      )
      select import.external_account_number as number,
        import.payload->>'billing_customer_reference' as marker,
        import.account_number as account,
        account.number as platform_account,
        account.payload->>'billing_customer_reference' as platform_marker,
        import.stagings,
        ${parts(sql)} as parts,
        ${added(sql)},
        ${history(sql)}
      from import_processes import
        left join accounts account on account.id = import.account_id
        left join audits using (external_account_number)
      where import.supplier = ${supplier}`)
  )
