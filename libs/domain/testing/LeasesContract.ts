/** How live leases are counted, also against limits: one part of the contract of ImportProcesses. */
import { expect, type Vitest } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportProcesses, type Claim } from "../src/imports/ImportProcesses.ts"
import { freshSupplier, noon, freshAttempt, newAccountFor, noonPlus } from "./freshNames.ts"
import { claim, lease, stagedContent, stageAll } from "./importStates.ts"
import type { AttemptId, ImportKey } from "../src/imports/ImportProcess.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

/** Long after the other imports of the store, so that only those of these tests are held. */
const later = DateTime.add(noon, { days: 2_000 })

export const leasesContract = (it: It): void => {
  it.effect("are held until they expire, and are gone with their attempt", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("n")
      yield* imports.stage({ key, ...stagedContent, caller, at: later })
      const before = yield* imports.leases(later)
      expect(before.held).toBe(0)
      const { attempt } = yield* claim(key, caller, later)
      expect(yield* imports.leases(later)).toEqual({ ...before, held: 1 })
      const end = DateTime.addDuration(later, lease)
      const died = { held: 0, expired: before.expired + 1 }
      expect(yield* imports.leases(end)).toEqual(died)
      const outcome = "account_failed_validation" as const
      yield* imports.release({ key, attempt, outcome, errors: [], dryRun: false, caller, at: end })
      expect(yield* imports.leases(end)).toEqual(before)
    })
  )
}

type Limits = { readonly deployment: number | null; readonly supplier: number | null }

/** A supplier with this many pending imports. */
const supplierWith = Effect.fnUntraced(function* (imports: number) {
  const { caller, keyOf } = yield* freshSupplier
  const keys = Array.from({ length: imports }, (_, index) => keyOf(`account ${index}`))
  yield* stageAll(keys, caller)
  return { caller, keys }
})

const claimWithin = Effect.fnUntraced(function* (
  key: ImportKey | undefined,
  caller: Caller,
  limits: Limits,
  at: DateTime.Utc,
  attempt: AttemptId = freshAttempt()
): Effect.fn.Return<Claim["_tag"], unknown, ImportProcesses> {
  const imports = yield* ImportProcesses
  if (key === undefined) return yield* Effect.die("the test has staged too few imports")
  const command = { key, attempt, dryRun: false, lease, limits, caller, at }
  return (yield* imports.claim(command))._tag
})

const release = Effect.fnUntraced(function* (
  key: ImportKey,
  attempt: AttemptId,
  caller: Caller,
  at: DateTime.Utc
) {
  const imports = yield* ImportProcesses
  const end = { outcome: "error", errors: [], dryRun: false } as const
  yield* imports.release({ key, attempt, caller, at, ...end })
})

/**
 * The deployment is the whole shared store, so its leases are counted at an instant that no other
 * test uses, and released at the end.
 */
const anotherEra = (): DateTime.Utc =>
  DateTime.add(noon, { days: 400_000 + Math.floor(Math.random() * 400_000) })

