/**
 * Claims: an attempt takes the lease of an import, exclusively and within the limits. Without a
 * limit, concurrent claims are one statement. With one, the live leases are counted under a lock
 * that every claim under the same limit takes, so the count is exact over any number of instances.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { isFree, keyText, stateSince } from "@data-import/domain/imports/ImportProcess"
import { smallBytes } from "@data-import/domain/requests/WorkBudget"
import type { Claim, ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { type Database, rowsOf } from "../connection/Database.ts"
import type { KeyedMutex } from "../connection/KeyedMutex.ts"
import { brokenOff, readImport } from "../tables/ImportRow.ts"
import { byPosition, position, recordSet } from "../tables/RecordSet.ts"
import { contended, isContended } from "../connection/SqlFailure.ts"
import { isOngoing, notOngoing } from "../tables/SupplierStatus.ts"

type Command = Parameters<ImportProcesses["Service"]["claim"]>[0]

const claimedRows = rowsOf(
  Schema.Struct({
    position: Schema.BigInt,
    payload: Schema.NullOr(Schema.String),
    bytes: Schema.Int
  })
)
const payloadRows = rowsOf(Schema.Struct({ payload: Schema.String }))
const countRows = rowsOf(
  Schema.Struct({ in_deployment: Schema.BigInt, of_supplier: Schema.BigInt })
)

const sent = ({ sql }: Database["Service"], commands: ReadonlyArray<Command>) =>
  recordSet(sql, "command", commands, {
    position,
    supplier: ["text", ({ key }) => key.import_supplier],
    external_account_number: ["text", ({ key }) => key.external_account_number],
    attempt: ["text", ({ attempt }) => attempt],
    dry_run: ["boolean", ({ dryRun }) => dryRun],
    judged_by: ["text", ({ judgedBy = null }) => judgedBy],
    since: ["timestamptz", ({ since }) => (since ? DateTime.toDateUtc(since) : null)],
    at: ["timestamptz", ({ at }) => DateTime.toDateUtc(at)],
    expires_at: [
      "timestamptz",
      ({ at, lease }) => DateTime.toDateUtc(DateTime.addDuration(at, lease))
    ]
  })

/**
 * Inserts the leases and their attempts in one statement. It returns no row for a command if the
 * state of the import or its supplier does not allow it, or another transaction has locked it.
 */
const claimAll = (database: Database["Service"], commands: ReadonlyArray<Command>) =>
  claimedRows(database.sql`
    with sent as (select * from ${sent(database, commands)}),
    free as (
      select sent.*, present.id from sent, lateral (
        select id from import_processes as present
        where present.supplier = sent.supplier
          and present.external_account_number = sent.external_account_number
          and present.account_number is null and not present.skipped
          and (present.lease_attempt is null or present.lease_expires_at <= sent.at)
          and (present.reverted_at >= since) is not true
          and ${isOngoing(database.sql, "sent.supplier")}
        for no key update skip locked
      ) as present
    ),
    changed as (
      update import_processes as present
      set lease_attempt = attempt, lease_expires_at = expires_at, lease_dry_run = dry_run,
        failed_staging = case when ${brokenOff(database.sql)} then stagings else failed_staging end
      from free where present.id = free.id
      returning position, at, attempt, dry_run, judged_by, present.id, payload, payload_bytes,
        payload_hash
    ),
    expired as (
      update import_attempts set ended_at = at, outcome = 'lease_expired'
      from changed where import_id = changed.id and ended_at is null
    ),
    started as (
      insert into import_attempts (import_id, id, dry_run, started_at, payload_hash, judged_by)
      select id, attempt, dry_run, at, payload_hash, judged_by from changed order by position
    )
    select position, case when payload_bytes <= ${smallBytes} then payload::text end as payload,
      payload_bytes as bytes
    from changed`).pipe(
    Effect.map((rows) =>
      byPosition(commands, rows, (row): Claim | null => {
        if (row === undefined) return null
        const { bytes, payload } = row
        return { _tag: "Claimed", payload: payload ?? { bytes } }
      })
    )
  )

/** A separate read, because a large text is read only after its permits are acquired. */
export const stagedPayload = (
  { sql }: Database["Service"],
  { attempt: id, key }: Parameters<ImportProcesses["Service"]["stagedPayload"]>[0]
) =>
  payloadRows(sql`
    select payload::text as payload from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number} and lease_attempt = ${id}`).pipe(
    Effect.map((rows) => Option.map(Option.fromNullishOr(rows[0]), ({ payload }) => payload))
  )

