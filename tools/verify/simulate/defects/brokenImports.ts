/** Imports and accounts that are stored, or programs that are run, with one mistake each. */
import { BigDecimal, Effect, Option, Result } from "effect"
import type { AccountChange } from "@data-import/domain/accounts/AccountChange"
import type { Supplier } from "@data-import/domain/suppliers/Supplier"
import { utc } from "@data-import/domain/suppliers/BusinessDay"
import { importOf } from "@data-import/domain/testing/memory/Store"
import type { Mutation } from "../InMemory.ts"
import { owners } from "../Traffic.ts"
import {
  after,
  alterImport,
  before,
  claimedStaging,
  type Defects,
  on,
  type Store
} from "./Planted.ts"

type Key = Parameters<typeof importOf>[1]

const leaseOf = (store: Store, key: Key) => importOf(store, key)?.process.lease ?? null

const setLease = (store: Store, key: Key, lease: ReturnType<typeof leaseOf>): void =>
  alterImport(store, key, (stored) => ({ ...stored, process: { ...stored.process, lease } }))

/** The attempt that holds the lease instead of the one that asks. */
const asHolder = <C extends { readonly key: Key; readonly attempt: string }>(
  store: Store,
  command: C
): C => ({ ...command, attempt: leaseOf(store, command.key)?.attempt ?? command.attempt })

/** A change of accounts whose decision is altered before it is stored. */
const changing = (alteration: (change: AccountChange) => AccountChange): Mutation =>
  on("accounts", "change", (call, command) =>
    call({
      ...command,
      decide: (account) =>
        Result.map(command.decide(account), (decision) => ({
          ...decision,
          change: alteration(decision.change)
        }))
    })
  )

const withSupplier = (settings: Partial<Supplier>): Mutation =>
  on("configuration", "supplier", (call, code) =>
    Effect.map(
      call(code),
      Option.map((supplier) => ({ ...supplier, ...settings }))
    )
  )

const asOwner = <Caller>(caller: Caller, body: unknown): Caller => {
  const { payload } = body as { readonly payload: { readonly import_supplier: string } }
  const organisation = [...owners].find(([code]) => code === payload.import_supplier)?.[1]
  return { ...caller, organisation }
}

