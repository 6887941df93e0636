/** How an attempt starts, is renewed, and ends without an account: one part of the contract of ImportProcesses. */
import { type Vitest, expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { type Claim, ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { type ImportKey, stateAt } from "../src/imports/ImportProcess.ts"
import { smallBytes } from "../src/requests/WorkBudget.ts"
import { expectSame, freshAttempt, freshSupplier, noon, noonPlus } from "./freshNames.ts"
import { arrange, claim, stagedPayload, tracesOf, stagedHash, auditEntry } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const stateOf = Effect.fnUntraced(function* (key: ImportKey, at: typeof noon) {
  const imports = yield* ImportProcesses
  return stateAt(Option.getOrThrow(yield* imports.find(key)), at)
})

const starting = (it: It): void => {
  it.effect.each([
    { state: "pending", dryRun: true, until: 90 },
    { state: "lease expired", dryRun: false, until: 120 }
  ] as const)("starts an attempt if the import is: $state", ({ dryRun, state, until }) =>
    Effect.gen(function* () {
      const { caller, key, now } = yield* arrange(state)
      const before = yield* tracesOf(key)
      const { attempt, claim: answer } = yield* claim(key, caller, now, { dryRun })
      const after = yield* tracesOf(key)
      expectSame(answer, { _tag: "Claimed", payload: stagedPayload })
      expectSame(yield* stateOf(key, now), {
        _tag: "InProgress",
        lease: { attempt, expiresAt: noonPlus(until), isDryRun: dryRun }
      })
      const closed = { endedAt: now, outcome: "lease_expired" }
      const begun = { id: attempt, dryRun, startedAt: now, endedAt: null, outcome: null }
      expectSame(after.attempts, [
        ...before.attempts.map((each) => ({ ...each, ...closed })),
        { ...begun, errors: [] }
      ])
      const { audit, events } = before
      expectSame(after, { ...after, audit, events }, "these wait for the attempt's end")
    })
  )
}

const atOnce = (it: It): void => {
  it.effect("grants the import to exactly one of twenty concurrent claims", () =>
    Effect.gen(function* () {
      const { caller, key } = yield* arrange("pending")
      const claims = yield* Effect.all(
        Array.from({ length: 20 }, () => claim(key, caller, noon)),
        { concurrency: "unbounded" }
      )
      const [winner, ...others] = claims.filter(({ claim }) => claim._tag === "Claimed")
      expect(others, "no second attempt").toStrictEqual([])
      const found = {
        _tag: "InProgress",
        lease: { attempt: winner?.attempt, expiresAt: noonPlus(60), isDryRun: false }
      }
      for (const { attempt, claim: answer } of claims) {
        if (attempt !== winner?.attempt) expectSame(answer, { _tag: "Refused", found })
      }
      const { attempts } = yield* tracesOf(key)
      expect(attempts.map(({ id }) => id)).toStrictEqual([winner?.attempt])
    })
  )

  it.effect("grants an import with an expired lease to exactly one of twenty claims", () =>
    Effect.gen(function* () {
      const { attempt: dead, caller, key, now } = yield* arrange("lease expired")
      const claims: ReadonlyArray<{ readonly claim: Claim }> = yield* Effect.all(
        Array.from({ length: 20 }, () => claim(key, caller, now)),
        { concurrency: "unbounded" }
      )
      expect(claims.filter(({ claim }) => claim._tag === "Claimed")).toHaveLength(1)
      const { attempts } = yield* tracesOf(key)
      expect(attempts).toMatchObject([{ id: dead, outcome: "lease_expired" }, { outcome: null }])
    })
  )
}

const renewal = (it: It): void => {
  it.effect("extends a live lease, and nothing else", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { attempt, key, now } = yield* arrange("in progress")
      const before = yield* tracesOf(key)
      expect(yield* imports.renew({ key, attempt, at: now, until: noonPlus(600) })).toBe(true)
      const extended = { attempt, expiresAt: noonPlus(600), isDryRun: false }
      expectSame(yield* stateOf(key, noonPlus(599)), { _tag: "InProgress", lease: extended })
      expectSame(yield* stateOf(key, noonPlus(600)), { _tag: "Pending" })
      expectSame({ ...(yield* tracesOf(key)), process: null }, { ...before, process: null })
    })
  )
}

