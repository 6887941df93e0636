/**
 * Refused lines count once their batch has ended, until an import of their number is stored.
 * Nothing else may take lines.
 */
import { expect, layer } from "@effect/vitest"
import { type DateTime, Effect, Stream } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import * as Batch from "@data-import/domain/batches/Batch"
import { Batches } from "@data-import/domain/batches/Batches"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Migrations } from "@data-import/domain/migrations/Migrations"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import {
  type BatchOptions,
  type Begun,
  begun,
  append,
  cancelled,
  createdIn,
  createFor,
  decided,
  endOf,
  finish,
  lineOf,
  start,
  started,
  taken
} from "@data-import/domain/testing/begunBatches"
import {
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import { claim, stagedContent } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { refusalsBy } from "../src/migrations/WholeFailures.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

type Owner = Omit<Begun, "id">
type Lines = ReadonlyArray<ReturnType<typeof lineOf>>

/** A started batch with these lines. */
const sent = Effect.fnUntraced(function* (of: Owner, lines: Lines, options: BatchOptions = {}) {
  const batch = yield* begun({ of, ...options })
  yield* append(batch, lines)
  yield* start(batch, lines.length)
  return batch
})

/** Refuses every line that can be taken. */
const refuse = Effect.gen(function* () {
  const chunk = yield* taken()
  yield* finish(chunk, chunk.lines.map(endOf("FAILED")))
}).pipe(Effect.scoped)

const refused = (of: Owner, lines: Lines, options: BatchOptions = {}) =>
  Effect.tap(sent(of, lines, options), () => refuse)

const notes = { operation: "NOTES" } as const

/** How many lines a retry of the batch leaves out. */
const leftOut = Effect.fnUntraced(function* (
  of: Owner,
  retryOf: Batch.BatchId,
  options: BatchOptions = notes
) {
  const created = yield* createFor(of, { ...options, retryOf })
  yield* cancelled({ ...of, id: createdIn(created).id })
  return created._tag === "Created" ? created.leftOut : null
})

const stage = Effect.fnUntraced(function* (
  { caller, supplier }: Owner,
  number: string,
  at: DateTime.Utc = noon
) {
  const external_account_number = ExternalAccountNumber.make(number)
  const key = { import_supplier: supplier.code, external_account_number }
  const staging = { key, ...stagedContent, caller, at }
  yield* (yield* ImportProcesses).stage(staging)
  return key
})

const imported = Effect.fnUntraced(function* (of: Owner, number: string) {
  const key = yield* stage(of, number)
  const { attempt } = yield* claim(key, of.caller, noon)
  const newAccount = newAccountFor(key, noonPlus(1))
  yield* (yield* ImportProcesses).complete({ key, attempt, newAccount, caller: of.caller })
})

/** As the summaries, the list of migrations and its cohorts have it; all must be the same. */
const countOf = Effect.fnUntraced(function* ({ supplier: { code: supplier } }: Owner) {
  const summaries = yield* SupplierSummaries
  const migrations = yield* Migrations
  const { linesRefused } = yield* summaries.read({ supplier, cohort: null, at: noon })
  const [listed] = yield* migrations.overview({ suppliers: [supplier], at: noon })
  expect(listed?.linesRefused).toBe(linesRefused)
  const { cohorts, others } = yield* migrations.cohorts({ supplier, limit: 1, at: noon })
  const parts = [...cohorts, others].map((each) => each.linesRefused)
  expect(parts.reduce((sum, each) => sum + each, 0)).toBe(linesRefused)
  return linesRefused
})

const fold = Effect.flatMap(SupplierSummaries, ({ fold: once }) =>
  Effect.repeat(once({ limit: 100, at: noonPlus(1) }), { while: (count) => count > 0 })
)

const counting = (it: TestDatabase.It): void => {
  it.effect("counts a refused line once its batch has ended, until its number is staged", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      yield* stage(of, "there")
      // The second line of a number waits for the first.
      yield* sent(
        of,
        ["a", "b", "there", "a"].map((number) => lineOf(number))
      )
      yield* refuse
      expect(yield* countOf(of)).toBe(0)
      yield* refuse
      expect(yield* countOf(of)).toBe(2)
      yield* fold
      yield* stage(of, "a")
      expect(yield* countOf(of)).toBe(1)
      yield* fold
      expect(yield* countOf(of)).toBe(1)
      yield* stage(of, "b")
      expect(yield* countOf(of)).toBe(0)
    })
  )

  it.effect("counts a number of several batches, and the same unreadable line, once", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      const lines = [lineOf("a"), lineOf(null, "{"), lineOf(null, "["), lineOf(null, "{")]
      yield* refused(of, lines)
      yield* refused(of, lines, { operation: "PROCESS", cohort: null })
      expect(yield* countOf(of)).toBe(3)
      const query = { supplier: of.supplier.code, cohort: null }
      const listed = yield* Stream.runCollect(refusalsBy(2)(yield* Database, query))
      expect(listed.map(({ line, number }) => [line, number])).toEqual([
        [1, "a"],
        [2, null],
        [3, null]
      ])
      const other = yield* freshSupplier
      yield* refused(other, lines)
      yield* stage(other, "a")
      expect(yield* countOf(of)).toBe(3)
    })
  )

  it.effect("counts a number of a batch that has ended, although one before it goes on", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      yield* started(["a", "b"], { of })
      const ending = Effect.flatMap(taken(), (chunk) =>
        finish(chunk, chunk.lines.slice(0, 1).map(endOf("FAILED")), {
          postponed: chunk.lines.slice(1).map(({ line }) => ({ line, isCounted: false })),
          readyAt: noonPlus(3_600)
        })
      )
      yield* Effect.scoped(ending)
      expect(yield* countOf(of)).toBe(0)
      yield* started(["a"], { of })
      yield* Effect.scoped(ending)
      expect(yield* countOf(of)).toBe(1)
    })
  )

  it.effect("counts refused lines of a cancelled batch, and not those it cancelled", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      const batch = yield* sent(of, [lineOf("a"), lineOf("a"), lineOf("b")])
      yield* refuse
      expect(yield* countOf(of)).toBe(0)
      yield* cancelled(batch)
      expect(yield* countOf(of)).toBe(2)
    })
  )

  it.effect("counts no line that stores nothing when it succeeds", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      for (const options of [
        { operation: "VALIDATE" },
        { operation: "IMPORT", dryRun: true },
        { operation: "NOTES" }
      ] as const) {
        yield* refused(of, [lineOf("a"), lineOf(null, "{")], options)
      }
      expect(yield* countOf(of)).toBe(0)
    })
  )
}

