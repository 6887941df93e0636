/**
 * Staging: stores the payload of an import, or replaces it while the import is pending. Concurrent
 * stagings are stored in batches, each by one statement.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { isFree, keyText, PayloadHash, stateSince } from "@data-import/domain/imports/ImportProcess"
import { ReservationLost } from "@data-import/domain/idempotency/IdempotencyKeys"
import type { ImportProcesses, Staging, Stored } from "@data-import/domain/imports/ImportProcesses"
import { finish } from "@data-import/domain/support/Steps"
import { type Database, rowsOf } from "../connection/Database.ts"
import { brokenOff, readImport } from "../tables/ImportRow.ts"
import { byPosition, position, recordSet } from "../tables/RecordSet.ts"
import {
  keepInTransaction,
  answerClauses,
  type BatchAnswers
} from "../idempotency/StoredAnswers.ts"
import type { KeyedMutex } from "../connection/KeyedMutex.ts"
import { contended, isContended } from "../connection/SqlFailure.ts"
import { isOngoing, notOngoing } from "../tables/SupplierStatus.ts"

type Command = Parameters<ImportProcesses["Service"]["stage"]>[0]

/** A row for each stored command; `stagings` is null if its reservation is lost. */
const rows = rowsOf(Schema.Struct({ position: Schema.BigInt, stagings: Schema.NullOr(Schema.Int) }))

const storedAs = (stagings: number): Stored => ({ _tag: stagings === 1 ? "Created" : "Replaced" })

/** The responses to keep, of a first staging and of a later one. */
const keptAnswers = ({ at, recorder }: Command): BatchAnswers | null => {
  if (!recorder) return null
  const textOf = (stagings: number) => finish(recorder.textOf(storedAs(stagings)))
  return { reservation: recorder.reservation, at, first: textOf(1), later: textOf(2) }
}

const sent = ({ sql }: Database["Service"], commands: ReadonlyArray<Command>) =>
  recordSet(sql, "command", commands, {
    supplier: ["text", ({ key }) => key.import_supplier],
    external_account_number: ["text", ({ key }) => key.external_account_number],
    payload: ["text", ({ payload }) => payload],
    create_only: ["boolean", ({ createOnly }) => createOnly ?? false],
    hash: ["text", ({ hash }) => hash],
    cohort: ["text", ({ cohort }) => cohort ?? null],
    at: ["timestamptz", ({ at }) => DateTime.toDateUtc(at)],
    since: ["timestamptz", ({ since }) => (since ? DateTime.toDateUtc(since) : null)],
    organisation: ["text", ({ caller }) => caller.organisation],
    api_key: ["text", ({ caller }) => caller.apiKey],
    request_id: ["text", ({ caller }) => caller.requestId],
    position
  })

/** A further condition of a replacement. Only `excluded` has the key to find its command by. */
const replacing = ({ sql }: Database["Service"], commands: ReadonlyArray<Command>) =>
  commands.some(({ createOnly, since }) => createOnly === true || since)
    ? sql`and not exists (
          select from sent
          where (sent.create_only or present.reverted_at >= sent.since)
            and sent.supplier = excluded.supplier
            and sent.external_account_number = excluded.external_account_number)`
    : sql``

/**
 * Stores the imports with their audit entries and events in one statement. It returns no row for a
 * command whose import may not be staged or is locked by another transaction, or whose supplier is
 * not Ongoing. It never waits for such a lock. Even `on conflict do nothing` would wait, so
 * existing imports are locked first with `skip locked`, and those that others hold are left out.
 * Rows are stored in the order of their keys, so that two batches never deadlock.
 */
