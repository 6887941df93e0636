/**
 * What every storage of batches must do. The store may be shared; each test ends the batches that
 * it has begun, so that their lines are not taken by the next one. All instants are arguments.
 */
import { describe, expect, type Vitest, layer as withLayer } from "@effect/vitest"
import { type DateTime, Effect, type Layer, Option, Result, Stream } from "effect"
import * as Batch from "../src/batch/Batch.ts"
import type { LineEnd } from "../src/batch/BatchLine.ts"
import * as Counts from "../src/batch/Counts.ts"
import type { Caller } from "../src/organisation/Organisation.ts"
import type { Supplier } from "../src/organisation/Supplier.ts"
import {
  type Appending,
  Batches,
  type ChunkInHand,
  type Creating,
  type ResultsQuery,
  type TakenLast
} from "../src/ports/Batches.ts"
import type { Configuration } from "../src/ports/Configuration.ts"
import { expectSame, freshSupplier, noon, noonPlus } from "./freshNames.ts"

type Ports = Batches | Configuration
type It = Vitest.MethodsNonLive<Ports>

interface Begun {
  readonly id: Batch.BatchId
  readonly caller: Caller
  readonly supplier: Supplier
}

const encoder = new TextEncoder()

/** A line of this account number, or of none. */
const lineOf = (externalAccountNumber: string | null, text = externalAccountNumber ?? "") => ({
  bytes: encoder.encode(text),
  externalAccountNumber
})

const linesOf = (...numbers: ReadonlyArray<string | null>) => numbers.map((each) => lineOf(each))

const newId = (): Batch.BatchId => Batch.BatchId.make(crypto.randomUUID())

const settingsOf = (supplier: Supplier, maxFailures: number | null): Batch.BatchSettings => ({
  supplier: supplier.code,
  operation: "STAGE",
  name: "a book",
  operationsTeam: null,
  dryRun: false,
  cohort: "first wave",
  pending: null,
  retryOf: null,
  maxFailures,
  parameters: { check_previously_added: false }
})

const createFor = Effect.fnUntraced(function* (
  { caller, supplier }: Omit<Begun, "id">,
  { limit = 20, maxFailures = null }: { limit?: number; maxFailures?: number | null } = {}
) {
  const batches = yield* Batches
  const settings = settingsOf(supplier, maxFailures)
  return yield* batches.create({ id: newId(), settings, limit, caller, at: noon })
})

const createdIn = (creating: Creating): Batch.Batch => {
  if (creating._tag !== "Created") throw new Error(creating._tag)
  return creating.batch
}

const decided = Effect.fnUntraced(function* <E>(
  { caller, id }: Pick<Begun, "caller" | "id">,
  decide: (batch: Batch.Batch) => Result.Result<Batch.Batch, E>,
  at = noon
) {
  const batches = yield* Batches
  return yield* batches.change({ id, decide, action: "start_batch", caller, at })
})

const cancelled = ({ caller, id }: Begun) =>
  Effect.gen(function* () {
    const batches = yield* Batches
    const cancelIfOpen = (batch: Batch.Batch) =>
      Batch.isFinal(batch) ? Result.succeed(batch) : Batch.cancel(batch, noon)
    yield* Effect.orDie(decided({ caller, id }, cancelIfOpen))
    yield* Effect.repeat(batches.cancelLines(noon), { while: (areMore) => areMore })
  }).pipe(Effect.orDie)

/** A new batch of a new supplier, or of the one that is given. Its end is that of the test. */
const begun = Effect.fnUntraced(function* (options?: {
  readonly of?: Omit<Begun, "id">
  readonly maxFailures?: number | null
}) {
  const owner = options?.of ?? (yield* freshSupplier)
  const { id } = createdIn(yield* createFor(owner, options))
  const batch: Begun = { id, caller: owner.caller, supplier: owner.supplier }
  yield* Effect.addFinalizer(() => cancelled(batch))
  return batch
})

