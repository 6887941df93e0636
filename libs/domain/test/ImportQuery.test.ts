/** The queries of imports. Source: docs/contract/queries.md#queries. */
import { describe, expect, it } from "@effect/vitest"
import { type DateTime, Effect, Layer, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportQuery, layer as importQuery, type ListRange } from "../src/imports/ImportQuery.ts"
import { faultAtEvery, type FaultPlan, noFaults, withFaults } from "../testing/faults.ts"
import { newAccountFor } from "../testing/freshNames.ts"
import { claim, stagedHash } from "../testing/importStates.ts"
import { sampleTime } from "../testing/samples.ts"
import { begin, demo, keyOf, ports, rival, supplierCode } from "./importPrograms.ts"

const query = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  const processes = withFaults(ImportProcesses, yield* ImportProcesses, plan)
  const configuration = withFaults(Configuration, yield* Configuration, plan)
  const layer = importQuery.pipe(
    Layer.provide(Layer.succeed(ImportProcesses, processes)),
    Layer.provide(Layer.succeed(Configuration, configuration))
  )
  return yield* Effect.provide(ImportQuery, layer)
})

const stage = (number: string) =>
  Effect.flatMap(ImportProcesses, (processes) =>
    processes.stage({
      key: keyOf(number),
      payload: "{}",
      hash: stagedHash,
      caller: demo,
      at: sampleTime
    })
  )

const complete = Effect.fnUntraced(function* (number: string, at: DateTime.Utc) {
  const processes = yield* ImportProcesses
  const key = keyOf(number)
  const { attempt } = yield* claim(key, demo, sampleTime)
  const newAccount = newAccountFor(key, at)
  yield* processes.complete({ key, attempt, newAccount, caller: demo })
  return newAccount.number
})

const skip = (number: string) =>
  Effect.flatMap(ImportProcesses, (processes) =>
    processes.setSkipped({ key: keyOf(number), skipped: true, at: sampleTime })
  )

const whole: ListRange = { limit: null, after: null }

/** The entries of a list, or of a page with the start of the next one. */
const read = Effect.fnUntraced(function* (
  kind: "all" | "pending" | "imported",
  range: ListRange = whole
) {
  const list = yield* (yield* query()).list(demo, supplierCode, kind, range)
  const entries = list._tag === "Whole" ? yield* Stream.runCollect(list.entries) : list.entries
  return {
    numbers: entries.map((entry) => entry.external_account_number),
    entries,
    nextAfter: list._tag === "Page" ? list.nextAfter : "whole"
  }
})

describe("status", () => {
  it.effect("follows the import from staging to the account", () =>
    Effect.gen(function* () {
      yield* begin()
      const { status } = yield* query()
      const statusOf = (number: string) => status(demo, supplierCode, number)
      const unknown = { status: "UNKNOWN", kraken_account_number: "" }
      expect((yield* Effect.flip(statusOf("1")))._tag).toBe("NotFound")
      yield* stage("1")
      expect(yield* statusOf("1")).toEqual(unknown)
      yield* claim(keyOf("1"), demo, sampleTime)
      expect(yield* statusOf("1")).toEqual({ status: "IN_PROGRESS", kraken_account_number: "" })
      yield* TestClock.adjust("59999 millis")
      expect(yield* statusOf("1")).toMatchObject({ status: "IN_PROGRESS" })
      yield* TestClock.adjust("1 millis")
      expect(yield* statusOf("1")).toEqual(unknown)
      yield* stage("2")
      const number = yield* complete("2", sampleTime)
      expect(yield* statusOf("2")).toEqual({ status: "COMPLETED", kraken_account_number: number })
      yield* stage("3")
      yield* skip("3")
      expect(yield* statusOf("3")).toEqual(unknown)
    }).pipe(Effect.provide(ports))
  )

  it.effect.each([
    ["of nothing staged", supplierCode, "2", demo],
    ["of another case", supplierCode, "A", demo],
    ["of what is no number", supplierCode, "..", demo],
    ["of a number that is too long", supplierCode, "x".repeat(129), demo],
    ["of a lone surrogate", supplierCode, "\ud800", demo],
    ["of nothing", supplierCode, "", demo],
    ["of an unknown supplier", "NOBODY", "a", demo],
    ["of a supplier in another case", "demo_energy", "a", demo],
    ["of what is no supplier", "", "a", demo],
    ["of a supplier that is too long", "S".repeat(33), "a", demo],
    ["of NUL", "\0", "\0", demo],
    ["of another's supplier", "RIVAL_ENERGY", "a", demo],
    ["asked by another", supplierCode, "a", rival]
  ] as const)("answers not found in the same way for %s", ([, supplier, number, caller]) =>
    Effect.gen(function* () {
      yield* begin()
      yield* stage("a")
      const { list, status } = yield* query()
      const failure = yield* Effect.flip(status(caller, supplier, number))
      expect(JSON.stringify(failure)).toBe('{"_tag":"NotFound","code":"not_found"}')
      if (supplier === supplierCode && caller === demo) return
      const unlisted = yield* Effect.flip(list(caller, supplier, "all", whole))
      expect(JSON.stringify(unlisted)).toBe(JSON.stringify(failure))
    }).pipe(Effect.provide(ports))
  )
})

