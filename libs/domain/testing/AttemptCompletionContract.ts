/**
 * Completion of an attempt, and the rollback of a dry run: one part of the contract of
 * `ImportProcesses`.
 */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { expectSame, newAccountFor, noonPlus, times } from "./freshNames.ts"
import { arrange, auditEntry, claim, tracesOf, stagedHash } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const completing = (it: It): void => {
  it.effect.each(["in progress", "lease expired"] as const)(
    "creates the account if the import is: %s",
    (state) =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { account, attempt, caller, key } = yield* arrange(state)
        const before = yield* tracesOf(key)
        yield* imports.complete({ key, attempt, newAccount: account, caller })
        const { createdAt, number } = account
        const name = "data_import.import_process.complete-v1"
        expectSame(yield* tracesOf(key), {
          process: { ...before.process, lease: null, account: { number, createdAt } },
          attempts: before.attempts.map((each) => ({
            ...each,
            endedAt: createdAt,
            outcome: "created"
          })),
          audit: [...before.audit, auditEntry(caller, createdAt, "process", "created")],
          events: [...before.events, { at: createdAt, name, codes: [] }]
        })
      })
  )

  it.effect("writes the event of a due e-mail after that of the account, if it is wanted", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key } = yield* arrange("in progress")
      const newAccount = { ...account, customerEmails: true }
      const command = { key, attempt, newAccount, caller }
      const before = yield* tracesOf(key)
      yield* imports.dryRun(command)
      expectSame(yield* tracesOf(key), before, "a dry run stored something")
      yield* imports.complete(command)
      const after = yield* tracesOf(key)
      const at = account.createdAt
      expectSame(after.events, [
        ...before.events,
        { at, name: "data_import.import_process.complete-v1", codes: [] },
        { at, name: "data_import.import_process.customer_email_due-v1", codes: [] }
      ])
      expectSame(after.audit, [...before.audit, auditEntry(caller, at, "process", "created")])
    })
  )

  it.effect("stores nothing for an attempt whose import was taken over", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key, now } = yield* arrange("lease expired")
      const { attempt: successor } = yield* claim(key, caller, now)
      const before = yield* tracesOf(key)
      const lost = yield* imports.complete({ key, attempt, newAccount: account, caller })
      expectSame(lost, { _tag: "LeaseLost" })
      expectSame(yield* tracesOf(key), before, "the one who lost it changes nothing")
      const won = { key, attempt: successor, newAccount: account, caller }
      expectSame(yield* imports.complete(won), { _tag: "Completed" })
    })
  )
}

const numbers = (it: It): void => {
  it.effect.each(["complete", "dryRun"] as const)("refuses a taken account number: %s", (step) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account: taken } = yield* arrange("imported")
      const { attempt, caller, key } = yield* arrange("in progress")
      const before = yield* tracesOf(key)
      const newAccount = newAccountFor(key, noonPlus(20), taken.number)
      const answer = yield* imports[step]({ key, attempt, newAccount, caller })
      expectSame(answer, { _tag: "NumberTaken" })
      expectSame(yield* tracesOf(key), before, "nothing was stored, the attempt is still held")
      const another = newAccountFor(key, noonPlus(20))
      const again = yield* imports.complete({ key, attempt, newAccount: another, caller })
      expectSame(again, { _tag: "Completed" })
    })
  )

  it.effect("gives an account number to exactly one of several concurrent imports", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const arranged = yield* Effect.all(Array.from({ length: 6 }, () => arrange("in progress")))
      const number = arranged[0]?.account.number
      const tags = yield* Effect.forEach(
        arranged,
        ({ attempt, caller, key }) =>
          imports.complete({
            key,
            attempt,
            newAccount: newAccountFor(key, noonPlus(20), number),
            caller
          }),
        { concurrency: "unbounded" }
      )
      expect(tags.map(({ _tag }) => _tag).toSorted()).toStrictEqual([
        "Completed",
        ...times(5, "NumberTaken")
      ])
      for (const [index, { key }] of arranged.entries()) {
        const { attempts, process } = yield* tracesOf(key)
        const won = tags[index]?._tag === "Completed"
        expectSame(process?.account?.number ?? null, won ? number : null)
        expectSame(attempts[0]?.outcome, won ? "created" : null)
      }
    })
  )
}

const dryRuns = (it: It): void => {
  it.effect("leaves the account number to the next attempt", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key } = yield* arrange("in progress")
      const command = { key, attempt, newAccount: account, caller }
      expectSame(yield* imports.dryRun(command), { _tag: "Completed" })
      expectSame(yield* imports.dryRun(command), { _tag: "Completed" }, "a second time")
      const other = yield* arrange("in progress")
      const newAccount = newAccountFor(other.key, noonPlus(20), account.number)
      const taken = yield* imports.complete({ ...other, newAccount })
      expectSame(taken, { _tag: "Completed" })
      expectSame(yield* imports.dryRun(command), { _tag: "NumberTaken" })
    })
  )
}

const atOnce = (it: It): void => {
  it.effect("creates one account if the attempt completes several times concurrently", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { attempt, caller, key } = yield* arrange("in progress")
      const tags = yield* Effect.forEach(
        Array.from({ length: 8 }, () => newAccountFor(key, noonPlus(20))),
        (newAccount) => imports.complete({ key, attempt, newAccount, caller }),
        { concurrency: "unbounded" }
      )
      expect(tags.map(({ _tag }) => _tag).toSorted()).toStrictEqual([
        "Completed",
        ...times(7, "LeaseLost")
      ])
      const { audit } = yield* tracesOf(key)
      expect(audit.filter(({ action }) => action === "process")).toHaveLength(1)
    })
  )

  it.effect("either creates the account or loses the import to the next attempt", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key, now } = yield* arrange("lease expired")
      const [completion, next] = yield* Effect.all(
        [imports.complete({ key, attempt, newAccount: account, caller }), claim(key, caller, now)],
        { concurrency: "unbounded" }
      )
      const outcome = [completion._tag, next.claim._tag]
      expect([
        ["Completed", "Refused"],
        ["LeaseLost", "Claimed"]
      ]).toContainEqual(outcome)
      const { attempts, process } = yield* tracesOf(key)
      const completed = completion._tag === "Completed"
      expect(process?.account === null).toBe(!completed)
      expect(attempts[0]?.outcome).toBe(completed ? "created" : "lease_expired")
    })
  )

  it.effect("either creates the account or loses the import to a staging", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key, now } = yield* arrange("lease expired")
      const [completion, staging] = yield* Effect.all(
        [
          imports.complete({ key, attempt, newAccount: account, caller }),
          imports.stage({ key, payload: `{}`, hash: stagedHash, caller, at: now })
        ],
        { concurrency: "unbounded" }
      )
      expect([
        ["Completed", "Refused"],
        ["LeaseLost", "Replaced"]
      ]).toContainEqual([completion._tag, staging._tag])
    })
  )
}

/** Declares the tests of `complete`. */
export const completionContract = (it: It): void => {
  completing(it)
  numbers(it)
  atOnce(it)
}

/** Declares the tests of `dryRun` alone. */
export const dryRunContract = dryRuns
