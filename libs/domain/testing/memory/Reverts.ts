/** Reverts in memory: one synchronous step. */
import { type DateTime, Effect, Layer, Option, Result } from "effect"
import { accountTextInSteps } from "../../src/accounts/Account.ts"
import { type NamedAccount, type RevertView, withoutAccount } from "../../src/imports/Revert.ts"
import {
  type Reverted,
  type RevertCommand,
  type RevertOrder,
  Reverts
} from "../../src/imports/Reverts.ts"
import { finish } from "../../src/support/Steps.ts"
import { attemptsOfImport } from "../../src/imports/ImportDetails.ts"
import { detailsOf } from "./ImportProcesses.ts"
import { recordUnchanged } from "./AuditLog.ts"
import { isHeld, keepAnswer, release, revertKeys } from "./IdempotencyKeys.ts"
import { ReservationLost } from "../../src/idempotency/IdempotencyKeys.ts"
import { importOf, MemoryStore, putImport, recordChange, type StoredImport } from "./Store.ts"

type Store = MemoryStore["Service"]

const activeChange = (store: Store, { number }: RevertOrder) =>
  (store.changes.get(number) ?? []).find(
    (change) => change.instruction !== null && !store.endedInstructions.has(change)
  )

const namedOf = (
  store: Store,
  command: RevertOrder,
  { process, reverted }: StoredImport
): NamedAccount | null => {
  const { number } = command
  const isReverted = reverted.some((past) => past.number === number)
  const account = store.accounts.get(number)
  if (account === undefined || (!isReverted && process.account?.number !== number)) return null
  const changes = store.changes.get(number) ?? []
  const count = (of: (change: (typeof changes)[number]) => number) =>
    changes.reduce((sum, change) => sum + of(change), 0)
  return {
    createdAt: account.createdAt,
    isReverted,
    additions: {
      transactions: count(({ transactions }) => transactions.length),
      notes: count(({ notes }) => notes.length),
      statements: count(({ statements }) => statements.length),
      payment_instructions: count(({ instruction }) => (instruction === null ? 0 : 1))
    },
    active: activeChange(store, command)?.instruction?.instruction ?? null,
    hasPayload: true
  }
}

const viewOf = (store: Store, command: RevertOrder, present: StoredImport, at: DateTime.Utc) => {
  const supplier = store.suppliers.get(command.key.import_supplier)
  if (supplier === undefined) throw new Error("An import is of no supplier")
  const { revertWindow: window, status } = supplier
  const details = detailsOf(present, attemptsOfImport)
  const named = namedOf(store, command, present)
  return { at, details, status, window, named } satisfies RevertView
}

type Making = RevertOrder & Pick<RevertCommand, "at" | "caller">

const change = (
  store: Store,
  command: Making,
  present: StoredImport,
  createdAt: DateTime.Utc
): StoredImport => {
  const { at, caller, key, number, reason } = command
  const active = activeChange(store, command)
  if (active !== undefined) store.endedInstructions.set(active, at)
  const event = "data_import.import_process.reverted-v1"
  recordChange(store, key, { at, event, action: "revert_import", outcome: "reverted", caller })
  const account = store.accounts.get(number)?.account
  if (account === undefined) throw new Error(`There is no account ${number}`)
  const after: StoredImport = {
    ...present,
    payload: present.payload ?? finish(accountTextInSteps(account)),
    ...withoutAccount(present, { number, createdAt, revertedAt: at, reason })
  }
  putImport(store, after)
  revertKeys(store, number, at)
  return after
}

const revert = Effect.fnUntraced(function* (store: Store, command: RevertCommand) {
  const { at, caller, decide, dryRun, recorder = null, key } = command
  const present = importOf(store, key)
  if (present === undefined) return Option.none<Reverted>()
  const view = viewOf(store, command, present, at)
  const isDue = yield* Effect.fromResult(decide(view))
  if (recorder && !isHeld(store, recorder.reservation)) return yield* new ReservationLost()
  const account = isDue ? view.named : null
  if (account === null || dryRun) {
    if (recorder) release(store, recorder.reservation)
    if (account === null) recordUnchanged(store, { at, action: "revert_import", key, caller })
    return Option.some({ details: view.details, at, account })
  }
  const after = change(store, command, present, account.createdAt)
  const details = detailsOf(after, attemptsOfImport)
  const reverted = { details, at, account }
  keepAnswer(store, recorder, reverted, at)
  return Option.some(reverted)
})

/** Whether a revert that is part of another step would be done. */
export const isToRevert = (store: Store, order: RevertOrder, at: DateTime.Utc): boolean => {
  const present = importOf(store, order.key)
  if (present === undefined) return false
  return Result.getOrElse(order.decide(viewOf(store, order, present, at)), () => false)
}

/** Does it, and returns the account as it was. */
export const revertNow = (store: Store, making: Making): NamedAccount => {
  const present = importOf(store, making.key)
  const named = present === undefined ? null : namedOf(store, making, present)
  if (present === undefined || named === null) throw new Error(`No account ${making.number}`)
  change(store, making, present, named.createdAt)
  return named
}

export const layerMemory: Layer.Layer<Reverts> = Layer.effect(
  Reverts,
  Effect.map(MemoryStore, (store) => Reverts.of({ revert: (command) => revert(store, command) }))
).pipe(Layer.provide(MemoryStore.layer))
