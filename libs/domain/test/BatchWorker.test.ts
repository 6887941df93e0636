/**
 * A batch ends as an undisturbed run would have ended it, whatever happens to its workers.
 * Source: docs/contract/batches.md#retries.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Logger, Option, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Batch from "../src/batches/Batch.ts"
import * as Counts from "../src/batches/Counts.ts"
import { makeBatchWorker } from "../src/batches/BatchWorker.ts"
import { Batches, type ChunkInHand } from "../src/batches/Batches.ts"
import { layerMemory as batchesLayer } from "../testing/memory/Batches.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { type Fault, faultAtStep, type FaultPlan, noFaults, withFaults } from "../testing/faults.ts"
import { linePrograms, payload, settingsOf, startBatch, startedId } from "./batchPrograms.ts"
import { begin, demo, programs, stageBody, supplierCode } from "./importPrograms.ts"
import { setStatus, world as worldOfImports } from "./postImportPrograms.ts"

const world = Layer.mergeAll(worldOfImports, batchesLayer)

const id = startedId

/** The same number twice with the same payload and once with another, and lines that fail. */
const book: ReadonlyArray<readonly [number: string | null, sent: unknown]> = [
  ["A", payload({ external_account_number: "A" })],
  ["B", payload({ external_account_number: "B" })],
  ["A", payload({ external_account_number: "A" })],
  ["A", payload({ external_account_number: "A", billing_name: "New" })],
  [null, "no account"],
  ["C", payload({ external_account_number: "C", billing_email: "nobody" })]
]

const undisturbed = [
  ["SUCCEEDED", null, null, true],
  ["SUCCEEDED", null, null, true],
  ["ALREADY", "account_import_process_already_imported", null, true],
  ["FAILED", "account_import_process_already_imported", null, true],
  ["FAILED", "account_failed_validation", null, false],
  ["FAILED", "account_failed_validation", null, false]
]

const startBook = Effect.andThen(
  begin(),
  Effect.suspend(() => startBatch(settingsOf("IMPORT"), book))
)

/** The finish of a chunk is a step as well. */
const faulty = (plan: FaultPlan) => (chunk: ChunkInHand) =>
  (withFaults(Batches, chunk as never, plan) as unknown as ChunkInHand).finish

const withFinish = (
  batches: Batches["Service"],
  finishOf: (chunk: ChunkInHand) => ChunkInHand["finish"]
): Batches["Service"] => ({
  ...batches,
  take: (command) =>
    Effect.map(
      batches.take(command),
      Option.map((chunk) => ({ ...chunk, finish: finishOf(chunk) }))
    )
})

const linesKeptFor = Duration.seconds(90)

const worker = Effect.fnUntraced(function* (
  plan: FaultPlan = noFaults(),
  finish?: ChunkInHand["finish"]
) {
  const finishOf = finish === undefined ? faulty(plan) : () => finish
  const batches = withFinish(withFaults(Batches, yield* Batches, plan), finishOf)
  const settings = { chunks: 2, linesKeptFor, drain: Duration.seconds(5) }
  return makeBatchWorker(batches, yield* linePrograms(plan), settings)
})

const found = Effect.flatMap(Batches, (batches) =>
  Effect.map(batches.find(demo.organisation, id), Option.getOrThrow)
)

/** Works until the batch has ended. If nothing is ready, time passes so that leases expire. */
const finishBook = Effect.gen(function* () {
  const { workOnce } = yield* worker()
  for (let rounds = 0; !Batch.isFinal(yield* found); rounds++) {
    if (rounds > 40) throw new Error("The batch does not end")
    if (!(yield* workOnce)) yield* TestClock.adjust("61 seconds")
  }
})

const results = Effect.flatMap(Batches, (batches) =>
  batches.results({ id, afterLine: 0, outcome: null, limit: null, includesLater: false })
).pipe(Effect.flatMap(({ results }) => Stream.runCollect(results)))

