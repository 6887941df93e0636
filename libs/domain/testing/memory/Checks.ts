/**
 * What the scheduled checks read in memory. Accounts and batches are numbered in the order of their
 * creation. Entries of the audit log cannot be altered, so there is one chain, without faults.
 */
import { BigDecimal, DateTime, Duration, Effect, Layer, Order } from "effect"
import { openingBalance } from "../../src/accounts/Account.ts"
import { signedAmount } from "../../src/accounts/Transaction.ts"
import {
  type CheckedAccount,
  type CheckedBatch,
  Checks,
  type Conclusion,
  type Difference,
  ofEachCheck
} from "../../src/checks/Checks.ts"
import { balanceOf } from "./Accounts.ts"
import { importOf, MemoryStore } from "./Store.ts"

type Store = MemoryStore["Service"]
type Port = Checks["Service"]
type Slice = Parameters<Port["accounts"]>[0]

const sliced = <A extends { readonly subject: bigint }>(all: ReadonlyArray<A>, slice: Slice) =>
  all.filter(({ subject }) => subject > slice.after).slice(0, slice.limit)

const accountsOf = (store: Store): ReadonlyArray<CheckedAccount> =>
  [...store.accounts.values()].map((stored, index) => {
    const { account, key, number } = stored
    const changes = store.changes.get(number) ?? []
    const added = changes.flatMap(({ transactions }) => transactions)
    return {
      subject: BigInt(index + 1),
      number,
      supplier: key.import_supplier,
      balance: balanceOf(stored, changes),
      effects: BigDecimal.sumAll([
        openingBalance(account),
        ...added.map(({ transaction }) => signedAmount(transaction))
      ]),
      hash: importOf(store, key)?.hash ?? null,
      entry: null
    }
  })

const batchesOf = (store: Store): ReadonlyArray<CheckedBatch> =>
  [...store.batches.values()].map(({ batch, lines }, index) => {
    const ended = (outcome: string) => lines.filter(({ end }) => end?.outcome === outcome).length
    return {
      subject: BigInt(index + 1),
      id: batch.id,
      supplier: batch.settings.supplier,
      stored: batch.counts,
      counted: {
        received: lines.length,
        succeeded: ended("SUCCEEDED"),
        already: ended("ALREADY"),
        failed: ended("FAILED"),
        cancelled: ended("CANCELLED"),
        remaining: lines.filter(({ end }) => end === null).length
      }
    }
  })

const waitingSince = (store: Store): DateTime.Utc | null => {
  const { batchEvents, outbox, positioned, webhookEvents } = store
  const waiting = [
    ...outbox.slice(positioned.outbox).map(({ event }) => event.at),
    ...batchEvents.slice(positioned.batchEvents).map(({ at }) => at),
    ...webhookEvents.slice(positioned.webhookEvents).map(({ at }) => at)
  ]
  return waiting.toSorted(DateTime.Order)[0] ?? null
}

const begin = (store: Store, { at, pause, walk }: Parameters<Port["begin"]>[0]) => {
  const known = store.checkWalks.get(walk)
  const away = known && DateTime.distance(known.begunAt, at)
  if (away !== undefined && Duration.isLessThan(Duration.abs(away), pause)) return null
  const position = known?.position ?? 0n
  store.checkWalks.set(walk, { position, begunAt: at })
  return position
}

const nameOf = (walk: string, { check, subject }: Difference) => `${walk} ${subject} ${check}`

const conclude = (store: Store, command: Parameters<Port["conclude"]>[0]): Conclusion => {
  const { after, at, differences, moves, through, walk } = command
  const found = new Set(differences.map((each) => nameOf(walk, each)))
  for (const [name, { subject, walk: of }] of store.checkDifferences) {
    const isWithin = of === walk && subject > after && (through === null || subject <= through)
    if (isWithin && !found.has(name)) store.checkDifferences.delete(name)
  }
  const isNew = differences.filter((each) => !store.checkDifferences.has(nameOf(walk, each)))
  for (const each of differences) {
    const name = nameOf(walk, each)
    const { foundAt = at } = store.checkDifferences.get(name) ?? {}
    store.checkDifferences.set(name, { ...each, walk, foundAt })
  }
  const turn = store.checkWalks.get(walk)
  const moved = moves && turn?.position === after
  if (moved) store.checkWalks.set(walk, { position: through ?? 0n, begunAt: at })
  return { found: isNew, moved }
}

const named = (store: Store) =>
  [...store.checkDifferences.values()]
    .map((each) => {
      const { subject, walk } = each
      const isSame = (other: { readonly subject: bigint }) => other.subject === subject
      const name =
        walk === "accounts"
          ? accountsOf(store).find(isSame)?.number
          : walk === "batches"
            ? batchesOf(store).find(isSame)?.id
            : undefined
      return { ...each, name: name ?? null }
    })
    .toSorted(Order.mapInput(DateTime.Order, ({ foundAt }) => foundAt))

export const layerMemory: Layer.Layer<Checks> = Layer.effect(
  Checks,
  Effect.map(MemoryStore, (store) =>
    Checks.of({
      accounts: (slice) => Effect.sync(() => sliced(accountsOf(store), slice)),
      batches: (slice) => Effect.sync(() => sliced(batchesOf(store), slice)),
      eventsWaitingSince: Effect.sync(() => waitingSince(store)),
      begin: (turn) => Effect.sync(() => begin(store, turn)),
      conclude: (command) => Effect.sync(() => conclude(store, command)),
      differences: ({ limit, walk }) =>
        Effect.sync(() =>
          named(store)
            .filter((each) => walk === null || each.walk === walk)
            .slice(0, limit)
        ),
      standing: Effect.sync(() => {
        const kinds = [...store.checkDifferences.values()].map(({ check }) => check)
        return ofEachCheck((check) => kinds.filter((each) => each === check).length)
      })
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
