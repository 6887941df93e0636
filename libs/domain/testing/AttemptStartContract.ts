/**
 * Starting an attempt, and renewing its lease: one part of the contract of `ImportProcesses`.
 */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { type Claim, ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { type ImportKey, stateAt } from "../src/imports/ImportProcess.ts"
import { smallBytes } from "../src/requests/WorkBudget.ts"
import { expectSame, freshAttempt, freshSupplier, noon, noonPlus } from "./freshNames.ts"
import {
  arrange,
  type ArrangedState,
  claim,
  importStates,
  lease,
  noLimits,
  stagedPayload,
  tracesOf,
  stagedHash
} from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const isClaimed: Record<ArrangedState, boolean> = {
  none: false,
  pending: true,
  skipped: false,
  "in progress": false,
  "lease expired": true,
  imported: false
}

const stateOf = Effect.fnUntraced(function* (key: ImportKey, at: typeof noon) {
  const imports = yield* ImportProcesses
  return stateAt(Option.getOrThrow(yield* imports.find(key)), at)
})

const inEveryState = (it: It): void => {
  it.effect.each(importStates)("answers as documented if the import is: %s", (state) =>
    Effect.gen(function* () {
      const { caller, found, key, now } = yield* arrange(state)
      const before = yield* tracesOf(key)
      const { attempt, claim: answer } = yield* claim(key, caller, now)
      const after = yield* tracesOf(key)
      if (!isClaimed[state]) {
        expectSame(answer, { _tag: "Refused", found })
        expectSame(after, before, "a refused claim changes nothing")
        return
      }
      expectSame(answer, { _tag: "Claimed", payload: stagedPayload })
      expectSame(yield* stateOf(key, now), {
        _tag: "InProgress",
        lease: { attempt, expiresAt: noonPlus(state === "pending" ? 90 : 120), isDryRun: false }
      })
      const begun = { id: attempt, dryRun: false, startedAt: now, endedAt: null, outcome: null }
      const closed = before.attempts.map((each) => ({
        ...each,
        endedAt: now,
        outcome: "lease_expired"
      }))
      expectSame(after.attempts, [...closed, { ...begun, errors: [] }])
      expectSame(after.audit, before.audit, "the audit log waits for the attempt's end")
      expectSame(after.events, before.events, "the outbox waits for the attempt's end")
    })
  )

  it.effect.each([true, false])("records whether the attempt is a dry run: %s", (dryRun) =>
    Effect.gen(function* () {
      const { caller, key } = yield* arrange("pending")
      const { attempt } = yield* claim(key, caller, noon, { dryRun })
      const { attempts } = yield* tracesOf(key)
      expect(attempts).toMatchObject([{ id: attempt, dryRun }])
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
  const renewed: Record<ArrangedState, boolean> = {
    none: false,
    pending: false,
    skipped: false,
    "in progress": true,
    "lease expired": false,
    imported: false
  }

  it.effect.each(importStates)("extends a live lease if the import is: %s", (state) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { attempt, key, now } = yield* arrange(state)
      const before = yield* tracesOf(key)
      expect(yield* imports.renew({ key, attempt, at: now, until: noonPlus(600) })).toBe(
        renewed[state]
      )
      const after = yield* tracesOf(key)
      if (!renewed[state]) return expectSame(after, before, "there was nothing to extend")
      const extended = { attempt, expiresAt: noonPlus(600), isDryRun: false }
      expectSame(yield* stateOf(key, now), { _tag: "InProgress", lease: extended })
      expectSame(yield* stateOf(key, noonPlus(599)), { _tag: "InProgress", lease: extended })
      expectSame(yield* stateOf(key, noonPlus(600)), { _tag: "Pending" })
      expectSame({ ...after, process: null }, { ...before, process: null }, "only the lease")
    })
  )

  it.effect.each(importStates)("refuses without the lease if the import is: %s", (state) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { key, now } = yield* arrange(state)
      const before = yield* tracesOf(key)
      const command = { key, attempt: freshAttempt(), at: now, until: noonPlus(600) }
      expect(yield* imports.renew(command)).toBe(false)
      expectSame(yield* tracesOf(key), before)
    })
  )

  it.effect("blocks other claims until the renewed expiry", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { attempt, caller, key } = yield* arrange("in progress")
      yield* imports.renew({ key, attempt, at: noonPlus(59), until: noonPlus(120) })
      const { claim: refused } = yield* claim(key, caller, noonPlus(119))
      expectSame(refused, {
        _tag: "Refused",
        found: { _tag: "InProgress", lease: { attempt, expiresAt: noonPlus(120), isDryRun: false } }
      })
      const { claim: claimed } = yield* claim(key, caller, noonPlus(120))
      expectSame(claimed, { _tag: "Claimed", payload: stagedPayload })
      const late = { key, attempt, at: noonPlus(121), until: noonPlus(600) }
      expect(yield* imports.renew(late), "it is lost").toBe(false)
    })
  )
}

const limitsAndStates = (it: It): void => {
  it.effect.each(importStates)("checks the state before the limits: %s", (state) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, found, key, now } = yield* arrange(state)
      const before = yield* tracesOf(key)
      for (const limits of [
        { deployment: 0, supplier: null },
        { deployment: null, supplier: 0 }
      ]) {
        const command = { key, attempt: freshAttempt(), dryRun: false, lease, limits, caller }
        const answer = yield* imports.claim({ ...command, at: now })
        expectSame(
          answer,
          isClaimed[state] ? { _tag: "LimitExceeded" } : { _tag: "Refused", found }
        )
        expectSame(yield* tracesOf(key), before, "nothing was changed")
      }
    })
  )

  it.effect("ignores a limit that is not set", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("pending")
      const command = { key, attempt: freshAttempt(), dryRun: false, lease, caller, at: noon }
      const answer = yield* imports.claim({ ...command, limits: noLimits })
      expectSame(answer, { _tag: "Claimed", payload: stagedPayload })
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
  inEveryState(it)
  atOnce(it)
  limitsAndStates(it)
}

/** Declares the tests of `renew`. */
export const renewalContract = renewal
