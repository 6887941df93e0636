/**
 * What lines of a batch do with imports, many in one statement: it stages those that were not
 * staged before, or attempts what is staged, and stores everything that single requests store for
 * it. The attempts have ended before, and hold no lease.
 */
import { DateTime, Effect, Result, Schema } from "effect"
import type { Statement } from "effect/sql"
import type { LineAttempt, LineImport } from "@data-import/domain/batches/Batches"
import {
  customerEmailEvent,
  type EventName,
  releaseCodes,
  releaseEvent
} from "@data-import/domain/events/Event"
import type { AttemptId } from "@data-import/domain/imports/ImportProcess"
import type { NewAccount } from "@data-import/domain/imports/ImportProcesses"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { accountInserts } from "../accounts/AccountInserts.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { isOngoing } from "../tables/SupplierStatus.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]

/** What counts of their batch: the cohort of imports without one, and its start. */
interface OfBatch {
  readonly cohort: string | null
  readonly since: DateTime.Utc | null
}

const stored = rowsOf(Schema.Struct({ item: Schema.Int }))

/** What is stored of an attempt. */
interface Ended {
  readonly newAccount: NewAccount | null
  readonly outcome: string
  readonly errors: ReadonlyArray<unknown>
  readonly event: EventName
  readonly codes: ReadonlyArray<string>
}

const created = {
  outcome: "created",
  errors: [],
  event: "data_import.import_process.complete-v1",
  codes: []
} as const

const endOf = ({ dryRun, judgement }: LineAttempt): Ended => {
  if (Result.isSuccess(judgement) && !dryRun) return { newAccount: judgement.success, ...created }
  const outcome = Result.isSuccess(judgement) ? "dry_run_successful" : judgement.failure.code
  const errors = Result.isSuccess(judgement) ? [] : judgement.failure.errors
  const event = releaseEvent(dryRun, outcome === "dry_run_successful")
  return { newAccount: null, outcome, errors, event, codes: releaseCodes(outcome, errors) }
}

/** An import with its place among the accounts that are created; null if it creates none. */
interface Item {
  readonly made: LineImport
  readonly end: Ended | null
  readonly place: number | null
}

const itemsOf = (imports: ReadonlyArray<LineImport>): ReadonlyArray<Item> => {
  let places = 0
  return imports.map((made) => {
    const end = made.attempt && endOf(made.attempt)
    return { made, end, place: end?.newAccount ? places++ : null }
  })
}

const sent = (sql: Sql, items: ReadonlyArray<Item>) =>
  recordSet(sql, "sent", items, {
    item: ["integer", (_, index) => index],
    place: ["integer", ({ place }) => place],
    supplier: ["text", ({ made }) => made.key.import_supplier],
    external_account_number: ["text", ({ made }) => made.key.external_account_number],
    payload: ["text", ({ made }) => made.staging?.payload ?? null],
    hash: ["text", ({ made }) => made.hash],
    cohort: ["text", ({ made }) => made.staging?.cohort ?? null],
    at: ["timestamptz", ({ made }) => DateTime.toDateUtc(made.at)],
    attempt: ["text", ({ made }) => made.attempt?.id ?? null],
    dry_run: ["boolean", ({ made }) => made.attempt?.dryRun ?? null],
    started_at: [
      "timestamptz",
      ({ made: { attempt } }) => attempt && DateTime.toDateUtc(attempt.startedAt)
    ],
    judged_by: ["text", ({ made }) => made.attempt?.judgedBy ?? null],
    outcome: ["text", ({ end }) => end && end.outcome],
    errors: ["text", ({ end }) => end && JSON.stringify(end.errors)],
    event: ["text", ({ end }) => end && end.event],
    codes: ["text", ({ end }) => end && end.codes.join(" ")],
    account_number: ["text", ({ end }) => end?.newAccount?.number ?? null],
    customer_emails: ["boolean", ({ end }) => end?.newAccount?.customerEmails ?? false]
  })

/** The imports that are staged now. Those that exist are left out. */
const staging = (sql: Sql, cohort: string | null) => sql`
  changed as (
    insert into import_processes (supplier, external_account_number, payload, payload_bytes,
      payload_hash, cohort, staged_at, account_id, account_number, account_created_at)
    select supplier, external_account_number, payload::json, octet_length(payload),
      decode(hash, 'hex'), coalesce(cohort, ${cohort}::text), at, account_id, account_number,
      case when account_number is not null then at end
    from sent where ${isOngoing(sql, "supplier")}
    order by supplier, external_account_number
    on conflict on constraint import_processes_pair_once do nothing
    returning id, supplier, external_account_number, payload as staged,
      payload_bytes as staged_bytes
  )`

/**
 * The imports that are attempted. Those are left out that others have locked, or that are not as
 * they were judged. A dry run changes none.
 */
const attempting = (sql: Sql, since: DateTime.Utc | null, isDryRun: boolean) => {
  const free = sql`
    select item, present.* from sent, lateral (
      select id, supplier, external_account_number, payload as staged,
        payload_bytes as staged_bytes
      from import_processes as present
      where present.supplier = sent.supplier
        and present.external_account_number = sent.external_account_number
        and present.account_number is null and not present.skipped
        and present.lease_attempt is null and present.payload_hash = decode(hash, 'hex')
        and (present.reverted_at >= ${since && DateTime.toDateUtc(since)}) is not true
        and ${isOngoing(sql, "sent.supplier")}
      for no key update skip locked
    ) as present`
  if (isDryRun) return sql`changed as (${free})`
  return sql`
    free as (${free}),
    changed as (
      update import_processes as present
      set account_id = sent.account_id, account_number = sent.account_number,
        account_created_at = case when sent.account_number is not null then at end,
        failed_staging = case when sent.account_number is null then stagings end
      from free join sent using (item)
      where present.id = free.id
      returning present.id, present.supplier, present.external_account_number, staged, staged_bytes
    )`
}

