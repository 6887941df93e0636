/**
 * What every storage of batches must do while workers have lines in hand, and afterwards. The store
 * may be shared, but nothing else may take lines. All instants are arguments.
 */
import { describe, expect, type Vitest, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import type { AccountSums } from "../src/certificates/Certificate.ts"
import type { EndedLine } from "../src/batches/BatchLine.ts"
import * as Counts from "../src/batches/Counts.ts"
import { serviceFor } from "../src/access/Operator.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import { Batches, type ChunkInHand, type LinesQuery } from "../src/batches/Batches.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { IdempotencyKeys } from "../src/idempotency/IdempotencyKeys.ts"
import { keysOf } from "../src/batches/LineKey.ts"
import {
  append,
  begun,
  decided,
  encoder,
  endOf,
  finish,
  found,
  linesOf,
  resultsOf,
  start,
  started,
  taken,
  takeNext
} from "./begunBatches.ts"
import { dying } from "./TakenLines.ts"
import { deleting } from "./EndedLines.ts"
import { expectSame, noon, noonPlus } from "./freshNames.ts"
import { retrying } from "./EndedLines.ts"
import { takingTurns } from "./TakenLines.ts"
import { freshKeyed, reserve } from "./keyedRequests.ts"

type Ports = AuditLog | Batches | Configuration | IdempotencyKeys
type It = Vitest.MethodsNonLive<Ports>

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

  it.effect("adds up what the lines of a rehearsal would create", () =>
    Effect.gen(function* () {
      const rehearsing = { operation: "IMPORT", dryRun: true } as const
      const batch = yield* started(["a", "b", "c"], rehearsing)
      const { rehearsed } = yield* Batches
      const chunk = yield* taken()
      const sums = (imported: string, reason: string | null): AccountSums => ({
        imported,
        added: "0",
        ledgers: [["ELECTRICITY", imported]],
        transactions: [["CHARGE", reason, 2, "500"]],
        statements: [0, "0"]
      })
      const [a, b, c] = chunk.lines.map(endOf("SUCCEEDED")) as [EndedLine, EndedLine, EndedLine]
      yield* finish(chunk, [
        { ...a, rehearsed: sums("-1234", "FEE") },
        { ...b, rehearsed: sums(`${10n ** 17n}`, null) },
        c
      ])
      expect(yield* rehearsed(batch.id)).toEqual([
        { kind: "account", name: "", count: 2, hundredths: 10n ** 17n - 1234n },
        { kind: "ledger", name: "ELECTRICITY", count: 2, hundredths: 10n ** 17n - 1234n },
        { kind: "transaction", name: '["CHARGE","FEE"]', count: 2, hundredths: 500n },
        { kind: "transaction", name: '["CHARGE",null]', count: 2, hundredths: 500n }
      ])
    })
  )

  it.effect("counts an account once that several lines of a rehearsal would create", () =>
    Effect.gen(function* () {
      const batch = yield* begun({ operation: "IMPORT", dryRun: true })
      for (const numbers of [["a", "a", "b"], ["b"], ["b", "a", "c"]]) {
        yield* append(batch, linesOf(...numbers), {
          from: (yield* found(batch)).counts.received + 1
        })
      }
      yield* start(batch, 7)
      const imported = { added: "0", ledgers: [], transactions: [], statements: [0, "0"] } as const
      const fails = new Set([4])
      const endNext = Effect.gen(function* () {
        const chunk = yield* taken()
        const ended = chunk.lines.map((line) =>
          fails.has(line.line)
            ? endOf("FAILED")(line)
            : { ...endOf("SUCCEEDED")(line), rehearsed: { ...imported, imported: "100" } }
        )
        yield* finish(chunk, ended)
        return yield* found(batch)
      })
      yield* Effect.repeat(Effect.scoped(endNext), {
        until: ({ finishedAt }) => finishedAt !== null
      })
      expect(yield* (yield* Batches).rehearsed(batch.id)).toEqual([
        { kind: "account", name: "", count: 3, hundredths: 300n }
      ])
    })
  )

  it.effect("gives no lines of an open, paused or cancelled batch", () =>
    Effect.gen(function* () {
      yield* append(yield* begun(), linesOf("a"))
      const paused = yield* started(["a"])
      yield* decided(paused, (batch) => Batch.pause(batch, "CALLER"))
      const stopped = yield* started(["a"])
      yield* decided(stopped, (batch) => Batch.cancel(batch, noon))
      expect(yield* takeNext()).toEqual(Option.none())
    })
  )

  it.effect("holds a line back until the earlier ones of its number have ended", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "a"])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* taken()
          expect(first.lines.map(({ line }) => line)).toEqual([1, 2])
          const [one, two] = first.lines.map(endOf("SUCCEEDED")) as [EndedLine, EndedLine]
          yield* finish(first, [two], {
            postponed: [{ line: one.line, isCounted: true }],
            readyAt: noonPlus(5)
          })
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

  it.effect("holds a line back from the chunk of an earlier line of its number", () =>
    Effect.gen(function* () {
      const numbers = Array.from({ length: 150 }, (_, index) => `n${index}`)
      const batch = yield* started([...numbers, "n0"])
      const first = yield* taken()
      const meanwhile = yield* Effect.scoped(takeNext())
      const lines = Option.isSome(meanwhile) ? meanwhile.value.lines : []
      expect(lines.map(({ line }) => line)).not.toContain(151)
      yield* finish(first, first.lines.map(endOf("SUCCEEDED")))
      for (let taking = yield* takeNext(); Option.isSome(taking); taking = yield* takeNext()) {
        yield* finish(taking.value, taking.value.lines.map(endOf("SUCCEEDED")))
      }
      expect(Batch.stateOf(yield* found(batch))).toBe("COMPLETED")
    })
  )

  it.effect("gives lines again that a worker gave back, which is not dead", () =>
    Effect.gen(function* () {
      yield* started(["a", "b"])
      yield* Effect.scoped(taken())
      const again = yield* taken()
      expect(again.lines.map(({ line }) => line)).toEqual([1, 2])
      expect(again.abandoned).toBe(0)
    })
  )

  it.effect("ends the lines of a cancelled batch that no worker has in hand", () =>
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

const finishing = (it: It): void => {
  it.effect("deletes the keys under which the lines ran", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* started(["a"])
      const requests = keysOf(id, 1).map((key) => ({ ...freshKeyed(caller.organisation), key }))
      yield* Effect.forEach(requests, (request) => reserve(request))
      const chunk = yield* taken()
      yield* chunk.confirm
      yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
      for (const request of requests) {
        expect((yield* reserve(request)).reserving).toEqual({ _tag: "Reserved" })
      }
    })
  )

  it.effect("pauses the batch when too many lines have failed", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c"], { maxFailures: 1 })
      const chunk = yield* taken()
      yield* finish(chunk, chunk.lines.slice(0, 2).map(endOf("FAILED")))
      expect([...(yield* found(batch)).pausedBy]).toEqual(["FAILURES"])
      const { ofRequest } = yield* AuditLog
      const entries = yield* ofRequest(serviceFor({ ...batch.caller, id: batch.id }).requestId)
      expect(entries).toMatchObject([{ action: "pause_batch", outcome: "FAILURES" }])
    })
  )
}

