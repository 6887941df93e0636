/**
 * Adapters and programs that are broken on purpose, each by one plausible mistake. The simulation
 * must find every one.
 */
import { BigDecimal, Effect, Option, Result } from "effect"
import { utc } from "@data-import/domain/organisation/BusinessDay"
import { type ImportKey, PayloadHash } from "@data-import/domain/account/ImportProcess"
import type { Accounts } from "@data-import/domain/ports/Accounts"
import { importOf, type StoredImport } from "@data-import/domain/ports/memory/Store"
import type { AccountChange } from "@data-import/domain/account/AccountChange"
import type { Mutation } from "../InMemory.ts"
import type { Programs } from "../Programs.ts"
import { owners } from "../Traffic.ts"

type Store = Parameters<Mutation>[1]
type Change = Accounts["Service"]["change"]

const put = (store: Store, key: ImportKey, stored: StoredImport): void => {
  store.imports.get(key.import_supplier)?.set(key.external_account_number, stored)
}

const alter = (
  store: Store,
  key: ImportKey,
  how: (stored: StoredImport) => StoredImport
): StoredImport | undefined => {
  const present = importOf(store, key)
  if (present !== undefined) put(store, key, how(present))
  return present
}

const withoutLease = (stored: StoredImport): StoredImport => ({
  ...stored,
  process: { ...stored.process, lease: null }
})

/** A change of accounts whose decision is altered before it is stored. */
const changing =
  (alteration: (change: AccountChange) => AccountChange): Mutation =>
  ({ accounts }) => {
    const change: Change = (command) =>
      accounts.change({
        ...command,
        decide: (account) =>
          Result.map(command.decide(account), (decision) => ({
            ...decision,
            change: alteration(decision.change)
          }))
      })
    return { accounts: { ...accounts, change } }
  }

/** Decides on what it read before the call, and stores the decision after it. */
const decidingEarly: Mutation = ({ accounts }, _store, wait) => {
  const change: Change = (command) =>
    Effect.gen(function* () {
      const seen = yield* accounts.view(command.key, command.lookup)
      if (Option.isNone(seen)) return yield* accounts.change(command)
      const decided = command.decide(seen.value)
      yield* wait("inside of Accounts.change", [])
      return yield* accounts.change({ ...command, decide: () => decided })
    })
  return { accounts: { ...accounts, change } }
}

