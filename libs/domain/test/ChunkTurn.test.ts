import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { WaitingFor } from "../src/batches/Batch.ts"
import { makeTurn } from "../src/batches/ChunkTurn.ts"
import type { LineRun } from "../src/batches/LineRunner.ts"
import type { ChunkInHand } from "../src/batches/Batches.ts"

type Line = ChunkInHand["lines"][number]

const linesOf = (count: number): ReadonlyArray<Line> =>
  Array.from({ length: count }, (_, index) => ({
    line: index + 1,
    bytes: null,
    externalAccountNumber: null,
    sourceLine: null,
    tries: 0
  }))

const ended = ({ line }: Line): LineRun => ({
  _tag: "Ended",
  end: { line, externalAccountNumber: null, outcome: "SUCCEEDED", text: "{}", problems: [] }
})

const waitingOn =
  (waitingFor: WaitingFor) =>
  ({ line }: Line): LineRun => ({
    _tag: "Postponed",
    postponed: { line, isCounted: false },
    waitingFor
  })

const waiting = waitingOn("VENDOR")

/** Runs lines in order; `answer` says how each ends. Returns which ran, and how it finishes. */
const turnOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Line>,
  waits: number,
  answer: (line: Line) => LineRun
) {
  const turn = yield* makeTurn({ lines, waits })
  const ran: Array<number> = []
  const run = (line: Line) =>
    Effect.sync(() => {
      ran.push(line.line)
      return answer(line)
    })
  const runs = yield* turn.run(lines, run, 1)
  const at = DateTime.makeUnsafe(0)
  const finishing = turn.finishing(runs, at)
  return { ...finishing, ran, pause: finishing.readyAt.epochMilliseconds }
})

describe("the turn of a chunk", () => {
  it.effect.each([
    ["VENDOR", 4, 1],
    ["DOCUMENTS", 4, 1],
    ["LIMIT", 100, 0],
    ["DATABASE", 100, 0]
  ] as const)("whose lines only wait for the %s runs %i of 100", ([waitingFor, ran, waits]) =>
    Effect.gen(function* () {
      const turn = yield* turnOf(linesOf(100), 0, waitingOn(waitingFor))
      expect(turn.ran).toEqual(Array.from({ length: ran }, (_, index) => index + 1))
      expect(turn.postponed).toHaveLength(100)
      expect(turn).toMatchObject({ ended: [], waits, waitingFor, pause: 1_000 })
    })
  )

  it.effect("goes on while most lines are answered", () =>
    Effect.gen(function* () {
      const turn = yield* turnOf(linesOf(20), 0, (line) =>
        line.line % 3 === 0 ? waiting(line) : ended(line)
      )
      expect(turn.ran).toHaveLength(20)
      expect(turn).toMatchObject({ waits: 1, waitingFor: null })
    })
  )

  it.effect.each([
    [1, [2], 2_000],
    [3, [4], 8_000],
    [40, [1], 30_000]
  ] as const)("begins with one line after %i without an answer", ([waits, probes, pause]) =>
    Effect.gen(function* () {
      const turn = yield* turnOf(linesOf(10), waits, waiting)
      expect(turn).toMatchObject({ ran: probes, waits: waits + 1, pause })
    })
  )

  it.effect("runs the others when that line is answered", () =>
    Effect.gen(function* () {
      const turn = yield* turnOf(linesOf(4), 2, ended)
      expect(turn.ran).toEqual([3, 1, 2, 4])
      expect(turn.ended.map(({ line }) => line)).toEqual([1, 2, 3, 4])
      expect(turn.waits).toBe(0)
    })
  )

  it.effect("begins no line after ten seconds, and the others are ready at once", () =>
    Effect.gen(function* () {
      const lines = linesOf(5)
      const turn = yield* makeTurn({ lines, waits: 0 })
      const run = (line: Line) => Effect.as(TestClock.adjust("4 seconds"), ended(line))
      const at = DateTime.makeUnsafe(0)
      const { ended: ends, postponed, readyAt } = turn.finishing(yield* turn.run(lines, run, 1), at)
      expect([ends.length, postponed.length, readyAt]).toEqual([3, 2, at])
    })
  )
})