const keeping = (it: TestDatabase.It): void => {
  it.effect("counts by the cohort of the batch", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      yield* refused(of, [lineOf("a")], { cohort: "one" })
      yield* refused(of, [lineOf("b"), lineOf("c")], { cohort: "two" })
      yield* fold
      yield* refused(of, [lineOf("d")], { cohort: null })
      expect(yield* countOf(of)).toBe(4)
      const { read } = yield* SupplierSummaries
      const { code: supplier } = of.supplier
      const two = yield* read({ supplier, cohort: "two", at: noon })
      expect(two.linesRefused).toBe(2)
    })
  )

  it.effect("forgets a line that is erased", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      const key = yield* stage(of, "zq-1")
      const named = `{"external_account_number": "zq-1", broken`
      yield* refused(of, [lineOf(null, named), lineOf("a")])
      expect(yield* countOf(of)).toBe(2)
      yield* (yield* Erasures).erase({ key, at: noonPlus(300) })
      expect(yield* countOf(of)).toBe(1)
    })
  )
}

const retrying = (it: TestDatabase.It): void => {
  it.effect("leaves lines out of a retry whose account was imported meanwhile", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      const found: Array<unknown> = []
      for (const operation of ["IMPORT", "NOTES"] as const) {
        const batch = yield* sent(of, [lineOf("a"), lineOf("b"), lineOf(null, "{")], { operation })
        yield* refuse
        if (operation === "IMPORT") yield* imported(of, "a")
        const created = yield* createFor(of, { operation, retryOf: batch.id })
        yield* cancelled({ ...of, id: createdIn(created).id })
        found.push(created)
      }
      expect(found).toMatchObject([
        { leftOut: 1, batch: { counts: { received: 2 } } },
        { leftOut: 0, batch: { counts: { received: 3 } } }
      ])
    })
  )

  it.effect.each([
    ["STAGE", 1, 2],
    ["IMPORT", 1, 2],
    ["NOTES", 0, 0]
  ] as const)(
    "leaves lines of %s out of a retry whose account was staged anew: %i before the end, %i after",
    ([operation, before, after]) =>
      Effect.gen(function* () {
        const of = yield* freshSupplier
        const batch = yield* sent(of, [lineOf("a"), lineOf("b"), lineOf("c")], { operation })
        const chunk = yield* taken()
        yield* stage(of, "a", noonPlus(1))
        yield* finish(chunk, chunk.lines.map(endOf("FAILED")), { at: noonPlus(2) })
        expect(yield* leftOut(of, batch.id, { operation })).toBe(before)
        yield* stage(of, "b", noonPlus(3))
        expect(yield* leftOut(of, batch.id, { operation })).toBe(after)
      }).pipe(Effect.scoped)
  )

  it.effect.each(["STAGE", "IMPORT"] as const)(
    "retries lines of %s whose account the batch itself has staged",
    (operation) =>
      Effect.gen(function* () {
        const of = yield* freshSupplier
        const batch = yield* sent(of, [lineOf("a"), lineOf("a")], { operation })
        for (const outcome of ["SUCCEEDED", "FAILED"] as const) {
          const { lines, ...chunk } = yield* taken()
          const key = yield* stage(of, "a", noonPlus(1))
          if (operation === "IMPORT" && outcome === "FAILED") {
            yield* claim(key, of.caller, noonPlus(1))
          }
          const end = operation === "STAGE" ? outcome : "FAILED"
          yield* finish({ ...chunk, lines }, lines.map(endOf(end)), { at: noonPlus(2) })
        }
        expect(yield* leftOut(of, batch.id, { operation })).toBe(0)
      }).pipe(Effect.scoped)
  )

  it.effect("starts no retry whose account was staged anew, or imported, since", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      for (const [number, change] of [
        ["a", stage(of, "a", noonPlus(1))],
        ["b", imported(of, "b")]
      ] as const) {
        const batch = yield* refused(of, [lineOf(number)], { operation: "IMPORT" })
        const retry = yield* begun({ of, operation: "IMPORT", retryOf: batch.id })
        yield* change
        const failure = yield* Effect.flip(start(retry, 1))
        expect(failure).toEqual({ _tag: "StateConflict", state: "OPEN", isOvertaken: true })
      }
      const batch = yield* refused(of, [lineOf("c")], notes)
      const retry = yield* begun({ of, ...notes, retryOf: batch.id })
      yield* stage(of, "c", noonPlus(1))
      yield* start(retry, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("leaves lines out of a retry that another retry has or has done", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      const first = yield* refused(of, [lineOf("a"), lineOf(null, "{"), lineOf("b")], notes)
      const again = yield* begun({ of, ...notes, retryOf: first.id })
      expect(yield* leftOut(of, first.id)).toBe(3)
      yield* start(again, 3)
      expect(yield* leftOut(of, first.id)).toBe(3)
      const { lines, ...chunk } = yield* taken()
      const ends = lines.map((line) => endOf(line.line === 3 ? "FAILED" : "SUCCEEDED")(line))
      yield* finish({ ...chunk, lines }, ends)
      expect(yield* leftOut(of, first.id)).toBe(2)
      expect(yield* leftOut(of, again.id)).toBe(0)
    }).pipe(Effect.scoped)
  )

  it.effect("leaves lines out that a retry of a retry has done whose lines were deleted", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      const batches = yield* Batches
      const first = yield* refused(of, [lineOf("a"), lineOf("b")], notes)
      const second = yield* begun({ of, ...notes, retryOf: first.id })
      yield* start(second, 2)
      yield* refuse
      const third = yield* begun({ of, ...notes, retryOf: second.id })
      yield* start(third, 2)
      const { lines, ...chunk } = yield* taken()
      const ends = lines.map((line) => endOf(line.line === 1 ? "SUCCEEDED" : "FAILED")(line))
      yield* finish({ ...chunk, lines }, ends)
      const open = yield* begun({ of, ...notes, retryOf: first.id })
      const due = { endedBefore: noonPlus(1), redact: () => "{}" }
      yield* Effect.repeat(batches.deleteLines(due), { while: (areMore) => areMore })
      yield* cancelled(open)
      expect(yield* leftOut(of, first.id)).toBe(1)
    }).pipe(Effect.scoped)
  )

  it.effect("repeats the lines of a retry that had no effect, or was cancelled", () =>
    Effect.gen(function* () {
      const of = yield* freshSupplier
      for (const options of [
        { operation: "VALIDATE" },
        { operation: "IMPORT", dryRun: true }
      ] as const) {
        const first = yield* refused(of, [lineOf("a")], options)
        const again = yield* begun({ of, ...options, retryOf: first.id })
        yield* start(again, 1)
        const chunk = yield* taken()
        yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
        expect(yield* leftOut(of, first.id, options)).toBe(0)
      }
      const first = yield* refused(of, [lineOf("a"), lineOf("b")], notes)
      const again = yield* begun({ of, ...notes, retryOf: first.id })
      yield* start(again, 2)
      yield* Effect.scoped(
        Effect.flatMap(taken(), (chunk) =>
          finish(chunk, chunk.lines.slice(1).map(endOf("SUCCEEDED")))
        )
      )
      const { cancelLines } = yield* Batches
      yield* decided(again, (each) => Batch.cancel(each, noon))
      expect(yield* leftOut(of, first.id)).toBe(2)
      yield* Effect.repeat(cancelLines(noon), { while: (areMore) => areMore })
      expect(yield* leftOut(of, first.id)).toBe(1)
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["IMPORT", false, 1],
    ["IMPORT", true, 0],
    ["VALIDATE", false, 0],
    ["TRANSACTIONS", false, 0],
    ["NOTES", false, 0]
  ] as const)("of %s, dry run %s, leaves %i lines out that a later one replaced", (row) =>
    Effect.gen(function* () {
      const [operation, dryRun, expected] = row
      const of = yield* freshSupplier
      const batch = yield* sent(of, [lineOf("a"), lineOf("a")], { operation, dryRun })
      for (const outcome of ["FAILED", "SUCCEEDED"] as const) {
        const chunk = yield* taken()
        yield* finish(chunk, chunk.lines.map(endOf(outcome)))
      }
      expect(yield* leftOut(of, batch.id, { operation, dryRun })).toBe(expected)
    }).pipe(Effect.scoped)
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "refused lines",
  (it) => {
    counting(it)
    keeping(it)
    retrying(it)
  }
)
