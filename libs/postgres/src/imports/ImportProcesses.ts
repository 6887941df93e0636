/**
 * Imports in PostgreSQL. Every step is one statement, and so one round trip and one transaction,
 * unless it must read before it writes. A conditional update of the row takes the lease of an
 * import.
 */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { releaseCodes, releaseEvent } from "@data-import/domain/events/Event"
import { isFailure } from "@data-import/domain/imports/ImportDetails"
import { type ImportKey, isFree, stateAt } from "@data-import/domain/imports/ImportProcess"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { makeComplete, makeDryRun } from "../accounts/AccountCreation.ts"
import { leases, makeClaim, stagedPayload } from "./ImportLease.ts"
import { Database, lockWait, rowsOf } from "../connection/Database.ts"
import { auditEntry, expiredAttempt, outboxEvent, recordOperator } from "../audit/ChangeEntries.ts"
import { recordUnchanged } from "../audit/Refusals.ts"
import { details, detailedList } from "./ImportDetails.ts"
import { list } from "./ImportList.ts"
import { deletePayloads } from "./PayloadDeletion.ts"
import {
  brokenOff,
  isStorableKey,
  makeFind,
  makeFindOwn,
  makePresent,
  readImport
} from "../tables/ImportRow.ts"
import * as KeyedMutex from "../connection/KeyedMutex.ts"
import { notOngoing } from "../tables/SupplierStatus.ts"
import { makeStage } from "./Staging.ts"

type Port = ImportProcesses["Service"]
type Command<Operation extends keyof Port> = Parameters<Port[Operation]>[0]

const changedRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))

const renew = ({ sql }: Database["Service"], { at, attempt, key, until }: Command<"renew">) =>
  changedRows(sql`
    update import_processes set lease_expires_at = ${DateTime.toDateUtc(until)}
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number} and lease_attempt = ${attempt}
      and lease_expires_at > ${DateTime.toDateUtc(at)}
    returning id`).pipe(Effect.map((rows) => rows.length > 0))

const payloadRows = rowsOf(Schema.Struct({ payload: Schema.NullOr(Schema.String) }))

const payload = ({ sql }: Database["Service"], key: ImportKey) =>
  payloadRows(sql`
    select payload::text as payload from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}`).pipe(
    Effect.map(([row]) => Option.fromNullishOr(row?.payload))
  )

const isStaged = ({ sql }: Database["Service"], { hash, key }: Command<"isStaged">) =>
  changedRows(sql`
    select id from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
      and payload_hash = decode(${hash}, 'hex')`).pipe(Effect.map((rows) => rows.length > 0))

const release = ({ sql }: Database["Service"], command: Command<"release">) => {
  const { at, attempt, caller, dryRun, errors, key, outcome } = command
  const name = releaseEvent(dryRun, outcome === "dry_run_successful")
  const codes = releaseCodes(outcome, errors)
  return sql`
    with changed as (
      update import_processes set lease_attempt = null, lease_expires_at = null,
        lease_dry_run = false,
        failed_staging = case when ${dryRun} then failed_staging
          when ${isFailure(outcome)} then stagings end
      where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number} and lease_attempt = ${attempt}
      returning id
    ),
    ended as (
      update import_attempts set ended_at = ${DateTime.toDateUtc(at)}, outcome = ${outcome},
        errors = ${JSON.stringify(errors)}::json
      from changed where import_id = changed.id and import_attempts.id = ${attempt}
    ),
    event as (${outboxEvent(sql, { at, name, codes })}),
    audit as (${auditEntry(sql, { at, caller, action: "process", outcome, key })})
    select id from changed`.pipe(Effect.asVoid)
}

const organisationRows = rowsOf(Schema.Struct({ organisation: OrganisationName }))

const recordSkip = Effect.fnUntraced(function* (
  sql: Database["Service"]["sql"],
  key: ImportKey,
  skipped: boolean,
  isChanged: boolean
) {
  const [supplier] = yield* organisationRows(
    sql`select organisation from suppliers where code = ${key.import_supplier}`
  )
  yield* recordOperator(sql, {
    action: skipped ? "skip_import" : "unskip_import",
    outcome: isChanged ? "changed" : "unchanged",
    organisation: supplier?.organisation ?? null,
    key
  })
})

