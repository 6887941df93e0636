/** Reverts with one mistake each, by which something of an account outlives it. */
import { Effect } from "effect"
import { importOf } from "@data-import/domain/testing/memory/Store"
import { after, alterImport, before, type Defects, on, type Store } from "./Planted.ts"

type Key = Parameters<typeof importOf>[1]

const lastReverted = (store: Store, key: Key) => importOf(store, key)?.reverted.at(-1)

export const brokenReverts: Defects = {
  "a revert keeps the answers about the account": {
    seed: 10,
    seen: 10,
    storage: on("reverts", "revert", (revert, command, store) => {
      const kept = [...store.idempotencyKeys].filter(([, { answer }]) => answer !== null)
      return Effect.tap(revert(command), () =>
        Effect.sync(() => {
          for (const [place, record] of kept) store.idempotencyKeys.set(place, record)
        })
      )
    })
  },
  "a revert leaves the payment instruction active": {
    seed: 15,
    storage: after("reverts", "revert", (store, { number }) => {
      for (const change of store.changes.get(number) ?? []) store.endedInstructions.delete(change)
    })
  },
  "the next account has the additions of the reverted one": {
    seed: 3,
    seen: 6,
    storage: after("imports", "complete", (store, { key, newAccount: { number } }) => {
      const changes = store.changes.get(lastReverted(store, key)?.number ?? number) ?? []
      if (importOf(store, key)?.process.account?.number === number) {
        store.changes.set(number, changes)
      }
    })
  },
  "a revert does not rebuild a deleted payload": {
    seed: 86,
    storage: on("reverts", "revert", (revert, command, store) => {
      const { payload = null } = importOf(store, command.key) ?? {}
      return Effect.tap(revert(command), () =>
        Effect.sync(() => {
          if (payload === null) alterImport(store, command.key, (now) => ({ ...now, payload }))
        })
      )
    })
  },
  "an attempt that began before a revert may complete": {
    seed: 236,
    seen: 663,
    storage: before("imports", "complete", (store, { attempt, key }) => {
      const { account = null, lease: held = null } = importOf(store, key)?.process ?? {}
      const expiresAt = lastReverted(store, key)?.revertedAt
      if (expiresAt === undefined || account !== null || held?.attempt === attempt) return
      const lease = { attempt, expiresAt, isDryRun: false }
      alterImport(store, key, (now) => ({ ...now, process: { ...now.process, lease } }))
    })
  }
}