const answering = (it: It): void => {
  it.effect("returns results up to the first unfinished line, or all that exist", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c"])
      const chunk = yield* taken()
      const [one, two, three] = chunk.lines as [
        ChunkInHand["lines"][number],
        ChunkInHand["lines"][number],
        ChunkInHand["lines"][number]
      ]
      yield* finish(chunk, [endOf("SUCCEEDED")(one), endOf("FAILED")(three)], {
        postponed: [{ line: two.line, isCounted: false }]
      })
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

  it.effect("lists lines by outcome, including those that have not ended", () =>
    Effect.gen(function* () {
      const { lines } = yield* Batches
      const batch = yield* started(["a", null, "c", "d"])
      const chunk = yield* taken()
      const ended = chunk.lines
        .filter(({ line }) => line !== 3)
        .map((each) => endOf(each.line === 2 ? "SUCCEEDED" : "FAILED")(each))
      yield* finish(chunk, ended)
      const listed = Effect.fnUntraced(function* (more: Partial<LinesQuery>) {
        const query = { id: batch.id, afterLine: 0, outcome: null, limit: 10, ...more }
        return (yield* lines(query)).map((each) => [each.line, each.externalAccountNumber])
      })
      const all = [
        [1, "a"],
        [2, null],
        [3, "c"],
        [4, "d"]
      ]
      expect(yield* listed({})).toEqual(all)
      expect(yield* listed({ afterLine: 1, limit: 2 })).toEqual(all.slice(1, 3))
      expect(yield* listed({ outcome: "FAILED" })).toEqual([
        [1, "a"],
        [4, "d"]
      ])
      expect(yield* listed({ outcome: "FAILED", afterLine: 1, limit: 1 })).toEqual([[4, "d"]])
      expect(yield* listed({ outcome: "REMAINING" })).toEqual([[3, "c"]])
      expect(yield* listed({ outcome: "CANCELLED" })).toEqual([])
      const query = { id: batch.id, afterLine: 2, outcome: null, limit: 10 }
      expect(yield* lines(query)).toEqual([
        { line: 3, externalAccountNumber: "c", outcome: null, text: null },
        { line: 4, externalAccountNumber: "d", outcome: "FAILED", text: ended[2]?.text }
      ])
    })
  )

  it.effect("ends the results at the limit", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c", "d"])
      const chunk = yield* taken()
      const outcomes = ["SUCCEEDED", "FAILED", "SUCCEEDED", "FAILED"] as const
      yield* finish(
        chunk,
        chunk.lines.map((line, index) => endOf(outcomes[index] ?? "FAILED")(line))
      )
      const cut = { isComplete: false }
      const table = [
        [{ limit: 2 }, { ...cut, lines: [1, 2], through: 2 }],
        [
          { limit: 2, afterLine: 1 },
          { ...cut, lines: [2, 3], through: 3 }
        ],
        [
          { limit: 1, outcome: "FAILED" },
          { ...cut, lines: [2], through: 2 }
        ],
        [
          { limit: 2, outcome: "FAILED" },
          { lines: [2, 4], through: 4, isComplete: true }
        ],
        [
          { limit: 3, outcome: "FAILED" },
          { lines: [2, 4], through: 4, isComplete: true }
        ],
        [{ outcome: "CANCELLED" }, { lines: [], through: 4, isComplete: true }]
      ] as const
      for (const [query, expected] of table) {
        expectSame(yield* resultsOf(batch, query), expected)
      }
    })
  )

  it.effect("groups problems by code and path, the most frequent first", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c", "d", "e", "f", "g"])
      const batches = yield* Batches
      const chunk = yield* taken()
      const email = { code: "invalid", attr: "customers.*.email", detail: "No e-mail." } as const
      const judged = { detail: "Required.", businessDay: "2026-01-15" }
      const required = { code: "required", attr: "customers", ...judged } as const
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
        examples: [{ line: 7, externalAccountNumber: "g", ...judged }]
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
export const batchWorkContract = (name: string, ports: Layer.Layer<Ports>): void => {
  withLayer(ports)(`Batches at work, ${name}`, (it) => {
    describe("take", () => working(it))
    describe("turns", () => takingTurns(it))
    describe("finish", () => finishing(it))
    describe("retries", () => retrying(it))
    describe("a worker that died", () => dying(it))
    describe("results", () => answering(it))
    describe("deleteLines", () => deleting(it))
  })
}