const claimFreely = Effect.fnUntraced(function* (database: Database["Service"], command: Command) {
  const [claimed] = yield* claimAll(database, [command])
  if (claimed) return claimed
  const refused = yield* notOngoing(database.sql, command.key.import_supplier)
  if (refused !== null) return refused
  const process = yield* readImport(database, command.key)
  if (Option.isNone(process)) return { _tag: "Refused", found: null } satisfies Claim
  const found = stateSince(process.value, command.at, command.since ?? null)
  return isFree(found) ? yield* contended : ({ _tag: "Refused", found } satisfies Claim)
})

/** Takes the locks in a fixed order, so two claims never deadlock. */
const lockLimits = ({ sql }: Database["Service"], { key, limits }: Command) =>
  Effect.all([
    limits.deployment === null
      ? Effect.void
      : sql`select pg_advisory_xact_lock(hashtextextended('deployment', 0))`,
    limits.supplier === null
      ? Effect.void
      : sql`select pg_advisory_xact_lock(hashtextextended(${`supplier ${key.import_supplier}`}, 0))`
  ])

/** Counts open attempts that hold the lease of their import, until it expires. */
const liveLeases = ({ sql }: Database["Service"], { at, key }: Command) =>
  countRows(sql`
    select count(*) as in_deployment,
      count(*) filter (where supplier = ${key.import_supplier}) as of_supplier
    from import_attempts join import_processes
      on import_processes.id = import_id and lease_attempt = import_attempts.id
    where ended_at is null and lease_expires_at > ${DateTime.toDateUtc(at)}`)

const leaseRows = rowsOf(Schema.Struct({ held: Schema.Int, expired: Schema.Int }))

/** Counts open attempts that have the lease of their import, by whether it has expired. */
export const leases = ({ sql }: Database["Service"], at: DateTime.Utc) => {
  const isHeld = sql`lease_expires_at > ${DateTime.toDateUtc(at)}`
  return Effect.map(
    leaseRows(sql`
      select count(*) filter (where ${isHeld})::integer as held,
        count(*) filter (where not ${isHeld})::integer as expired
      from import_attempts join import_processes
        on import_processes.id = import_id and lease_attempt = import_attempts.id
      where ended_at is null`),
    ([row]) => row ?? { held: 0, expired: 0 }
  )
}

const claimWithinLimits = Effect.fnUntraced(function* (
  database: Database["Service"],
  command: Command
) {
  yield* lockLimits(database, command)
  const refused = yield* notOngoing(database.sql, command.key.import_supplier)
  if (refused !== null) return refused
  const process = yield* readImport(database, command.key, true)
  if (Option.isNone(process)) return { _tag: "Refused", found: null } satisfies Claim
  const found = stateSince(process.value, command.at, command.since ?? null)
  if (!isFree(found)) return { _tag: "Refused", found } satisfies Claim
  const [live = { in_deployment: 0n, of_supplier: 0n }] = yield* liveLeases(database, command)
  const { deployment, supplier } = command.limits
  const exceeded =
    (deployment !== null && live.in_deployment >= deployment) ||
    (supplier !== null && live.of_supplier >= supplier)
  if (exceeded) return { _tag: "LimitExceeded" } satisfies Claim
  return yield* claimFreely(database, command)
})

const isLimited = ({ limits }: Command): boolean =>
  limits.deployment !== null || limits.supplier !== null

/** Two concurrent batches, as for stagings. */
const batches = { slots: 2, commands: 64 }

/** A command that its batch did not claim is claimed or refused by separate statements. */
export const makeClaim = (database: Database["Service"], mutex: KeyedMutex) => {
  const { batched, run, sql } = database
  const together = batched({
    identity: ({ key }: Command) => keyText(key),
    run: (commands: ReadonlyArray<Command>) => claimAll(database, commands),
    limits: batches
  })
  return Effect.fnUntraced(function* (command: Command) {
    if (isLimited(command)) {
      const claiming = sql.withTransaction(claimWithinLimits(database, command))
      return yield* mutex(command.key, run(claiming))
    }
    const claimed = yield* Effect.catchIf(together(command), isContended, () =>
      Effect.succeed(null)
    )
    return claimed ?? (yield* mutex(command.key, run(claimFreely(database, command))))
  })
}
