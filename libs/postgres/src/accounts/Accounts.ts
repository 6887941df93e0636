/**
 * Accounts in PostgreSQL. A change is stored only if the account still has the revision on which it
 * was decided, so changes of an account are serialised. Changes within a process wait in memory, so
 * only processes contend for the row of an account.
 */
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { type AccountView, isEmpty } from "@data-import/domain/accounts/AccountChange"
import { keyText } from "@data-import/domain/imports/ImportProcess"
import { MigrationNotOngoing } from "@data-import/domain/requests/Failure"
import type { Reservation } from "@data-import/domain/idempotency/IdempotencyKey"
import { Accounts, type ChangeCommand } from "@data-import/domain/accounts/Accounts"
import { ReservationLost } from "@data-import/domain/idempotency/IdempotencyKeys"
import { inTimeSlices } from "@data-import/domain/support/Steps"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { makeWorkBudget, type WorkBudget } from "@data-import/domain/requests/WorkBudget"
import { makeAdd } from "./AccountAddition.ts"
import {
  itemCount,
  readNamed,
  readSnapshots,
  type AccountSnapshot,
  type SnapshotQuery
} from "./AccountReading.ts"
import { locate } from "./StoredAccountHead.ts"
import { describeStored, readStored } from "./StoredAccounts.ts"
import { Database, lockWait } from "../connection/Database.ts"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { recordUnchanged, unchangedOnce } from "../audit/Refusals.ts"
import { isStorableKey } from "../tables/ImportRow.ts"
import { isReservation } from "../idempotency/StoredAnswers.ts"
import * as KeyedMutex from "../connection/KeyedMutex.ts"

type Sql = Database["Service"]["sql"]
type EndCommand = Parameters<Accounts["Service"]["endInstruction"]>[0]

/**
 * Records a write that stores nothing. The same statement releases its key, and fails if the
 * reservation is lost.
 */
const releaseUnchanged = (
  sql: Sql,
  write: Parameters<typeof unchangedOnce>[1],
  reservation: Reservation
) => {
  const { entry, first } = unchangedOnce(sql, write, sql`exists (select from changed)`)
  return sql`
    with changed as (
      delete from idempotency_keys where ${isReservation(sql, reservation)} returning key
    ),
    ${first},
    audit as (${entry})
    select key from changed`.pipe(
    Effect.filterOrFail(
      (released) => released.length > 0,
      () => new ReservationLost()
    )
  )
}

/** A separate statement, because the operator has no privilege to change the account itself. */
const endInstruction = (sql: Sql, { at, caller, key }: EndCommand) => sql`
  with changed as (
    update payment_instructions set ended_at = greatest(created_at, ${DateTime.toDateUtc(at)})
    where ended_at is null and account_id = (
      select account_id from import_processes where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number})
    returning account_id
  ),
  audit as (${auditEntry(sql, {
    at,
    caller,
    key,
    action: "end_payment_instruction",
    outcome: "ended"
  })})
  select account_id from changed`

/** Reads accounts in batches, without transactions. */
const makeReadSnapshot = ({ batched, run, sql }: Database["Service"]) =>
  batched({
    identity: ({ key }: SnapshotQuery) => keyText(key),
    weight: itemCount,
    run: (wanted: ReadonlyArray<SnapshotQuery>) => readSnapshots(sql, wanted),
    limits: { slots: 2, commands: 32, weight: 500 },
    alone: run
  })

/** Reads the transactions of an account that was seen. */
const viewOf = Effect.fnUntraced(function* (
  { runOnce, sql }: Database["Service"],
  account: AccountSnapshot
) {
  const { ids, unread: unreadTransaction } = account.readable
  const transactions: AccountView["transactions"] =
    ids.length > 0 ? yield* runOnce(readNamed(sql, account)) : new Map()
  return { ...account.view, transactions, unreadTransaction }
})

const makeChange = (
  database: Database["Service"],
  readSnapshot: (
    wanted: SnapshotQuery
  ) => Effect.Effect<Option.Option<AccountSnapshot>, StorageUnavailable>,
  budget: WorkBudget
) => {
  const { repeated, runOnce, sql } = database
  const add = makeAdd(database)

  const changeSeen = Effect.fnUntraced(function* <A, E>(
    { action, at, caller, decide, recorder, key }: ChangeCommand<A, E>,
    account: AccountSnapshot
  ) {
    const { absent, id, revision, status } = account
    if (status !== "Ongoing") return yield* new MigrationNotOngoing({ status })
    const write = { action, at, caller, key }
    const decided = decide(yield* viewOf(database, account))
    if (Result.isFailure(decided)) return yield* Effect.fail(decided.failure)
    const { answer, change } = decided.success
    if (isEmpty(change)) {
      yield* runOnce(
        recorder ? releaseUnchanged(sql, write, recorder.reservation) : recordUnchanged(sql, write)
      )
      return answer
    }
    const text = recorder ? yield* inTimeSlices(() => recorder.textOf(answer)) : ""
    const kept = recorder
      ? { reservation: recorder.reservation, at, first: text, later: text }
      : null
    yield* add({ id, revision, absent, change, write, kept })
    return answer
  })

  /** The budget limits the memory of large reads. A wait for it holds no connection. */
  return Effect.fnUntraced(function* <A, E>(command: ChangeCommand<A, E>) {
    const first = yield* readSnapshot(command)
    if (Option.isNone(first)) return Option.none<A>()
    let next: typeof first | null = first
    const change = Effect.suspend(() => {
      const known = next
      next = null
      const seen = known === null ? readSnapshot(command) : Effect.succeed(known)
      return Effect.flatMap(seen, (found) =>
        Effect.transposeOption(Option.map(found, (account) => changeSeen(command, account)))
      )
    })
    const { bytes } = first.value.readable
    return yield* budget(command.caller.organisation, bytes)(repeated(change))
  })
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  const budget = makeWorkBudget()
  const readSnapshot = makeReadSnapshot(database)
  const change = makeChange(database, readSnapshot, budget)
  const mutex = KeyedMutex.make(lockWait)
  return Accounts.of({
    view: Effect.fnUntraced(function* (key, lookup) {
      if (!isStorableKey(key)) return Option.none()
      const seen = yield* readSnapshot({ key, lookup })
      if (Option.isNone(seen)) return Option.none()
      const { bytes } = seen.value.readable
      return Option.some(yield* budget(null, bytes)(viewOf(database, seen.value)))
    }),
    locate: (number) => run(locate(sql, number)),
    read: (numbers) => readStored(database, numbers),
    describe: (numbers) => describeStored(database, numbers),
    change: (command) =>
      isStorableKey(command.key) ? mutex(command.key, change(command)) : Effect.succeedNone,
    endInstruction: (command) =>
      isStorableKey(command.key)
        ? Effect.map(run(endInstruction(sql, command)), (ended) => ended.length > 0)
        : Effect.succeed(false)
  })
})

export const layer: Layer.Layer<Accounts, never, Database> = Layer.effect(Accounts, make)
