/**
 * Reverts in PostgreSQL: one transaction, which locks the import first and then its account, as an
 * erasure does. Functions of the database see and change the account.
 */
import { DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { attemptsOfImport, type ImportDetails } from "@data-import/domain/imports/ImportDetails"
import type { LineRevert } from "@data-import/domain/batches/Batches"
import { answersKeptFor } from "@data-import/domain/idempotency/IdempotencyKey"
import { AdditionCounts } from "@data-import/domain/additions/AdditionCounts"
import {
  type RevertRefused,
  type RevertView,
  withoutAccount
} from "@data-import/domain/imports/Revert"
import {
  type Reverted,
  type RevertCommand,
  type RevertOrder,
  Reverts
} from "@data-import/domain/imports/Reverts"
import { PaymentInstruction } from "@data-import/domain/accounts/PaymentInstruction"
import { SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { recordUnchanged } from "../audit/Refusals.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { keepInTransaction } from "../idempotency/StoredAnswers.ts"
import { isStorableKey } from "../tables/ImportRow.ts"
import { byPosition, position, recordSet } from "../tables/RecordSet.ts"
import { detailedEntry, detailsOf, Entry, present } from "./ImportDetails.ts"

type Sql = Database["Service"]["sql"]

/** Who reverts, and when. */
type Made = Pick<RevertCommand, "at" | "caller">

const Named = Schema.Struct({
  createdAt: Schema.DateTimeUtcFromMillis,
  isReverted: Schema.Boolean,
  additions: AdditionCounts,
  active: Schema.NullOr(PaymentInstruction),
  hasPayload: Schema.Boolean
})

const Locked = Schema.Struct({ id: Schema.BigInt })
const lockedRows = rowsOf(Locked)
const lockedOrders = rowsOf(Schema.Struct({ ...Locked.fields, position: Schema.BigInt }))

const viewRows = rowsOf(
  Schema.Struct({
    position: Schema.BigInt,
    entry: Entry,
    status: SupplierStatus,
    window: Schema.Int,
    named: Schema.NullOr(Named)
  })
)

/** Locks the import, and fails at once if another transaction has locked it. */
const lock = (sql: Sql, { key }: RevertCommand) =>
  lockedRows(sql`
    select id from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    for no key update nowait`)

/** Locks those imports and accounts that no other transaction has locked. */
const lockFree = <Order extends RevertOrder>(sql: Sql, orders: ReadonlyArray<Order>) =>
  lockedOrders(sql`
    select position, present.id
    from ${recordSet(sql, "sent", orders, {
      position,
      supplier: ["text", ({ key }) => key.import_supplier],
      external: ["text", ({ key }) => key.external_account_number],
      named: ["text", ({ number }) => number]
    })} cross join lateral (
      select id, account_id from import_processes
      where supplier = sent.supplier and external_account_number = external
        and account_number = named
      for no key update skip locked
    ) as present cross join lateral (
      select from accounts where id = present.account_id for no key update skip locked
    ) as account`).pipe(
    Effect.map((rows) =>
      byPosition(orders, rows, (row, order) =>
        row === undefined ? [] : [{ ...order, id: row.id }]
      )
    ),
    Effect.map((found) => found.flat())
  )

type LockedOrder<Order extends RevertOrder> = Order & { readonly id: bigint }

/** What is seen of each import and of the account that is named, under the lock of the import. */
const see = Effect.fnUntraced(function* <Order extends RevertOrder>(
  sql: Sql,
  orders: ReadonlyArray<LockedOrder<Order>>,
  attempts: number,
  at: DateTime.Utc
) {
  const rows = yield* viewRows(sql`
    select position, ${detailedEntry(sql, attempts)} as entry, status, "window",
      account_to_revert(import, number) as named
    from ${recordSet(sql, "sent", orders, {
      position,
      import: ["bigint", ({ id }) => id],
      number: ["text", ({ number }) => number]
    })} cross join lateral (
      select * from ${present(sql)} where id = import offset 0
    ) as present cross join lateral (
      select status, revert_window as "window" from suppliers where code = supplier offset 0
    ) as owner`)
  return byPosition(orders, rows, (row, order) => {
    if (row === undefined) throw new Error("An import that is locked is there")
    const { entry, named, status, window } = row
    const details = detailsOf(order.key.import_supplier, entry)
    return { order, view: { at, details, status, window, named } satisfies RevertView }
  })
})

/** Reverts the present accounts of the imports. */
const store = (sql: Sql, orders: ReadonlyArray<LockedOrder<RevertOrder>>, { at, caller }: Made) => {
  const instant = DateTime.toDateUtc(at)
  const keptUntil = DateTime.toDateUtc(DateTime.addDuration(at, answersKeptFor))
  const key = {
    import_supplier: sql`supplier`,
    external_account_number: sql`external_account_number`
  }
  const written = { at, caller, action: "revert_import", outcome: "reverted", key } as const
  return sql`
    with done as (
      select *, revert_account(import, ${instant}, ${caller.apiKey}, reason, ${keptUntil})
      from ${recordSet(sql, "sent", orders, {
        position,
        import: ["bigint", ({ id }) => id],
        number: ["text", ({ number }) => number],
        reason: ["text", ({ reason }) => reason],
        supplier: ["text", (order) => order.key.import_supplier],
        external_account_number: ["text", (order) => order.key.external_account_number]
      })}
    ),
    event as (
      insert into outbox (at, name, import_id, account_number)
      select ${instant}, 'data_import.import_process.reverted-v1', import, number from done
      order by position
    )
    ${auditEntry(sql, written, sql`from done order by position`)}`
}

/**
 * Reverts for all lines or for none, in a transaction: returns how they end, or those lines that
 * are refused, or that meet the lock of another transaction.
 */
export const revertLines = Effect.fnUntraced(function* (
  sql: Sql,
  lines: ReadonlyArray<LineRevert>,
  made: Made
) {
  const locked = yield* lockFree(sql, lines)
  const seen = locked.length === 0 ? [] : yield* see(sql, locked, 0, made.at)
  const ends = seen.flatMap(({ order, view }) => {
    const isDue = Result.getOrElse(order.decide(view), () => false)
    return isDue && view.named !== null ? [order.endOf(view.named)] : []
  })
  const accepted = new Set(ends.map(({ line }) => line))
  const refused = lines.flatMap(({ line }) => (accepted.has(line) ? [] : [line]))
  if (refused.length === 0) yield* store(sql, locked, made)
  return refused.length === 0 ? Result.succeed(ends) : Result.fail(refused)
})

const reverting = Effect.fnUntraced(function* (
  { sql }: Database["Service"],
  command: RevertCommand
) {
  const { at, decide, dryRun, recorder = null, number, reason } = command
  const [import_] = yield* lock(sql, command)
  if (import_ === undefined) return Option.none<Result.Result<Reverted, RevertRefused>>()
  const order = { ...command, ...import_ }
  const [seen] = yield* see(sql, [order], attemptsOfImport, at)
  if (seen === undefined) return Option.none<Result.Result<Reverted, RevertRefused>>()
  const { details, named } = seen.view
  const decided = decide(seen.view)
  if (Result.isFailure(decided)) return Option.some(Result.fail(decided.failure))
  const account = decided.success ? named : null
  if (account === null || dryRun) {
    yield* keepInTransaction(sql, recorder, null, at)
    return Option.some(Result.succeed({ details, at, account }))
  }
  yield* store(sql, [order], command)
  const past = { number, createdAt: account.createdAt, revertedAt: at, reason }
  const after: ImportDetails = { ...details, ...withoutAccount(details, past) }
  const reverted: Reverted = { details: after, at, account }
  yield* keepInTransaction(sql, recorder, reverted, at, import_.id)
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