describe("the lists", () => {
  const numbers = ["\uffff", "😀", "B", "a", "10", "9", "é"]
  const sorted = ["10", "9", "B", "a", "é", "\uffff", "😀"]

  const arrange = Effect.gen(function* () {
    yield* begin()
    for (const number of numbers) yield* stage(number)
  })

  it.effect.each([
    [null, 3, ["10", "9", "B"], "B"],
    ["B", 3, ["a", "é", "\uffff"], "\uffff"],
    ["\uffff", 3, ["😀"], null],
    ["😀", 3, [], null],
    [null, 7, sorted, null],
    [null, 6, sorted.slice(0, 6), "\uffff"],
    [null, 10_000, sorted, null],
    ["not there", 2, ["é", "\uffff"], "\uffff"],
    ["", 1, ["10"], "10"],
    ["\0", 1, ["10"], "10"],
    ["C", 1, ["a"], "a"]
  ] as const)("start after %j and stop at a limit of %i", ([after, limit, page, nextAfter]) =>
    Effect.gen(function* () {
      yield* arrange
      const found = yield* read("all", { after, limit })
      expect(found.numbers).toEqual(page)
      expect(found.nextAfter).toBe(nextAfter)
    }).pipe(Effect.provide(ports))
  )
})

describe("an unavailable store", () => {
  it.effect.each([
    ["status", "findOwn"],
    ["details", "supplier"],
    ["details", "details"]
  ] as const)("makes the %s unavailable if it fails at %s", ([read, operation]) =>
    Effect.gen(function* () {
      yield* begin()
      const programs = yield* query(
        faultAtEvery(operation, { kind: "unavailable", when: "before" })
      )
      const failure = yield* Effect.flip<unknown, unknown, never>(
        programs[read](demo, supplierCode, "1")
      )
      expect(failure).toMatchObject({ _tag: "ServiceUnavailable", retryAfterSeconds: 1 })
    }).pipe(Effect.provide(ports))
  )

  it.effect.each(["before", "after"] as const)(
    "fails the list stream if it fails %s the elements",
    (when) =>
      Effect.gen(function* () {
        yield* begin()
        yield* stage("1")
        const { list } = yield* query(faultAtEvery("list", { kind: "unavailable", when }))
        const all = yield* list(demo, supplierCode, "all", whole)
        const seen: Array<string> = []
        const stream = all._tag === "Whole" ? all.entries : Stream.empty
        const ended = yield* Effect.result(
          Stream.runForEach(stream, (entry) =>
            Effect.sync(() => seen.push(entry.external_account_number))
          )
        )
        expect(Result.isFailure(ended) && ended.failure._tag).toBe("ServiceUnavailable")
        expect(seen).toHaveLength(when === "before" ? 0 : 1)
        const page = yield* Effect.flip(list(demo, supplierCode, "all", { limit: 1, after: null }))
        expect(page._tag).toBe("ServiceUnavailable")
      }).pipe(Effect.provide(ports))
  )
})