const append = Effect.fnUntraced(function* (
  { caller, id }: Begun,
  lines: ReadonlyArray<ReturnType<typeof lineOf>>,
  { from = 1, upload }: { readonly from?: number; readonly upload?: number } = {}
) {
  const batches = yield* Batches
  const used = upload ?? (yield* batches.beginUpload(id))
  const { apiKey } = caller
  return yield* batches.append({ id, apiKey, upload: used, from, lines, at: noon })
})

const started = Effect.fnUntraced(function* (
  numbers: ReadonlyArray<string | null>,
  options?: Parameters<typeof begun>[0]
) {
  const batch = yield* begun(options)
  yield* append(batch, linesOf(...numbers))
  yield* decided(batch, (each) =>
    Batch.start(each, numbers.length, { at: noon, apiKey: batch.caller.apiKey })
  )
  return batch
})

const found = ({ caller, id }: Begun) =>
  Effect.flatMap(Batches, (batches) => batches.find(caller.organisation, id)).pipe(
    Effect.map(Option.getOrThrow)
  )

const takeNext = (at: DateTime.Utc = noon, last: TakenLast | null = null) =>
  Effect.flatMap(Batches, (batches) => batches.take({ last, at }))

const taken = (at?: DateTime.Utc) => Effect.map(takeNext(at), Option.getOrThrow)

const endOf =
  (outcome: Counts.LineOutcome, problems: LineEnd["problems"] = []) =>
  ({ externalAccountNumber, line }: ChunkInHand["lines"][number]): LineEnd => ({
    line,
    externalAccountNumber,
    outcome,
    text: JSON.stringify({ line, outcome }),
    problems
  })

const finish = (
  chunk: ChunkInHand,
  ended: ReadonlyArray<LineEnd>,
  postponed: Parameters<ChunkInHand["finish"]>[0]["postponed"] = [],
  readyAt = noon
) => chunk.finish({ ended, postponed, waitingFor: null, keys: [], readyAt, at: noon })

const resultsOf = ({ id }: Begun, query: Partial<ResultsQuery> = {}) =>
  Effect.gen(function* () {
    const batches = yield* Batches
    const asked = { afterLine: 0, outcome: null, limit: null, includesLater: false, ...query, id }
    const { isComplete, results, through } = yield* batches.results(asked)
    const lines = yield* Stream.runCollect(results)
    return { lines: lines.map(({ line }) => line), through, isComplete }
  })

const creating = (it: It): void => {
  it.effect("keeps what was asked for, and shows it to its organisation only", () =>
    Effect.gen(function* () {
      const batch = yield* begun()
      const batches = yield* Batches
      const stored = yield* found(batch)
      expectSame(stored.settings, settingsOf(batch.supplier, null))
      expect(Batch.stateOf(stored)).toBe("OPEN")
      const { caller: stranger } = yield* freshSupplier
      expect(yield* batches.find(stranger.organisation, batch.id)).toEqual(Option.none())
    })
  )

  it.effect("refuses a batch beyond the organisation's limit of unfinished ones", () =>
    Effect.gen(function* () {
      const first = yield* begun()
      const refused = { _tag: "LimitExceeded", of: "batches" } as const
      expectSame(yield* createFor(first, { limit: 1 }), refused)
      yield* cancelled(first)
      const second = yield* createFor(first, { limit: 1 })
      yield* cancelled({ ...first, id: createdIn(second).id })
    })
  )

  it.effect("lists the batches of a supplier, newest first and page by page", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const first = yield* begun()
      const second = yield* begun({ of: first })
      const third = yield* begun({ of: first })
      const listed = (after: Batch.BatchId | null, limit: number) =>
        Effect.map(batches.list({ supplier: first.supplier.code, after, limit }), (page) =>
          page.map(({ id }) => id)
        )
      expect(yield* listed(null, 2)).toEqual([third.id, second.id])
      expect(yield* listed(second.id, 2)).toEqual([first.id])
    })
  )
}

