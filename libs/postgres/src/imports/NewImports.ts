/**
 * Stores imports that were not staged before, many in one statement: with the account of each that
 * is created immediately, and with everything that single requests store for a staging and an
 * attempt.
 */
import { DateTime, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { customerEmailEvent } from "@data-import/domain/events/Event"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import type { NewImport } from "@data-import/domain/batches/Batches"
import type { NewAccount } from "@data-import/domain/imports/ImportProcesses"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { accountInserts } from "../accounts/AccountInserts.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { isOngoing } from "../tables/SupplierStatus.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]

const stored = rowsOf(Schema.Struct({ place: Schema.Int }))

const sent = (sql: Sql, imports: ReadonlyArray<NewImport>) =>
  recordSet(sql, "sent", imports, {
    place: ["integer", (_, index) => index],
    supplier: ["text", ({ key }) => key.import_supplier],
    external_account_number: ["text", ({ key }) => key.external_account_number],
    payload: ["text", ({ payload }) => payload],
    hash: ["text", ({ hash }) => hash],
    cohort: ["text", ({ cohort }) => cohort],
    at: ["timestamptz", ({ at }) => DateTime.toDateUtc(at)],
    attempt: ["text", ({ creation }) => creation?.attempt ?? null],
    judged_by: ["text", ({ creation }) => creation?.judgedBy ?? null],
    account_number: ["text", ({ creation }) => creation?.newAccount.number ?? null],
    customer_emails: ["boolean", ({ creation }) => creation?.newAccount.customerEmails ?? false]
  })

/** Accounts are in `target` by the places of their imports, which all have one or none has. */
const accountsOf = (imports: ReadonlyArray<NewImport>) =>
  imports.flatMap(({ creation }) => (creation === null ? [] : [creation.newAccount]))

/** What entries and events need of `target`, without its payload. */
const named = "import_id, place, at, supplier, external_account_number"

/** The events of the accounts whose customers are to get an e-mail. They are not audited. */
const emailsOf = (sql: Sql, created: ReadonlyArray<NewAccount>): Statement.Fragment =>
  created.some(({ customerEmails }) => customerEmails)
    ? sql`
      union all
      select 2, null, ${customerEmailEvent}, ${sql.literal(named)}
      from target where customer_emails`
    : sql``

function* statement(
  sql: Sql,
  imports: ReadonlyArray<NewImport>,
  cohort: string | null,
  { apiKey, organisation, requestId }: Caller
): Steps<Statement.Statement<unknown>> {
  const created = accountsOf(imports)
  const accounts = created.length > 0 ? yield* accountInserts(sql, created) : []
  return sql`
    with sent as (
      select *, case when account_number is not null then nextval('accounts_id_seq') end
        as account_id
      from ${sent(sql, imports)}
    ),
    changed as (
      insert into import_processes (supplier, external_account_number, payload, payload_bytes,
        payload_hash, cohort, staged_at, account_id, account_number, account_created_at)
      select supplier, external_account_number, payload::json, octet_length(payload),
        decode(hash, 'hex'), coalesce(cohort, ${cohort}::text), at, account_id,
        account_number,
        case when account_number is not null then at end
      from sent where ${isOngoing(sql, "supplier")}
      order by supplier, external_account_number
      on conflict on constraint import_processes_pair_once do nothing
      returning id, supplier, external_account_number, payload as staged,
        payload_bytes as staged_bytes
    ),
    target as (
      select changed.id as import_id, account_id as id, staged, staged_bytes, sent.*,
        at as recorded_at,
        0 as transactions, 0 as notes, 0 as statements
      from changed join sent using (supplier, external_account_number)
    ),
    attempts as (
      insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome,
        payload_hash, judged_by)
      select import_id, attempt, false, at, at, 'created', decode(hash, 'hex'), judged_by
      from target where attempt is not null
      order by place
    )
    ${accounts.length > 0 ? sql`, ${sql.csv(accounts)}` : sql``},
    steps as (
      select 0 as step, 'stage' as action, 'data_import.import_process.staged-v1' as event,
        ${sql.literal(named)}
      from target
      union all
      select 1, 'process', 'data_import.import_process.complete-v1', ${sql.literal(named)}
      from target where attempt is not null
      ${emailsOf(sql, created)}
    ),
    events as (
      insert into outbox (at, name, import_id)
      select at, event, import_id from steps order by place, step
    ),
    audit as (
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select at, ${organisation}, ${apiKey}, ${requestId}, action, 'created', supplier,
        external_account_number
      from steps where action is not null order by supplier, external_account_number, step
    )
    select place from target`
}

/**
 * The places of the imports that were stored. The others exist already, or their supplier is not
 * Ongoing. In a transaction.
 */
export const store = (
  sql: Sql,
  imports: ReadonlyArray<NewImport>,
  cohort: string | null,
  caller: Caller
) =>
  inTimeSlices(() => statement(sql, imports, cohort, caller)).pipe(
    Effect.flatMap(stored),
    Effect.map((rows) => new Set(rows.map(({ place }) => place)))
  )
