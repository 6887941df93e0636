/**
 * Accounts in PostgreSQL. A change is stored only if the account still has the revision on which it
 * was decided, so changes of an account are serialised. Changes within a process wait in memory, so
 * only processes contend for the row of an account.
 */
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { isEmpty } from "@data-import/domain/account/AccountChange"
import type { Reservation } from "@data-import/domain/requests/IdempotencyKey"
import { Accounts, type ChangeCommand } from "@data-import/domain/ports/Accounts"
import type { OrganisationName } from "@data-import/domain/organisation/Organisation"
import { ReservationLost } from "@data-import/domain/ports/IdempotencyKeys"
import { inTimeSlices } from "@data-import/domain/support/Steps"
import { makeWorkBudget } from "@data-import/domain/requests/WorkBudget"
import { addToAccount } from "./AccountAddition.ts"
import { readDescription } from "./AccountDescriptions.ts"
import { readAccount, RoomNeeded } from "./AccountReading.ts"
import { locate } from "./StoredAccountHead.ts"
import { readStored } from "./StoredAccounts.ts"
import { Database, lockWait } from "../connection/Database.ts"
import { auditEntry, type AuditedWrite } from "../audit/ChangeEntries.ts"
import { isStorableKey } from "../tables/ImportRow.ts"
import { isLost, isReservation } from "../idempotency/StoredAnswers.ts"
import * as KeyedMutex from "../connection/KeyedMutex.ts"
import { contended } from "../connection/SqlFailure.ts"

type Sql = Database["Service"]["sql"]
type EndCommand = Parameters<Accounts["Service"]["endInstruction"]>[0]

/** All statements of `effect` read one snapshot of the database. */
const atOneInstant = <A, E, R>(sql: Sql, effect: Effect.Effect<A, E, R>) =>
  sql.withTransaction(
    Effect.andThen(sql`set transaction isolation level repeatable read, read only`, effect)
  )

/**
 * The audit entry of a write that stores nothing. The same statement releases a reserved key, and
 * returns no row if the reservation is lost.
 */
const recordUnchanged = (
  sql: Sql,
  write: Omit<AuditedWrite, "outcome">,
  reservation: Reservation | undefined
) =>
  reservation === undefined
    ? sql`${auditEntry(sql, { ...write, outcome: "unchanged" }, sql``)}`
    : sql`
        with changed as (
          delete from idempotency_keys where ${isReservation(sql, reservation)} returning key
        ),
        audit as (${auditEntry(sql, { ...write, outcome: "unchanged" })})
        select key from changed`.pipe(
        Effect.filterOrFail(
          (released) => released.length > 0,
          () => new ReservationLost()
        )
      )

/** The result of the decision; None if there is no account. */
const change = Effect.fnUntraced(function* <A, E>(
  sql: Sql,
  command: ChangeCommand<A, E>,
  room: number
) {
  const { action, at, caller, decide, keep, key, lookup } = command
  const write = { action, at, caller, key }
  const snapshot = yield* readAccount(sql, key, lookup, room)
  if (Option.isNone(snapshot)) return Option.none<Result.Result<A, E>>()
  const decided = decide(snapshot.value.view)
  if (Result.isSuccess(decided)) {
    const { answer, change: wanted } = decided.success
    if (isEmpty(wanted)) {
      yield* recordUnchanged(sql, write, keep?.reservation)
    } else {
      const text = keep ? yield* inTimeSlices(() => keep.textOf(answer)) : ""
      const kept = keep ? { reservation: keep.reservation, text, at } : null
      const stored = yield* addToAccount(sql, snapshot.value, wanted, write, kept)
      if (isLost(stored)) return yield* new ReservationLost()
      if (stored.length === 0) return yield* contended
    }
  }
  return Option.some(Result.map(decided, ({ answer }) => answer))
})

/** A separate statement, because the operator has no privilege to change the account itself. */
const endInstruction = (sql: Sql, { at, caller, key }: EndCommand) => sql`
  with changed as (
    update payment_instructions set ended_at = greatest(created_at, ${DateTime.toDateUtc(at)})
    where ended_at is null and account_id = (
      select id from import_processes where supplier = ${key.import_supplier}
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

/** Reads of existing data up to this size need no budget. */
const freeBytes = 64 * 1024

/**
 * Limits the memory of large reads of existing data by a budget that the organisations share. A
 * wait for the budget holds no connection.
 */
const makeReading = () => {
  const budget = makeWorkBudget()
  return <A, E>(
    organisation: OrganisationName | null,
    read: (room: number) => Effect.Effect<A, E | RoomNeeded>
  ) => {
    // A read releases its part of the budget before it asks for more, so it never waits for itself.
    const within = (room: number): Effect.Effect<A, E> =>
      Effect.catch(budget(organisation, room)(read(room)), (failure) =>
        failure instanceof RoomNeeded ? within(failure.bytes) : Effect.fail(failure)
      )
    return within(freeBytes)
  }
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  const reading = makeReading()
  const mutex = yield* KeyedMutex.make(lockWait)
  return Accounts.of({
    view: (key, lookup) => {
      if (!isStorableKey(key)) return Effect.succeedNone
      return reading(null, (room) => {
        const snapshot = readAccount(sql, key, lookup, room)
        const viewed = Effect.map(snapshot, (account) => Option.map(account, ({ view }) => view))
        return run(atOneInstant(sql, viewed))
      })
    },
    locate: (number) => run(locate(sql, number)),
    read: (numbers) => readStored(database, numbers),
    describe: (number) => run(atOneInstant(sql, readDescription(sql, number))),
    change: (command) => {
      if (!isStorableKey(command.key)) return Effect.succeedNone
      return Effect.flatMap(
        mutex(
          command.key,
          reading(command.caller.organisation, (room) => run(change(sql, command, room)))
        ),
        Option.match({
          onNone: () => Effect.succeedNone,
          onSome: (decided) => Effect.asSome(Effect.fromResult(decided))
        })
      )
    },
    endInstruction: (command) =>
      isStorableKey(command.key)
        ? Effect.map(run(endInstruction(sql, command)), (ended) => ended.length > 0)
        : Effect.succeed(false)
  })
})

export const layer: Layer.Layer<Accounts, never, Database> = Layer.effect(Accounts, make)
