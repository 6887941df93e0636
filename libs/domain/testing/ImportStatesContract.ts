/**
 * What every operation answers in every state of an import, and that an operation without effect
 * changes nothing: one part of the contract of `ImportProcesses`.
 */
import { expect, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { PayloadHash } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { expectSame, freshAttempt, newAccountFor, noonPlus } from "./freshNames.ts"
import {
  type Arranged,
  arrange,
  importStates,
  lease,
  noLimits,
  stagedHash,
  stagedPayload,
  tracesOf
} from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

type Imports = ImportProcesses["Service"]
type Run = (imports: Imports, arranged: Arranged) => Effect.Effect<unknown, unknown>

/** An answer by its tag or its value, and whether the operation stores something. */
type Answer = readonly [answer: string | boolean, hasEffect: boolean]

/** The answers by state, in the order of `importStates`. */
type Row = readonly [operation: string, run: Run, answers: ReadonlyArray<Answer>]

const payload = `{"staged":"anew"}`
const otherHash = PayloadHash.make("b".repeat(64))

const done = (answer: string | boolean): Answer => [answer, true]
const none = (answer: string | boolean): Answer => [answer, false]
const refused = none("Refused")
const always = (answer: Answer) => importStates.map(() => answer)

/** For attempts: the answer with the lease, live or expired, and the answer without. */
const withLease = (live: Answer, expired: Answer, without: Answer) => [
  ...[without, without, without],
  ...[live, expired, without]
]

const staging =
  (createOnly: boolean): Run =>
  (imports, { caller, key, now: at }) =>
    imports.stage({ key, payload, hash: otherHash, createOnly, caller, at })

const claiming =
  (limits: typeof noLimits | Record<keyof typeof noLimits, number | null>): Run =>
  (imports, { caller, key, now: at }) =>
    imports.claim({ key, attempt: freshAttempt(), dryRun: false, lease, limits, caller, at })

const ending =
  (operation: "complete" | "dryRun"): Run =>
  (imports, { account: newAccount, attempt, caller, key }) =>
    imports[operation]({ key, attempt, newAccount, caller })

const renewing: Run = (imports, { attempt, key, now: at }) =>
  imports.renew({ key, attempt, at, until: noonPlus(600) })

const releasing: Run = (imports, { attempt, caller, key, now: at }) =>
  Effect.as(
    imports.release({ key, attempt, outcome: "error", errors: [], dryRun: false, caller, at }),
    true
  )

const skipping =
  (skipped: boolean): Run =>
  (imports, { key, now: at }) =>
    imports.setSkipped({ key, skipped, at })

const cohorts: Run = (imports, { caller, key, now: at }) =>
  imports.setCohort({ key, cohort: "north", caller, at })

/** The operation of another attempt than the one that holds the import. */
const byAnother =
  (run: Run): Run =>
  (imports, arranged) =>
    run(imports, {
      ...arranged,
      attempt: freshAttempt(),
      account: newAccountFor(arranged.key, noonPlus(40))
    })

const [created, replaced, present] = [done("Created"), done("Replaced"), none("Present")]
const [claimed, limited, set] = [done("Claimed"), none("LimitExceeded"), done("Set")]
const ifFree = (answer: Answer) => [refused, answer, refused, refused, answer, refused]

const table: ReadonlyArray<Row> = [
  ["staging", staging(false), [created, replaced, refused, refused, replaced, refused]],
  [
    "staging only what is new",
    staging(true),
    [created, present, refused, refused, present, refused]
  ],
  ["a claim", claiming(noLimits), ifFree(claimed)],
  [
    "a claim beyond the deployment's limit",
    claiming({ ...noLimits, deployment: 0 }),
    ifFree(limited)
  ],
  ["a claim beyond the supplier's limit", claiming({ ...noLimits, supplier: 0 }), ifFree(limited)],
  ["a renewal", renewing, withLease(done(true), none(false), none(false))],
  [
    "a completion",
    ending("complete"),
    withLease(done("Completed"), done("Completed"), none("LeaseLost"))
  ],
  [
    "a dry run",
    ending("dryRun"),
    withLease(none("Completed"), none("Completed"), none("LeaseLost"))
  ],
  ["a release", releasing, withLease(done(true), done(true), none(true))],
  ["another's renewal", byAnother(renewing), always(none(false))],
  ["another's completion", byAnother(ending("complete")), always(none("LeaseLost"))],
  ["another's dry run", byAnother(ending("dryRun")), always(none("LeaseLost"))],
  ["another's release", byAnother(releasing), always(none(true))],
  ["skipping", skipping(true), [refused, set, none("Set"), refused, set, refused]],
  [
    "an end of skipping",
    skipping(false),
    [refused, none("Set"), set, refused, none("Set"), refused]
  ],
  ["a change of the cohort", cohorts, ifFree(set)]
]

const cases = table.flatMap(([operation, run, answers]) =>
  importStates.map((state, index) => ({ operation, state, run, answer: answers[index] ?? refused }))
)

const expected = (answer: string | boolean, { found }: Arranged): unknown => {
  if (typeof answer === "boolean") return answer
  if (answer === "Refused") return { _tag: answer, found }
  if (answer === "Present") return { _tag: answer, hash: stagedHash }
  return answer === "Claimed" ? { _tag: answer, payload: stagedPayload } : { _tag: answer }
}

/** Declares the tests of every operation in every state. */
export const importStatesContract = (it: It): void => {
  it.effect.each(cases)(
    "$operation if the import is: $state",
    ({ answer: [tag, hasEffect], run, state }) =>
      Effect.gen(function* () {
        const arranged = yield* arrange(state)
        const before = yield* tracesOf(arranged.key)
        const answer = yield* run(yield* ImportProcesses, arranged)
        expectSame(answer, expected(tag, arranged))
        const after = yield* tracesOf(arranged.key)
        if (hasEffect) expect(after).not.toEqual(before)
        else expectSame(after, before, "nothing is changed")
      })
  )
}
