/** What became of the lines of a rehearsal, for everything that may happen in between. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Code } from "@data-import/domain/codes/Code"
import { RehearsalOutcomes } from "@data-import/domain/batches/RehearsalOutcomes"
import type { AttemptError } from "@data-import/domain/imports/ImportDetails"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import {
  begun,
  append,
  endOf,
  finish,
  found,
  linesOf,
  start,
  taken
} from "@data-import/domain/testing/begunBatches"
import { freshAttempt, freshSupplier, noonPlus } from "@data-import/domain/testing/freshNames"
import { complete, lease, noLimits, stagedHash } from "@data-import/domain/testing/importStates"
import { reverting } from "@data-import/domain/testing/RevertsContract"
import { PayloadHash } from "@data-import/domain/imports/ImportProcess"
import { layer as outcomes } from "../src/batches/RehearsalOutcomes.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.provideMerge(outcomes, TestDatabase.deployedWithTeam)

type Errors = ReadonlyArray<AttemptError & { readonly code: Code }>

const invalid = [{ code: "invalid", attr: "a" }] as unknown as Errors
const required = [{ code: "required", attr: "a" }] as unknown as Errors
const lacking = [{ code: "path_does_not_exist_in_file_store", attr: "a" }] as unknown as Errors

type Owner = Effect.Success<typeof freshSupplier>

interface Failing {
  readonly day?: string
  readonly dryRun?: boolean
  readonly errors?: Errors
}

/** An attempt that fails. */
const fail = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  seconds: number,
  { day = "day", dryRun = false, errors = invalid }: Failing = {}
) {
  const imports = yield* ImportProcesses
  const [key, at, attempt] = [keyOf(number), noonPlus(seconds), freshAttempt()]
  const claim = { key, attempt, dryRun, lease, limits: noLimits, judgedBy: day, caller, at }
  yield* imports.claim(claim)
  const outcome = "account_failed_validation"
  yield* imports.release({ key, attempt, outcome, errors, dryRun, caller, at })
})

/** A rehearsal in which these lines succeed. */
const rehearsed = Effect.fnUntraced(function* (
  of: Owner,
  numbers: ReadonlyArray<string>,
  succeeding: ReadonlyArray<string>
) {
  const rehearsal = yield* begun({ of, operation: "PROCESS", dryRun: true })
  yield* append(rehearsal, linesOf(...numbers))
  yield* start(rehearsal, numbers.length)
  const chunk = yield* taken(noonPlus(2))
  const ended = chunk.lines.map((line) =>
    endOf(succeeding.includes(line.externalAccountNumber ?? "") ? "SUCCEEDED" : "FAILED")(line)
  )
  yield* finish(chunk, ended, { at: noonPlus(2) })
  return yield* found(rehearsal)
})

layer(storage, { excludeTestServices: true })("an outcome", (it) => {
  it.effect("compares each line with the first attempt after it that was no dry run", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { caller, keyOf } = owner
      const imports = yield* ImportProcesses
      const stage = (number: string, seconds: number, hash = stagedHash) =>
        imports.stage({ key: keyOf(number), payload: "{}", hash, caller, at: noonPlus(seconds) })
      const numbers = [
        "created",
        "same",
        "other",
        "day",
        "payload",
        "document",
        "idle",
        "skipped",
        "reverted"
      ]
      for (const number of numbers) yield* stage(number, -30)
      const all = [...numbers, "unknown", "late"]
      for (const number of numbers.slice(1, -1)) yield* fail(owner, number, 1, { dryRun: true })
      const rehearsal = yield* rehearsed(owner, all, ["created", "reverted"])
      yield* fail(owner, "same", 4)
      yield* fail(owner, "same", 5, { errors: required })
      yield* fail(owner, "other", 4, { errors: required })
      yield* fail(owner, "day", 4, { day: "next day" })
      yield* stage("payload", 3, PayloadHash.make("1".repeat(64)))
      yield* fail(owner, "payload", 4)
      yield* fail(owner, "document", 4, { errors: lacking })
      yield* imports.setSkipped({ key: keyOf("skipped"), skipped: true, at: noonPlus(3) })
      const account = yield* complete(owner, "created", noonPlus(4))
      const reverted = yield* complete(owner, "reverted", noonPlus(4))
      yield* stage("late", 3)
      yield* complete(owner, "late", noonPlus(4))
      yield* reverting({ key: keyOf("reverted"), caller, number: reverted.number })
      expect(account.number).not.toBe(reverted.number)
      const query = { rehearsal, at: noonPlus(600), afterLine: 0, lines: all.length }
      const { counts, lines } = yield* RehearsalOutcomes
      const happened = yield* lines(query)
      expect(
        happened.map((line) => [line.external_account_number, line.happened, line.finally])
      ).toEqual([
        ["created", "CREATED", "IMPORTED"],
        ["same", "FAILED_AS_PREDICTED", "FAILED"],
        ["other", "FAILED_OTHERWISE", "FAILED"],
        ["day", "CHANGED", "FAILED"],
        ["payload", "CHANGED", "FAILED"],
        ["document", "CHANGED", "FAILED"],
        ["idle", "NOT_TRIED", "PENDING"],
        ["skipped", "SKIPPED", "SKIPPED"],
        ["reverted", "CREATED", "REVERTED"],
        ["unknown", "NOT_TRIED", "NEVER_STAGED"],
        ["late", "CHANGED", "IMPORTED"]
      ])
      expect(yield* lines({ ...query, afterLine: 2, lines: 2 })).toEqual(happened.slice(2, 4))
      const sum = (yield* counts(query)).reduce((total, each) => total + each.lines, 0)
      expect(sum).toBe(all.length)
    }).pipe(Effect.scoped)
  )
})