const expectUndisturbed = Effect.fnUntraced(function* (what: string) {
  const lines = (yield* results).map(({ text }) => JSON.parse(text) as unknown)
  expect(lines, what).toEqual(undisturbed)
  const { counts } = yield* found
  expect(Counts.remaining(counts), what).toBe(0)
  expect(counts, what).toMatchObject({ received: 6, succeeded: 2, already: 1, failed: 3 })
  const { accounts } = yield* MemoryStore
  expect(accounts.size, what).toBe(2)
})

/** Runs a worker with the fault plan. Returns how many steps it took. */
const workWith = Effect.fnUntraced(function* (plan: FaultPlan, most = 4) {
  const { workOnce } = yield* worker(plan)
  for (let rounds = 0; rounds < most; rounds++) yield* Effect.exit(workOnce)
  return plan.calls().length
})

/** Stages another payload for one of the numbers, so that its line runs in two steps. */
const stageOther = Effect.gen(function* () {
  const { stage } = yield* programs()
  yield* stage(demo, stageBody({ external_account_number: "B", billing_name: "Other" }))
})

const cancelBook = Effect.gen(function* () {
  const batches = yield* Batches
  const at = yield* DateTime.now
  const decide = (batch: Batch.Batch) => Batch.cancel(batch, at)
  yield* batches.change({ id, at, caller: demo, action: "cancel_batch", decide })
  yield* batches.cancelLines(at)
})

/** Expects that every line has ended, and that every staging is in the result of some line. */
const expectStagingsReported = Effect.fnUntraced(function* (what: string) {
  const { counts } = yield* found
  expect(Counts.remaining(counts), what).toBe(0)
  const explained = new Set<string>()
  for (const [index, { text }] of (yield* results).entries()) {
    const result = JSON.parse(text) as ReadonlyArray<unknown> | { readonly outcome: string }
    const number = book[index]?.[0] ?? ""
    if (!Array.isArray(result)) expect(result, what).toMatchObject({ outcome: "CANCELLED" })
    else if (result[0] !== "FAILED") explained.add(number)
  }
  const { imports } = yield* MemoryStore
  const staged = [...(imports.get(supplierCode) ?? [])]
    .filter(([, { payload }]) => payload?.includes("Other") !== true)
    .map(([number]) => number)
  expect(new Set(staged), what).toEqual(explained)
})

const faults: ReadonlyArray<Fault> = [
  { kind: "crash", when: "before" },
  { kind: "crash", when: "after" },
  { kind: "unavailable", when: "before" },
  { kind: "unavailable", when: "after" }
]

/** Runs without a fault, and then once for each of its steps with the fault at that step. */
const atEveryStep = Effect.fnUntraced(function* <E>(
  fault: Fault,
  run: (plan: FaultPlan) => Effect.Effect<number, E, Layer.Success<typeof world>>
) {
  const alone = (plan: FaultPlan) =>
    Effect.provide(run(plan), [Layer.fresh(world), TestClock.layer(), Logger.layer([])])
  const steps = yield* alone(noFaults())
  expect(steps).toBeGreaterThan(20)
  for (let step = 1; step <= steps; step++) yield* alone(faultAtStep(step, fault))
})