const appending = (it: It): void => {
  const table: ReadonlyArray<readonly [string, number, ReadonlyArray<string>, Appending]> = [
    ["the lines that follow", 3, ["c"], { _tag: "Appended", received: 3 }],
    ["the same lines again", 1, ["a", "b"], { _tag: "Appended", received: 2 }],
    ["lines that overlap and go on", 2, ["b", "c", "d"], { _tag: "Appended", received: 4 }],
    ["a line that differs", 1, ["a", "x", "c"], { _tag: "Differs", line: 2 }],
    ["lines behind a gap", 4, ["d"], { _tag: "Gap", received: 2 }]
  ]
  it.effect.each(table)("answers %s", ([, from, numbers, expected]) =>
    Effect.gen(function* () {
      const batch = yield* begun()
      yield* append(batch, linesOf("a", "b"))
      expectSame(yield* append(batch, linesOf(...numbers), { from }), expected)
      const received = expected._tag === "Appended" ? expected.received : 2
      expect((yield* found(batch)).counts.received).toBe(received)
    })
  )

  it.effect("stores nothing of an upload that a later one has superseded", () =>
    Effect.gen(function* () {
      const batch = yield* begun()
      const batches = yield* Batches
      const earlier = yield* batches.beginUpload(batch.id)
      yield* append(batch, linesOf("a"))
      expectSame(yield* append(batch, linesOf("a", "b"), { upload: earlier }), {
        _tag: "Superseded"
      })
      expect((yield* found(batch)).counts.received).toBe(1)
    })
  )

  it.effect("takes no line once the batch is started", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a"])
      const { _tag } = yield* append(batch, linesOf("b"), { from: 2 })
      expect(_tag).toBe("NotOpen")
    })
  )
}

const working = (it: It): void => {
  it.effect("gives each line to one worker, in the order of the lines", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", null])
      const chunk = yield* taken()
      expect(chunk.batch.id).toBe(batch.id)
      expect(chunk.lines.map(({ bytes, line }) => [line, bytes])).toEqual(
        ["a", "b", ""].map((text, index) => [index + 1, encoder.encode(text)])
      )
      expect(yield* takeNext()).toEqual(Option.none())
      yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
      expect(Batch.stateOf(yield* found(batch))).toBe("COMPLETED")
    })
  )

  it.effect("gives lines of an open, paused or cancelled batch to nobody", () =>
    Effect.gen(function* () {
      yield* append(yield* begun(), linesOf("a"))
      const paused = yield* started(["a"])
      yield* decided(paused, (batch) => Batch.pause(batch, "CALLER"))
      const stopped = yield* started(["a"])
      yield* decided(stopped, (batch) => Batch.cancel(batch, noon))
      expect(yield* takeNext()).toEqual(Option.none())
    })
  )

  it.effect("gives the lines again that a worker left", () =>
    Effect.gen(function* () {
      yield* started(["a", "b"])
      yield* Effect.scoped(taken())
      const again = yield* taken()
      expect(again.lines.map(({ line }) => line)).toEqual([1, 2])
    })
  )

  it.effect("holds a line back until the earlier ones of its number have ended", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "a"])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* taken()
          expect(first.lines.map(({ line }) => line)).toEqual([1, 2])
          const [one, two] = first.lines.map(endOf("SUCCEEDED")) as [LineEnd, LineEnd]
          yield* finish(first, [two], [{ line: one.line, isCounted: true }], noonPlus(5))
        })
      )
      expect(yield* takeNext(noonPlus(4))).toEqual(Option.none())
      yield* Effect.scoped(
        Effect.gen(function* () {
          const retried = yield* taken(noonPlus(5))
          expect(retried.lines.map(({ line, tries }) => [line, tries])).toEqual([[1, 1]])
          yield* finish(retried, retried.lines.map(endOf("FAILED")))
        })
      )
      const last = yield* taken()
      expect(last.lines.map(({ line }) => line)).toEqual([3])
      yield* finish(last, last.lines.map(endOf("SUCCEEDED")))
      expect(Batch.stateOf(yield* found(batch))).toBe("COMPLETED_WITH_FAILURES")
    })
  )

  it.effect("takes turns among the suppliers and the batches of each", () =>
    Effect.gen(function* () {
      const numbers = Array.from({ length: 150 }, (_, index) => `n${index}`)
      const large = yield* started(numbers)
      const small = yield* started(["a"])
      const chunks = yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* taken()
          const { supplier } = first.batch.settings
          const last = { supplier, batches: new Map([[supplier, first.batch.id]]) }
          const second = Option.getOrThrow(yield* takeNext(noon, last))
          return [first.batch.id, second.batch.id]
        })
      )
      expect(new Set(chunks)).toEqual(new Set([large.id, small.id]))
    })
  )

  it.effect("ends the lines of a cancelled batch that nobody has in hand", () =>
    Effect.gen(function* () {
      const numbers = Array.from({ length: 150 }, (_, index) => `n${index}`)
      const batch = yield* started(numbers)
      const batches = yield* Batches
      const chunk = yield* taken()
      yield* decided(batch, (each) => Batch.cancel(each, noon))
      yield* Effect.repeat(batches.cancelLines(noon), { while: (areMore) => areMore })
      const inHand = chunk.lines.length
      expectSame((yield* found(batch)).counts, {
        ...Counts.none,
        received: 150,
        cancelled: 150 - inHand
      })
      yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
      const { counts, finishedAt } = yield* found(batch)
      expect(counts.succeeded).toBe(inHand)
      expect(finishedAt).toEqual(noon)
    })
  )
}