/** What entries and events need of `written`, without its payload. */
const named = "import_id, item, at, supplier, external_account_number, account_number"

/** The events of the accounts whose customers are to get an e-mail. They are not audited. */
const emailsOf = (sql: Sql, accounts: ReadonlyArray<NewAccount>): Statement.Fragment =>
  accounts.some(({ customerEmails }) => customerEmails)
    ? sql`
      union all
      select 2, null, null, ${customerEmailEvent}, '', ${sql.literal(named)}
      from written where customer_emails`
    : sql``

function* accountsOf(sql: Sql, accounts: ReadonlyArray<NewAccount>) {
  if (accounts.length === 0) return sql``
  return sql`,
    target as (
      select place, import_id, account_id as id, staged, staged_bytes, at as recorded_at,
        0 as transactions, 0 as notes, 0 as statements
      from written join changed on changed.id = import_id
      where place is not null
    ),
    ${sql.csv(yield* accountInserts(sql, accounts))}`
}

/** What single requests would record. */
const records = (
  sql: Sql,
  accounts: ReadonlyArray<NewAccount>,
  { apiKey, organisation, requestId }: Caller
) => sql`,
    attempts as (
      insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome, errors,
        payload_hash, judged_by)
      select import_id, attempt, dry_run, started_at, at, outcome, errors::jsonb,
        decode(hash, 'hex'), judged_by
      from written where attempt is not null
      order by item
    ),
    steps as (
      select 0 as step, 'stage' as action, 'created' as result,
        'data_import.import_process.staged-v1' as name, '' as event_codes, ${sql.literal(named)}
      from written where payload is not null
      union all
      select 1, 'process', outcome, event, codes, ${sql.literal(named)}
      from written where attempt is not null
      ${emailsOf(sql, accounts)}
    ),
    events as (
      insert into outbox (at, name, import_id, account_number, codes)
      select at, name, import_id, case when step > 0 then account_number end,
        string_to_array(event_codes, ' ')
      from steps order by item, step
    ),
    audit as (
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select at, ${organisation}, ${apiKey}, ${requestId}, action, result, supplier,
        external_account_number
      from steps where action is not null order by supplier, external_account_number, step
    )`

/** Without a caller nothing is recorded. */
function* statement(
  sql: Sql,
  imports: ReadonlyArray<LineImport>,
  { cohort, since }: OfBatch,
  caller: Caller | null
): Steps<Statement.Statement<unknown>> {
  const items = itemsOf(imports)
  const accounts = items.flatMap(({ end }) => end?.newAccount ?? [])
  const [first] = imports
  const changed = first?.staging
    ? staging(sql, cohort)
    : attempting(sql, since, first?.attempt?.dryRun === true)
  return sql`
    with sent as (
      select *, case when account_number is not null then nextval('accounts_id_seq') end
        as account_id
      from ${sent(sql, items)}
    ),
    ${changed},
    written as (
      select changed.id as import_id, sent.*
      from changed join sent using (supplier, external_account_number)
    )
    ${yield* accountsOf(sql, accounts)}
    ${caller === null ? sql`` : records(sql, accounts, caller)}
    select item from written`
}

const storeAll = <Made extends LineImport>(
  sql: Sql,
  imports: ReadonlyArray<Made>,
  batch: OfBatch,
  caller: Caller | null
) =>
  inTimeSlices(() => statement(sql, imports, batch, caller)).pipe(
    Effect.flatMap(stored),
    Effect.map((rows) => {
      const found = new Set(rows.map(({ item }) => item))
      return imports.filter((_, item) => found.has(item))
    })
  )

/**
 * Creates the accounts of dry runs and rolls that back. Returns the attempts that could. They are
 * recorded afterwards.
 */
const rehearse = Effect.fnUntraced(function* (
  sql: Sql,
  imports: ReadonlyArray<LineImport>,
  batch: OfBatch
) {
  const real = imports.flatMap(({ attempt, ...made }) =>
    attempt?.dryRun === true && Result.isSuccess(attempt.judgement)
      ? [{ ...made, attempt: { ...attempt, dryRun: false } }]
      : []
  )
  if (real.length === 0) return new Set<AttemptId>()
  yield* sql`savepoint rehearsal`
  const created = yield* storeAll(sql, real, batch, null)
  yield* sql`rollback to savepoint rehearsal`
  return new Set(created.map(({ attempt }) => attempt.id))
})

/**
 * Stores them in a transaction, and returns those that were stored. The others are not as they were
 * when they were prepared, or their supplier is not Ongoing.
 */
export const store = Effect.fnUntraced(function* <Made extends LineImport>(
  sql: Sql,
  imports: ReadonlyArray<Made>,
  batch: OfBatch,
  caller: Caller
) {
  const rehearsed = yield* rehearse(sql, imports, batch)
  const due = imports.filter(
    ({ attempt }) =>
      attempt === null ||
      !attempt.dryRun ||
      Result.isFailure(attempt.judgement) ||
      rehearsed.has(attempt.id)
  )
  return due.length === 0 ? [] : yield* storeAll(sql, due, batch, caller)
})