const largePayloads = (it: It): void => {
  it.effect("returns the size of a large payload, which only its attempt can read", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("large")
      const textOf = (bytes: number) => JSON.stringify("ø".repeat(bytes / 2 - 1))
      for (const bytes of [smallBytes, smallBytes + 2]) {
        const payload = textOf(bytes)
        yield* imports.stage({ key, payload, hash: stagedHash, caller, at: noon })
        const { attempt, claim: answer } = yield* claim(key, caller, noon)
        const expected = bytes === smallBytes ? payload : { bytes }
        expect(answer).toEqual({ _tag: "Claimed", payload: expected })
        const read = yield* imports.stagedPayload({ key, attempt })
        expect(Option.contains(read, payload)).toBe(true)
        const other = yield* imports.stagedPayload({ key, attempt: freshAttempt() })
        expect(Option.isNone(other)).toBe(true)
        const ended = { key, attempt, errors: [], dryRun: false, caller, at: noon }
        yield* imports.release({ ...ended, outcome: "error" })
        expect(Option.isNone(yield* imports.stagedPayload({ key, attempt }))).toBe(true)
      }
    })
  )
}

/** Declares the tests of `claim`, apart from counting leases. */
export const claimContract = (it: It): void => {
  largePayloads(it)
  starting(it)
  atOnce(it)
}

/** Declares the tests of `renew`. */
export const renewalContract = renewal

const failed = {
  outcome: "account_failed_validation",
  errors: [
    { code: "invalid_phone_number", attr: "customers.0.landline" },
    { code: "required", attr: "ledgers.0.ledger_code" },
    { code: "invalid_phone_number", attr: "customers.1.mobile" }
  ],
  dryRun: false
} as const

const releasing = (it: It): void => {
  it.effect.each(["in progress", "lease expired"] as const)(
    "ends the attempt and frees the import if it is: %s",
    (state) =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { attempt, caller, key } = yield* arrange(state)
        const at = noonPlus(70)
        const before = yield* tracesOf(key)
        yield* imports.release({ key, attempt, caller, at, ...failed })
        const { errors, outcome } = failed
        const codes = ["account_failed_validation", "invalid_phone_number", "required"]
        const event = { at, name: "data_import.import_process.error-v1", codes }
        expectSame(yield* tracesOf(key), {
          process: { ...before.process, lease: null },
          attempts: before.attempts.map((each) => ({ ...each, endedAt: at, outcome, errors })),
          audit: [...before.audit, auditEntry(caller, at, "process", outcome)],
          events: [...before.events, event]
        })
        const { claim: next } = yield* claim(key, caller, at)
        expectSame(next, { _tag: "Claimed", payload: stagedPayload })
      })
  )
}

const eventsAndAudit = (it: It): void => {
  it.effect.each([
    { dryRun: false, outcome: "error", name: "error-v1" },
    { dryRun: true, outcome: "operations_team_name_does_not_exist", name: "dry_run_error-v1" },
    { dryRun: true, outcome: "dry_run_successful", name: "dry_run_complete-v1" }
  ] as const)("publishes for $outcome the event $name", ({ dryRun, name, outcome }) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("pending")
      const { attempt } = yield* claim(key, caller, noon, { dryRun })
      const at = noonPlus(1)
      yield* imports.release({ key, attempt, outcome, errors: [], dryRun, caller, at })
      const { attempts, audit, events } = yield* tracesOf(key)
      expectSame(events.at(-1), {
        at,
        name: `data_import.import_process.${name}`,
        codes: [outcome]
      })
      expectSame(audit.at(-1), auditEntry(caller, at, "process", outcome))
      const ended = { dryRun, startedAt: noon, endedAt: at, outcome, errors: [] }
      expectSame(attempts, [{ id: attempt, ...ended }])
    })
  )
}

const skipping = (it: It): void => {
  it.effect("either skips the import or loses it to an attempt", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("pending")
      const [skip, { claim: claimed }] = yield* Effect.all(
        [imports.setSkipped({ key, skipped: true, at: noon }), claim(key, caller, noon)],
        { concurrency: "unbounded" }
      )
      expect([
        ["Set", "Refused"],
        ["Refused", "Claimed"]
      ]).toContainEqual([skip._tag, claimed._tag])
    })
  )
}

/** Declares the tests of `release`. */
export const releaseContract = (it: It): void => {
  releasing(it)
  eventsAndAudit(it)
}

/** Declares the tests of `setSkipped`. */
export const skippingContract = (it: It): void => {
  skipping(it)
}