/** Locks first, because skipping clears an expired lease and unskipping does not. */
const setSkipped = Effect.fnUntraced(function* (
  database: Database["Service"],
  { at, key, skipped }: Command<"setSkipped">
) {
  const { sql } = database
  const process = yield* readImport(database, key, true)
  if (Option.isNone(process)) return { _tag: "Refused", found: null } as const
  const found = stateAt(process.value, at)
  if (!isFree(found) && found._tag !== "Skipped") return { _tag: "Refused", found } as const
  const isChanged = process.value.skipped !== skipped
  yield* recordSkip(sql, key, skipped, isChanged)
  if (!isChanged) return { _tag: "Set" } as const
  yield* sql`
    with changed as (
      update import_processes as present
      set skipped = ${skipped}, lease_attempt = null, lease_expires_at = null,
        lease_dry_run = false,
        failed_staging = case when ${brokenOff(sql)} then stagings else failed_staging end
      where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number}
      returning id
    ),
    expired as (${expiredAttempt(sql, at)})
    select id from changed`
  return { _tag: "Set" } as const
})

/** Locks first, because an attempt may be about to begin. Returns whether it changed the cohort. */
const changeCohort = Effect.fnUntraced(function* (
  database: Database["Service"],
  { at, caller, cohort, key }: Command<"setCohort">
) {
  const { sql } = database
  const refused = yield* notOngoing(sql, key.import_supplier)
  if (refused !== null) return refused
  const process = yield* readImport(database, key, true)
  if (Option.isNone(process)) return { _tag: "Refused", found: null } as const
  const found = stateAt(process.value, at)
  if (!isFree(found)) return { _tag: "Refused", found } as const
  const changed = yield* sql`
    with changed as (
      update import_processes set cohort = ${cohort}
      where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number}
        and cohort is distinct from ${cohort}::text
      returning id
    ),
    audit as (${auditEntry(sql, { at, caller, action: "change_import", outcome: "changed", key })})
    select id from changed`
  return { _tag: "Set", isChanged: changed.length > 0 } as const
})

/** Records that nothing changed without the lock, since a refusal locks its window before it. */
const setCohort = Effect.fnUntraced(function* (
  database: Database["Service"],
  command: Command<"setCohort">
) {
  const { run, sql } = database
  const set = yield* run(sql.withTransaction(changeCohort(database, command)))
  if (set._tag !== "Set") return set
  const write = { ...command, action: "change_import" } as const
  if (!set.isChanged) yield* run(recordUnchanged(sql, write))
  return { _tag: "Set" } as const
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  const find = makeFind(database)
  const present = makePresent(database)
  const mutex = KeyedMutex.make(lockWait)
  return ImportProcesses.of({
    stage: makeStage(database, mutex),
    find: (key) => (isStorableKey(key) ? find(key) : Effect.succeedNone),
    findOwn: makeFindOwn(database),
    claim: makeClaim(database, mutex),
    stagedPayload: (held) => run(stagedPayload(database, held)),
    present: (key) => (isStorableKey(key) ? present(key) : Effect.succeedNone),
    payload: (key) => (isStorableKey(key) ? run(payload(database, key)) : Effect.succeedNone),
    isStaged: (staged) => run(isStaged(database, staged)),
    renew: (command) => run(renew(database, command)),
    complete: makeComplete(database),
    dryRun: makeDryRun(database),
    release: (command) => run(release(database, command)),
    setSkipped: (command) =>
      mutex(command.key, run(sql.withTransaction(setSkipped(database, command)))),
    setCohort: (command) =>
      isStorableKey(command.key)
        ? mutex(command.key, setCohort(database, command))
        : Effect.succeed({ _tag: "Refused", found: null }),
    deletePayloads: (command) => run(deletePayloads(database, command)),
    leases: (at) => run(leases(database, at)),
    details: (key, attempts) =>
      isStorableKey(key) ? run(details(database, key, attempts)) : Effect.succeedNone,
    list: (query) => (query.detailed ? detailedList(database, query) : list(database, query))
  })
})

export const layer: Layer.Layer<ImportProcesses, never, Database> = Layer.effect(
  ImportProcesses,
  make
)