const store = (database: Database["Service"], commands: ReadonlyArray<Command>) => {
  const keeping = answerClauses(database.sql, commands.map(keptAnswers))
  return rows(database.sql`
    with sent as (select * from ${sent(database, commands)}),
    ${keeping.before}
    locked as (
      select position from sent, lateral (
        select from import_processes present
        where present.supplier = sent.supplier
          and present.external_account_number = sent.external_account_number
        for no key update skip locked
      ) as present
    ),
    held_by_others as (
      select position from sent, lateral (
        select from import_processes present
        where present.supplier = sent.supplier
          and present.external_account_number = sent.external_account_number
        offset 0
      ) as present
      where position not in (select position from locked)
    ),
    changed as (
      insert into import_processes as present
        (supplier, external_account_number, payload, payload_bytes, payload_hash, cohort, staged_at)
      select supplier, external_account_number, payload::json, octet_length(payload),
        decode(hash, 'hex'), cohort, at
      from sent
      where position not in (select position from held_by_others)
        and ${isOngoing(database.sql, "supplier")} ${keeping.guard}
      order by supplier, external_account_number
      on conflict on constraint import_processes_pair_once do update
      set payload = excluded.payload, payload_bytes = excluded.payload_bytes,
        payload_hash = excluded.payload_hash, cohort = coalesce(excluded.cohort, present.cohort),
        staged_at = excluded.staged_at, stagings = present.stagings + 1,
        lease_attempt = null, lease_expires_at = null, lease_dry_run = false,
        failed_staging = case
          when present.failed_staging is not null or ${brokenOff(database.sql)} then 0 end
      where present.account_number is null and not present.skipped
        and (present.lease_attempt is null or present.lease_expires_at <= excluded.staged_at)
        ${replacing(database, commands)}
      returning id, stagings, supplier, external_account_number
    ),
    stored as (
      select sent.*, id, null::bigint as account_id, stagings, stagings as times
      from changed join sent using (supplier, external_account_number)
    ),
    expired as (
      update import_attempts set ended_at = at, outcome = 'lease_expired'
      from stored where import_id = stored.id and ended_at is null
    ),
    event as (
      insert into outbox (at, name, import_id)
      select at, 'data_import.import_process.staged-v1', id from stored order by position
    ),
    audit as (
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select at, organisation, api_key, request_id, 'stage',
        case stagings when 1 then 'created' else 'replaced' end,
        supplier, external_account_number
      from stored order by supplier, external_account_number
    )
    ${keeping.after}
    select position, stagings from stored ${keeping.lost}`)
}

type Outcome =
  | { readonly _tag: "Stored"; readonly stagings: number }
  | { readonly _tag: "NotStored" }
  | { readonly _tag: "ReservationLost" }

const notStored: Outcome = { _tag: "NotStored" }

const outcomeOf = (row: { readonly stagings: number | null } | undefined): Outcome => {
  if (row === undefined) return notStored
  const { stagings } = row
  return stagings === null ? { _tag: "ReservationLost" } : { _tag: "Stored", stagings }
}

/** The outcome of each command. */
const storeBatch = (database: Database["Service"]) => (commands: ReadonlyArray<Command>) =>
  store(database, commands).pipe(Effect.map((stored) => byPosition(commands, stored, outcomeOf)))

/** Two concurrent batches keep the disk busy. Larger batches are faster than a third slot. */
const limits = { slots: 2, commands: 64, weight: 1024 * 1024 }

const stagingOf = (outcome: Exclude<Outcome, { readonly _tag: "NotStored" }>) =>
  outcome._tag === "Stored"
    ? Effect.succeed(storedAs(outcome.stagings))
    : Effect.fail(new ReservationLost())

const presentRows = rowsOf(Schema.Struct({ hash: PayloadHash }))

/**
 * Returns the import that is already staged, unchanged, and frees the request's idempotency key.
 */
const present = Effect.fnUntraced(function* (
  { sql }: Database["Service"],
  { at, recorder = null, key }: Command
) {
  const [row] = yield* presentRows(sql`
    select encode(payload_hash, 'hex') as hash from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}`)
  if (row === undefined) return yield* contended
  yield* keepInTransaction(sql, recorder, null, at)
  return { _tag: "Present", ...row } satisfies Staging
})

/**
 * Stages, by separate statements, what a batch did not store: the import may not be staged, or it
 * was locked or changed concurrently.
 */
const stageAlone = Effect.fnUntraced(function* (database: Database["Service"], command: Command) {
  const refused = yield* notOngoing(database.sql, command.key.import_supplier)
  if (refused !== null) return refused
  const process = yield* readImport(database, command.key)
  const { at, since = null } = command
  const found = Option.map(process, (present) => stateSince(present, at, since))
  if (Option.isSome(found) && !isFree(found.value)) {
    return { _tag: "Refused", found: found.value } satisfies Staging
  }
  if (command.createOnly === true && Option.isSome(process))
    return yield* present(database, command)
  const [outcome = notStored] = yield* storeBatch(database)([command])
  return outcome._tag === "NotStored" ? yield* contended : yield* stagingOf(outcome)
})

export const makeStage = (database: Database["Service"], mutex: KeyedMutex) => {
  const stored = database.batched({
    identity: ({ key }: Command) => keyText(key),
    weight: ({ payload }) => payload.length,
    run: storeBatch(database),
    limits
  })
  return Effect.fnUntraced(function* (command: Command) {
    const gaveWay = () => Effect.succeed(notStored)
    const outcome = yield* Effect.catchIf(stored(command), isContended, gaveWay)
    return outcome._tag === "NotStored"
      ? yield* mutex(command.key, database.run(stageAlone(database, command)))
      : yield* stagingOf(outcome)
  })
}