/** By what is wrong. */
export const brokenAdapters: Readonly<Record<string, Mutation>> = {
  "stage does not see the lease": ({ imports }, store) => ({
    imports: {
      ...imports,
      stage: (command) =>
        Effect.suspend(() => {
          const present = importOf(store, command.key)
          if (present === undefined || present.process.lease === null) {
            return imports.stage(command)
          }
          put(store, command.key, { ...present, payload: command.payload })
          return Effect.succeed({ _tag: "Replaced" } as const)
        })
    }
  }),
  "stage says so before anything is stored": ({ imports }, store) => ({
    imports: {
      ...imports,
      stage: (command) =>
        Effect.suspend(() =>
          importOf(store, command.key) === undefined
            ? imports.stage(command)
            : Effect.succeed({ _tag: "Replaced" } as const)
        )
    }
  }),
  "stage lets an attempt keep its expired lease": ({ imports }, store) => ({
    imports: {
      ...imports,
      stage: (command) =>
        Effect.gen(function* () {
          const present = importOf(store, command.key)
          const staging = yield* imports.stage(command)
          const lease = present?.process.lease ?? null
          if (staging._tag === "Replaced" && lease !== null) {
            alter(store, command.key, (stored) => ({
              ...stored,
              process: { ...stored.process, lease },
              attempts: present?.attempts ?? []
            }))
          }
          return staging
        })
    }
  }),
  "claim takes a lease that somebody holds": ({ imports }, store) => ({
    imports: {
      ...imports,
      claim: (command) =>
        Effect.suspend(() => {
          alter(store, command.key, withoutLease)
          return imports.claim(command)
        })
    }
  }),
  "claim does not count the leases": ({ imports }) => ({
    imports: {
      ...imports,
      claim: (command) =>
        imports.claim({ ...command, limits: { deployment: null, supplier: null } })
    }
  }),
  "complete does not ask who holds the lease": ({ imports }, store) => ({
    imports: {
      ...imports,
      complete: (command) =>
        Effect.suspend(() => {
          const holder = importOf(store, command.key)?.process.lease?.attempt
          return imports.complete({ ...command, attempt: holder ?? command.attempt })
        })
    }
  }),
  "complete forgets its event": ({ imports }, store) => ({
    imports: {
      ...imports,
      complete: (command) =>
        Effect.tap(imports.complete(command), () => Effect.sync(() => store.outbox.pop()))
    }
  }),
  "dryRun leaves the account there": ({ imports }) => ({
    imports: {
      ...imports,
      dryRun: (command) => Effect.catchTag(imports.complete(command), "ReservationLost", Effect.die)
    }
  }),
  "release forgets the lease": ({ imports }, store) => ({
    imports: {
      ...imports,
      release: (command) =>
        Effect.suspend(() => {
          const lease = importOf(store, command.key)?.process.lease ?? null
          return Effect.tap(imports.release(command), () =>
            Effect.sync(() =>
              alter(store, command.key, (stored) => ({
                ...stored,
                process: { ...stored.process, lease }
              }))
            )
          )
        })
    }
  }),
  "release does not write down why": ({ imports }, store) => ({
    imports: {
      ...imports,
      release: (command) =>
        Effect.suspend(() => {
          const count = store.audit.length
          return Effect.tap(imports.release(command), () =>
            Effect.sync(() => store.audit.splice(count))
          )
        })
    }
  }),
  "renew serves any attempt": ({ imports }, store) => ({
    imports: {
      ...imports,
      renew: (command) =>
        Effect.suspend(() => {
          const holder = importOf(store, command.key)?.process.lease?.attempt
          return imports.renew({ ...command, attempt: holder ?? command.attempt })
        })
    }
  }),
  "skip does not see an account": ({ imports }, store) => ({
    imports: {
      ...imports,
      setSkipped: (command) =>
        Effect.suspend(() => {
          const present = importOf(store, command.key)
          if (present === undefined || present.process.account === null)
            return imports.setSkipped(command)
          const process = { ...present.process, skipped: command.skipped }
          put(store, command.key, { ...present, process })
          return Effect.succeed({ _tag: "Set" } as const)
        })
    }
  }),
  "the list of pending imports has the skipped ones": ({ imports }) => ({
    imports: {
      ...imports,
      list: (query) => imports.list(query.kind === "pending" ? { ...query, kind: "all" } : query)
    }
  }),
  "a decision is stored twice": changing((change) => ({
    ...change,
    transactions: [...change.transactions, ...change.transactions]
  })),
  "a balance is a double": changing((change) => ({
    ...change,
    balance: BigDecimal.fromNumberUnsafe(Math.fround(Number(BigDecimal.format(change.balance))))
  })),
  "what was decided is stored later": decidingEarly,
  "notes are not looked up": ({ accounts }) => ({
    accounts: {
      ...accounts,
      change: (command) => accounts.change({ ...command, lookup: { ...command.lookup, notes: [] } })
    }
  }),
  "every supplier's day is that of UTC": ({ configuration }) => ({
    configuration: {
      ...configuration,
      supplier: (code) =>
        Effect.map(
          configuration.supplier(code),
          Option.map((supplier) => ({ ...supplier, timeZone: utc }))
        )
    }
  }),
  "every supplier is Ongoing": ({ configuration }) => ({
    configuration: {
      ...configuration,
      supplier: (code) =>
        Effect.map(
          configuration.supplier(code),
          Option.map((supplier) => ({ ...supplier, status: "Ongoing" as const }))
        )
    }
  })
}

const asOwner = <Caller>(caller: Caller, body: unknown): Caller => {
  const { payload } = body as { readonly payload: { readonly import_supplier: string } }
  const organisation = [...owners].find(([code]) => code === payload.import_supplier)?.[1]
  return { ...caller, organisation }
}

const unknownHash = PayloadHash.make("0".repeat(64))

/** By what is wrong. */
export const brokenPrograms: Readonly<Record<string, (programs: Programs) => Programs>> = {
  "stage lets a rival in": (programs) => ({
    ...programs,
    accountImport: {
      ...programs.accountImport,
      stage: (caller, body) => programs.accountImport.stage(asOwner(caller, body), body)
    }
  }),
  "stage answers before it has stored": (programs) => ({
    ...programs,
    accountImport: {
      ...programs.accountImport,
      stage: (caller, body) =>
        Effect.gen(function* () {
          yield* Effect.forkDetach(Effect.exit(programs.accountImport.stage(caller, body)))
          const { payload } = body as { readonly payload: ImportKey }
          return { first: false, key: payload, hash: unknownHash }
        })
    }
  }),
  "a failed stage is answered with success": (programs) => ({
    ...programs,
    accountImport: {
      ...programs.accountImport,
      stage: (caller, body) =>
        Effect.catchTag(programs.accountImport.stage(caller, body), "ServiceUnavailable", () =>
          Effect.succeed({
            first: false,
            key: (body as { readonly payload: ImportKey }).payload,
            hash: unknownHash
          })
        )
    }
  })
}
