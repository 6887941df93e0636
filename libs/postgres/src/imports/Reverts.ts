/**
 * Reverts in PostgreSQL: one transaction, which locks the import first and then its account, as an
 * erasure does. Functions of the database see and change the account.
 */
import { DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { attemptsOfImport, type ImportDetails } from "@data-import/domain/imports/ImportDetails"
import { answersKeptFor } from "@data-import/domain/idempotency/IdempotencyKey"
import { AdditionCounts } from "@data-import/domain/additions/AdditionCounts"
import {
  type RevertRefused,
  type RevertView,
  withoutAccount
} from "@data-import/domain/imports/Revert"
import { type Reverted, type RevertCommand, Reverts } from "@data-import/domain/imports/Reverts"
import { PaymentInstruction } from "@data-import/domain/accounts/PaymentInstruction"
import { SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { recordUnchanged } from "../audit/Refusals.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { keepInTransaction } from "../idempotency/StoredAnswers.ts"
import { isStorableKey } from "../tables/ImportRow.ts"
import { details } from "./ImportDetails.ts"

const Named = Schema.Struct({
  createdAt: Schema.DateTimeUtcFromMillis,
  isReverted: Schema.Boolean,
  additions: AdditionCounts,
  active: Schema.NullOr(PaymentInstruction),
  hasPayload: Schema.Boolean
})

const lockedRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, status: SupplierStatus, window: Schema.Int })
)

const namedRows = rowsOf(Schema.Struct({ named: Schema.NullOr(Named) }))

/** Locks the import, and fails at once if another transaction has locked it. */
const lock = ({ sql }: Database["Service"], { key }: RevertCommand) =>
  lockedRows(sql`
    select id, status, revert_window as window
    from import_processes join suppliers on code = supplier
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    for no key update of import_processes nowait`)

interface Seen {
  readonly id: bigint
  readonly view: RevertView
}

/** What is seen under the locks. */
const see = Effect.fnUntraced(function* (database: Database["Service"], command: RevertCommand) {
  const { sql } = database
  const [import_] = yield* lock(database, command)
  if (import_ === undefined) return Option.none()
  const { id, status, window } = import_
  const [row] = yield* namedRows(sql`select account_to_revert(${id}, ${command.number}) as named`)
  const named = row?.named ?? null
  const found = yield* details(database, command.key, attemptsOfImport)
  const { at } = command
  return Option.map(found, (of) => ({
    id,
    view: { at, details: of, status, window, named }
  }))
})

const store = Effect.fnUntraced(function* (
  database: Database["Service"],
  { caller, key, number, reason }: RevertCommand,
  { id, view: { at, details: before } }: Seen,
  createdAt: DateTime.Utc
) {
  const { sql } = database
  const instant = DateTime.toDateUtc(at)
  const keptUntil = DateTime.toDateUtc(DateTime.addDuration(at, answersKeptFor))
  yield* sql`
    with done as (
      select revert_account(${id}, ${instant}, ${caller.apiKey}, ${reason}, ${keptUntil})
    ),
    event as (
      insert into outbox (at, name, import_id, account_number)
      select ${instant}, 'data_import.import_process.reverted-v1', ${id}, ${number} from done
    )
    ${auditEntry(sql, { at, caller, action: "revert_import", outcome: "reverted", key }, sql``)}`
  const past = { number, createdAt, revertedAt: at, reason }
  return { ...before, ...withoutAccount(before, past) } satisfies ImportDetails
})

const reverting = Effect.fnUntraced(function* (
  database: Database["Service"],
  command: RevertCommand
) {
  const { dryRun, keep = null } = command
  const seen = yield* see(database, command)
  if (Option.isNone(seen)) return Option.none<Result.Result<Reverted, RevertRefused>>()
  const { id, view } = seen.value
  const { at, named } = view
  const decided = command.decide(view)
  if (Result.isFailure(decided)) return Option.some(Result.fail(decided.failure))
  const isChanged = decided.success && named !== null
  const account = isChanged ? named : null
  if (!isChanged || dryRun) {
    yield* keepInTransaction(database.sql, keep, null, at)
    return Option.some(Result.succeed({ details: view.details, at, account }))
  }
  const after = yield* store(database, command, seen.value, named.createdAt)
  const reverted: Reverted = { details: after, at, account }
  yield* keepInTransaction(database.sql, keep, reverted, at, id)
  return Option.some(Result.succeed(reverted))
})

const revert = (database: Database["Service"]) =>
  Effect.fnUntraced(function* (command: RevertCommand) {
    const { run, sql } = database
    const done = yield* run(sql.withTransaction(reverting(database, command)))
    if (Option.isNone(done)) return Option.none()
    const reverted = yield* Effect.fromResult(done.value)
    // Without the lock of the import, since a refusal locks its window before it.
    if (reverted.account === null) {
      const { caller, key } = command
      yield* run(recordUnchanged(sql, { at: reverted.at, action: "revert_import", caller, key }))
    }
    return Option.some(reverted)
  })

export const layer: Layer.Layer<Reverts, never, Database> = Layer.effect(
  Reverts,
  Effect.map(Database, (database) => {
    const perform = revert(database)
    return Reverts.of({
      revert: (command) => (isStorableKey(command.key) ? perform(command) : Effect.succeedNone)
    })
  })
)