describe("a batch", () => {
  it.effect("ends every line with the answer of the single endpoint", () =>
    Effect.gen(function* () {
      yield* startBook
      yield* finishBook
      yield* expectUndisturbed("")
      expect(Batch.stateOf(yield* found)).toBe("COMPLETED_WITH_FAILURES")
    }).pipe(Effect.provide(world))
  )

  it.live.each(faults)(
    "ends as undisturbed after a worker met a fault at any step: $kind $when",
    (fault) =>
      atEveryStep(
        fault,
        Effect.fnUntraced(function* (plan) {
          yield* startBook
          const steps = yield* workWith(plan)
          yield* finishBook
          yield* expectUndisturbed(`${fault.kind} ${fault.when} step ${plan.calls().at(-1)?.step}`)
          return steps
        })
      ),
    60_000
  )

  it.live.each(faults)(
    "says of cancelled lines what they left, at whichever step a worker met a fault: $kind $when",
    (fault) =>
      atEveryStep(
        fault,
        Effect.fnUntraced(function* (plan) {
          yield* startBook
          yield* stageOther
          const steps = yield* workWith(plan, 1)
          yield* cancelBook
          const at = `${fault.kind} ${fault.when} step ${plan.calls().at(-1)?.step}`
          yield* expectStagingsReported(at)
          return steps
        })
      ),
    60_000
  )

  it.effect("is paused and resumed with its supplier, and cancelled, by a running worker", () =>
    Effect.gen(function* () {
      yield* startBook
      yield* setStatus("Paused")
      const { run } = yield* worker()
      yield* Effect.forkScoped(run)
      yield* TestClock.adjust("6 seconds")
      expect([...(yield* found).pausedBy]).toEqual(["SUPPLIER"])
      yield* setStatus("Ongoing")
      yield* TestClock.adjust("1 minute")
      yield* expectUndisturbed("")
    }).pipe(Effect.provide(world))
  )

  it.effect("has its lines and their details deleted some time after its end", () =>
    Effect.gen(function* () {
      yield* startBook
      yield* finishBook
      const { run } = yield* worker()
      yield* Effect.forkScoped(run)
      yield* TestClock.adjust("80 seconds")
      const lines = Effect.map(
        MemoryStore,
        ({ batches }) => batches.get(id)?.lines.filter(({ bytes }) => bytes !== null).length
      )
      expect(yield* lines).toBe(6)
      yield* TestClock.adjust("2 minutes")
      expect(yield* lines).toBe(0)
      const { counts } = yield* found
      expect(counts).toMatchObject({ received: 6, succeeded: 2, already: 1, failed: 3 })
    }).pipe(Effect.provide(world))
  )

  it.effect("ends a line as its last worker had ended it, however many have died", () =>
    Effect.gen(function* () {
      yield* startBook
      const store = yield* MemoryStore
      const lines = store.batches.get(id)?.lines ?? []
      lines.forEach((line, index) => (lines[index] = { ...line, abandoned: 3 }))
      const dying = yield* worker(noFaults(), () => Effect.die(new Error("killed")))
      yield* Effect.exit(dying.workOnce)
      lines.forEach((line, index) => (lines[index] = { ...line, abandoned: 10 }))
      yield* (yield* worker()).workOnce
      const [first] = yield* results
      expect(JSON.parse(first?.text ?? "")).toEqual(undisturbed[0])
    }).pipe(Effect.provide(world))
  )

  it.effect("stores lines together with new account numbers if one is taken", () =>
    Effect.gen(function* () {
      yield* startBook
      const offered: Array<ReadonlyArray<string | null>> = []
      const finishOf =
        ({ finish }: ChunkInHand): ChunkInHand["finish"] =>
        (end) => {
          offered.push(
            end.imports.map(({ attempt }) => attempt && Result.getOrThrow(attempt.judgement).number)
          )
          return offered.length === 1
            ? Effect.succeed(new Set(end.imports.map(({ end: { line } }) => line)))
            : finish(end)
        }
      const batches = withFinish(yield* Batches, finishOf)
      const settings = { chunks: 1, linesKeptFor, drain: Duration.seconds(5) }
      yield* makeBatchWorker(batches, yield* linePrograms(), settings).workOnce
      const [first = [], second = []] = offered
      expect(first).toHaveLength(2)
      expect(second).toHaveLength(2)
      expect(new Set([...first, ...second]).size).toBe(4)
      yield* finishBook
      yield* expectUndisturbed("")
    }).pipe(Effect.provide(world))
  )

  it.effect("isolates the line with which every worker dies, and fails it", () =>
    Effect.gen(function* () {
      yield* startBook
      const store = yield* MemoryStore
      const lines = store.batches.get(id)?.lines ?? []
      lines.forEach((line, index) => (lines[index] = { ...line, abandoned: 3 }))
      const { workOnce } = yield* worker()
      yield* workOnce
      expect(Counts.remaining((yield* found).counts)).toBe(5)
      lines.forEach((line, index) => (lines[index] = { ...line, abandoned: 10 }))
      yield* workOnce
      const [, second] = yield* results
      expect(JSON.parse(second?.text ?? "")).toEqual(["FAILED", "error", null, false])
    }).pipe(Effect.provide(world))
  )
})