export const brokenImports: Defects = {
  "stage does not see the lease": {
    seed: 1,
    storage: on("imports", "stage", (stage, command, store) => {
      if (leaseOf(store, command.key) === null) return stage(command)
      alterImport(store, command.key, (stored) => ({ ...stored, payload: command.payload }))
      return Effect.succeed({ _tag: "Replaced" })
    })
  },
  "stage says so before anything is stored": {
    seed: 134,
    seen: 134,
    storage: on("imports", "stage", (stage, command, store) =>
      importOf(store, command.key) === undefined
        ? stage(command)
        : Effect.succeed({ _tag: "Replaced" })
    )
  },
  "stage lets an attempt keep its expired lease": {
    seed: 20,
    storage: on("imports", "stage", (stage, command, store) => {
      const { attempts = [], process } = importOf(store, command.key) ?? {}
      const lease = process?.lease ?? null
      return Effect.tap(stage(command), ({ _tag }) =>
        Effect.sync(() => {
          if (_tag !== "Replaced" || lease === null) return
          setLease(store, command.key, lease)
          alterImport(store, command.key, (stored) => ({ ...stored, attempts }))
        })
      )
    })
  },
  "claim takes a lease that somebody holds": {
    seed: 18,
    storage: before("imports", "claim", (store, { key }) => setLease(store, key, null))
  },
  "claim does not count the leases": {
    seed: 26,
    storage: on("imports", "claim", (claim, command) =>
      claim({ ...command, limits: { deployment: null, supplier: null } })
    )
  },
  "complete does not ask who holds the lease": {
    seed: 129,
    storage: on("imports", "complete", (complete, command, store) =>
      complete(asHolder(store, command))
    )
  },
  "complete forgets its event": {
    seed: 134,
    storage: after("imports", "complete", (store) => store.outbox.pop())
  },
  "dryRun leaves the account there": {
    seed: 1,
    seen: 1,
    storage: (storage) => ({
      imports: {
        ...storage.imports,
        dryRun: (command) =>
          Effect.catchTag(storage.imports.complete(command), "ReservationLost", Effect.die)
      }
    })
  },
  "release forgets the lease": {
    seed: 1,
    storage: on("imports", "release", (release, command, store) => {
      const lease = leaseOf(store, command.key)
      return Effect.tap(release(command), () =>
        Effect.sync(() => setLease(store, command.key, lease))
      )
    })
  },
  "release does not write down why": {
    seed: 1,
    storage: on("imports", "release", (release, command, store) => {
      const count = store.audit.length
      return Effect.tap(release(command), () => Effect.sync(() => store.audit.splice(count)))
    })
  },
  "renew serves any attempt": {
    seed: 206,
    storage: on("imports", "renew", (renew, command, store) => renew(asHolder(store, command)))
  },
  "skip does not see an account": {
    seed: 134,
    seen: 134,
    storage: on("imports", "setSkipped", (setSkipped, command, store) => {
      const { key, skipped } = command
      if ((importOf(store, key)?.process.account ?? null) === null) return setSkipped(command)
      alterImport(store, key, (stored) => ({ ...stored, process: { ...stored.process, skipped } }))
      return Effect.succeed({ _tag: "Set" })
    })
  },
  "the list of pending imports has the skipped ones": {
    seed: 9,
    storage: ({ imports }) => ({
      imports: {
        ...imports,
        list: (query) => imports.list(query.kind === "pending" ? { ...query, kind: "all" } : query)
      }
    })
  },
  "a decision is stored twice": {
    seed: 6,
    seen: 6,
    storage: changing((change) => ({
      ...change,
      transactions: [...change.transactions, ...change.transactions]
    }))
  },
  "a balance is a double": {
    seed: 5,
    storage: changing((change) => ({
      ...change,
      balance: BigDecimal.fromNumberUnsafe(Math.fround(Number(BigDecimal.format(change.balance))))
    }))
  },
  "what was decided is stored later": {
    seed: 34,
    storage: ({ accounts }, _store, wait) => {
      const change: typeof accounts.change = (command) =>
        Effect.gen(function* () {
          const seen = yield* accounts.view(command.key, command.lookup)
          if (Option.isNone(seen)) return yield* accounts.change(command)
          const decided = command.decide(seen.value)
          yield* wait("inside of Accounts.change", [])
          return yield* accounts.change({ ...command, decide: () => decided })
        })
      return { accounts: { ...accounts, change } }
    }
  },
  "notes are not looked up": {
    seed: 58,
    seen: 15,
    storage: on("accounts", "change", (change, command) =>
      change({ ...command, lookup: { ...command.lookup, notes: [] } })
    )
  },
  "every supplier's day is that of UTC": { seed: 22, storage: withSupplier({ timeZone: utc }) },
  "every supplier is Ongoing": { seed: 2, storage: withSupplier({ status: "Ongoing" }) },
  "stage lets a rival in": {
    seed: 63,
    seen: 13,
    programs: (programs) => ({
      ...programs,
      accountImport: {
        ...programs.accountImport,
        stage: (caller, body) => programs.accountImport.stage(asOwner(caller, body), body)
      }
    })
  },
  "stage answers before it has stored": {
    seed: 134,
    seen: 134,
    programs: (programs) => ({
      ...programs,
      accountImport: {
        ...programs.accountImport,
        stage: (caller, body) =>
          Effect.as(
            Effect.forkDetach(Effect.exit(programs.accountImport.stage(caller, body))),
            claimedStaging(body)
          )
      }
    })
  },
  "a failed stage is answered with success": {
    seed: 134,
    seen: 134,
    programs: (programs) => ({
      ...programs,
      accountImport: {
        ...programs.accountImport,
        stage: (caller, body) =>
          Effect.catchTag(programs.accountImport.stage(caller, body), "ServiceUnavailable", () =>
            Effect.succeed(claimedStaging(body))
          )
      }
    })
  }
}
