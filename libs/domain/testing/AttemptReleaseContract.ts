/**
 * How an attempt ends without an account, and how the operator skips an import: one part of the
 * contract of `ImportProcesses`.
 */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { expectSame, noon, noonPlus } from "./freshNames.ts"
import { arrange, auditEntry, claim, stagedPayload, tracesOf } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

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

  it.effect("leaves the import to the attempt that took it over", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key, now } = yield* arrange("lease expired")
      const { attempt: successor } = yield* claim(key, caller, now)
      yield* imports.release({ key, attempt, caller, at: now, ...failed })
      const { attempts } = yield* tracesOf(key)
      expect(attempts).toMatchObject([{ outcome: "lease_expired" }, { outcome: null }])
      const command = { key, attempt: successor, newAccount: account, caller }
      expectSame(yield* imports.complete(command), { _tag: "Completed" })
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
  it.effect("ends an attempt with an expired lease permanently", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key, now } = yield* arrange("lease expired")
      yield* imports.setSkipped({ key, skipped: true, at: now })
      const skipped = yield* tracesOf(key)
      expectSame(skipped.process, {
        key,
        skipped: true,
        erased: false,
        lease: null,
        account: null,
        revertedAt: null
      })
      expectSame(skipped.attempts, [
        {
          id: attempt,
          dryRun: false,
          startedAt: noon,
          endedAt: now,
          outcome: "lease_expired",
          errors: []
        }
      ])
      yield* imports.setSkipped({ key, skipped: false, at: now })
      const command = { key, attempt, newAccount: account, caller }
      expectSame(yield* imports.complete(command), { _tag: "LeaseLost" })
    })
  )

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