const answering = (it: It): void => {
  it.effect("gives results up to the first line that is not done, or all that are", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c"])
      const chunk = yield* taken()
      const [one, two, three] = chunk.lines as [
        ChunkInHand["lines"][number],
        ChunkInHand["lines"][number],
        ChunkInHand["lines"][number]
      ]
      yield* finish(
        chunk,
        [endOf("SUCCEEDED")(one), endOf("FAILED")(three)],
        [{ line: two.line, isCounted: false }]
      )
      const later = { includesLater: true }
      const read = { through: 1, isComplete: false }
      expect(yield* resultsOf(batch)).toEqual({ ...read, lines: [1] })
      expect(yield* resultsOf(batch, later)).toEqual({ ...read, lines: [1, 3] })
      expect(yield* resultsOf(batch, { ...later, outcome: "FAILED" })).toEqual({
        ...read,
        lines: [3]
      })
      expect(yield* resultsOf(batch, { ...later, afterLine: 1 })).toEqual({ ...read, lines: [3] })
      expect(yield* resultsOf(batch, { afterLine: 7 })).toEqual({
        through: 7,
        isComplete: false,
        lines: []
      })
    })
  )

  it.effect("groups what is wrong by code and place, the most frequent first", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c", "d", "e", "f", "g"])
      const batches = yield* Batches
      const chunk = yield* taken()
      const email = { code: "invalid", attr: "customers.*.email", detail: "No e-mail." } as const
      const required = { code: "required", attr: "customers", detail: "Required." } as const
      const ended = chunk.lines.map((line) =>
        endOf("FAILED", line.line === 7 ? [email, required] : [email, email])(line)
      )
      yield* finish(chunk, ended)
      const { groups, sets } = yield* batches.problems({ id: batch.id, limit: 10 })
      const [first, second] = groups
      expect(first).toMatchObject({ code: "invalid", attr: "customers.*.email", lines: 7 })
      expect(first?.examples.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5])
      expectSame(second, {
        code: "required",
        attr: "customers",
        lines: 1,
        examples: [{ line: 7, externalAccountNumber: "g", detail: "Required." }]
      })
      const withoutDetail = [email, required].map(({ attr, code }) => ({ code, attr }))
      expect(new Map(sets.map(({ lines, problems }) => [lines, problems]))).toEqual(
        new Map([
          [6, withoutDetail.slice(0, 1)],
          [1, withoutDetail]
        ])
      )
      expect(yield* batches.problems({ id: batch.id, limit: 1 })).toMatchObject({
        groups: [first]
      })
    })
  )
}

/** Runs the suite on the ports of the layer. */
export const batchesContract = (name: string, ports: Layer.Layer<Ports>): void => {
  withLayer(ports)(`Batches, ${name}`, (it) => {
    describe("create", () => creating(it))
    describe("append", () => appending(it))
    describe("take", () => working(it))
    describe("results", () => answering(it))
  })
}