const ofSupplier = (it: It): void => {
  const two: Limits = { deployment: null, supplier: 2 }

  it.effect("allows a supplier as many live leases as its limit", () =>
    Effect.gen(function* () {
      const { caller, keys } = yield* supplierWith(4)
      expect(yield* claimWithin(keys[0], caller, two, noon)).toBe("Claimed")
      expect(yield* claimWithin(keys[1], caller, two, noon)).toBe("Claimed")
      expect(yield* claimWithin(keys[2], caller, two, noonPlus(59))).toBe("LimitExceeded")
      const three = { ...two, supplier: 3 }
      expect(yield* claimWithin(keys[2], caller, three, noonPlus(59))).toBe("Claimed")
      expect(yield* claimWithin(keys[3], caller, three, noonPlus(59))).toBe("LimitExceeded")
    })
  )

  it.effect("does not count expired leases, even of the same import", () =>
    Effect.gen(function* () {
      const { caller, keys } = yield* supplierWith(3)
      yield* claimWithin(keys[0], caller, two, noon)
      yield* claimWithin(keys[1], caller, two, noonPlus(1))
      expect(yield* claimWithin(keys[2], caller, two, noonPlus(59))).toBe("LimitExceeded")
      expect(yield* claimWithin(keys[0], caller, two, noonPlus(60)), "again").toBe("Claimed")
      expect(yield* claimWithin(keys[2], caller, two, noonPlus(61)), "in place").toBe("Claimed")
    })
  )

  it.effect("counts a renewed lease", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keys } = yield* supplierWith(2)
      const [first, second] = keys as [ImportKey, ImportKey]
      const attempt = freshAttempt()
      const one: Limits = { deployment: null, supplier: 1 }
      yield* claimWithin(first, caller, one, noon, attempt)
      yield* imports.renew({ key: first, attempt, at: noonPlus(30), until: noonPlus(120) })
      expect(yield* claimWithin(second, caller, one, noonPlus(119))).toBe("LimitExceeded")
      expect(yield* claimWithin(second, caller, one, noonPlus(120))).toBe("Claimed")
    })
  )

  it.effect("does not count released or completed leases", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keys } = yield* supplierWith(3)
      const [first, second, third] = keys as [ImportKey, ImportKey, ImportKey]
      const [a, b] = [freshAttempt(), freshAttempt()]
      yield* claimWithin(first, caller, two, noon, a)
      yield* claimWithin(second, caller, two, noon, b)
      expect(yield* claimWithin(third, caller, two, noon)).toBe("LimitExceeded")
      yield* release(first, a, caller, noon)
      expect(yield* claimWithin(third, caller, two, noon)).toBe("Claimed")
      expect(yield* claimWithin(first, caller, two, noon)).toBe("LimitExceeded")
      const newAccount = newAccountFor(second, noon)
      yield* imports.complete({ key: second, attempt: b, newAccount, caller })
      expect(yield* claimWithin(first, caller, two, noon)).toBe("Claimed")
    })
  )

  it.effect("does not count leases of another supplier", () =>
    Effect.gen(function* () {
      const busy = yield* supplierWith(2)
      const idle = yield* supplierWith(1)
      yield* claimWithin(busy.keys[0], busy.caller, two, noon)
      yield* claimWithin(busy.keys[1], busy.caller, two, noon)
      const one: Limits = { deployment: null, supplier: 1 }
      expect(yield* claimWithin(idle.keys[0], idle.caller, one, noon)).toBe("Claimed")
    })
  )
}

const atOnce = (it: It): void => {
  it.effect("enforces the supplier's limit on concurrent claims", () =>
    Effect.gen(function* () {
      const { caller, keys } = yield* supplierWith(20)
      const limits: Limits = { deployment: null, supplier: 3 }
      const tags = yield* Effect.forEach(keys, (key) => claimWithin(key, caller, limits, noon), {
        concurrency: "unbounded"
      })
      expect(tags.filter((tag) => tag === "Claimed")).toHaveLength(3)
      expect(tags.filter((tag) => tag === "LimitExceeded")).toHaveLength(17)
    })
  )

  it.effect("enforces the deployment's limit on concurrent claims of several suppliers", () =>
    Effect.gen(function* () {
      const at = anotherEra()
      const limits: Limits = { deployment: 3, supplier: null }
      const suppliers = [yield* supplierWith(8), yield* supplierWith(8)]
      const claims = suppliers
        .flatMap(({ caller, keys }) =>
          keys.map((key) => ({ key, caller, attempt: freshAttempt() }))
        )
        .map(({ attempt, caller, key }) => ({
          run: claimWithin(key, caller, limits, at, attempt),
          undo: release(key, attempt, caller, at)
        }))
      const tags = yield* Effect.forEach(claims, ({ run }) => run, {
        concurrency: "unbounded"
      }).pipe(Effect.ensuring(Effect.forEach(claims, ({ undo }) => Effect.orDie(undo))))
      expect(tags.filter((tag) => tag === "Claimed")).toHaveLength(3)
      expect(tags.filter((tag) => tag === "LimitExceeded")).toHaveLength(13)
    })
  )
}

/** Declares the tests of the limits of `claim`. */
export const limitContract = (it: It): void => {
  ofSupplier(it)
  atOnce(it)
}
