/**
 * How long lines of a chunk go on. A chunk whose lines only wait for a vendor or a store, or that
 * takes long, is given back, so that others run. When it is taken again, one line goes first, and
 * the pause before that grows as long as nothing is answered.
 */
import { Clock, DateTime, Duration, Effect } from "effect"
import type { WaitingFor } from "./Batch.ts"
import type { ChunkInHand } from "./Batches.ts"
import type { LineRun, PreparedLine } from "./LineRunner.ts"

type Line = ChunkInHand["lines"][number]
type Chunk = Pick<ChunkInHand, "lines" | "waits">
type Ran = LineRun | PreparedLine | null

/** A chunk begins no further line after this time. */
const longestTurn = Duration.seconds(10)

/**
 * It begins none either once so many lines wait for others, and they are most of those that ran.
 */
const mostWaiting = 4

/** The pause before a postponed line is tried again. It doubles with each counted try. */
const firstRetry = Duration.seconds(1)

/** The longest pause before a chunk that waits for others is tried again. */
const longestPause = Duration.seconds(30)

const ofOthers: ReadonlySet<WaitingFor | null> = new Set<WaitingFor>(["VENDOR", "DOCUMENTS"])

const waitsForOthers = (run: Ran): boolean =>
  run?._tag === "Postponed" && ofOthers.has(run.waitingFor)

type Postponed = Extract<LineRun, { readonly _tag: "Postponed" }>

interface Turn {
  /** Runs lines until the turn is over. Those that are left are postponed. */
  readonly run: <A extends Ran>(
    lines: ReadonlyArray<Line>,
    run: (line: Line) => Effect.Effect<A>,
    concurrency: number
  ) => Effect.Effect<ReadonlyArray<A | LineRun>>
  /** How lines of the chunk ended, and when those that are left are ready again. */
  readonly finishing: (
    runs: ReadonlyArray<LineRun>,
    at: DateTime.Utc
  ) => Omit<Parameters<ChunkInHand["finish"]>[0], "imports" | "reverts" | "caller">
}

/** Another line each time, because one may wait for ever. */
const probeOf = ({ waits }: Chunk, lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const probe = waits > 0 ? lines[waits % lines.length] : undefined
  return probe === undefined ? [] : [probe]
}

const pauseAfter = (waits: number): Duration.Duration =>
  Duration.min(Duration.times(firstRetry, 2 ** Math.min(waits - 1, 10)), longestPause)

const finishingOf =
  ({ lines, waits: before }: Chunk, left: ReadonlySet<number>): Turn["finishing"] =>
  (runs, at) => {
    const ended = runs.flatMap((run) => (run._tag === "Ended" ? [run.end] : []))
    const postponed = runs.filter((run): run is Postponed => run._tag === "Postponed")
    const ran = postponed.filter((run) => !left.has(run.postponed.line))
    const counted = new Set(
      ran.flatMap(({ postponed: { isCounted, line } }) => (isCounted ? [line] : []))
    )
    const tries = Math.max(0, ...lines.map(({ line, tries }) => (counted.has(line) ? tries : 0)))
    const waits = ran.some(waitsForOthers) ? (ended.length > 0 ? 1 : before + 1) : 0
    const retry = Duration.times(firstRetry, 2 ** tries)
    const pause = waits > 0 ? Duration.max(retry, pauseAfter(waits)) : retry
    return {
      at,
      ended,
      postponed: postponed.map((run) => run.postponed),
      waits,
      waitingFor: ended.length > 0 ? null : (ran[0]?.waitingFor ?? null),
      readyAt: ran.length > 0 ? DateTime.addDuration(at, pause) : at
    }
  }

/** The turn of a chunk, which begins now. */
export const makeTurn = (chunk: Chunk): Effect.Effect<Turn> =>
  Effect.map(Clock.Clock, (clock) => {
    const until = clock.currentTimeMillisUnsafe() + Duration.toMillis(longestTurn)
    const left = new Set<number>()
    let ran = 0
    let waiting = 0
    const isOver = (): boolean =>
      clock.currentTimeMillisUnsafe() >= until ||
      (waiting >= (chunk.waits > 0 ? 1 : mostWaiting) && waiting * 2 > ran)

    const inTurn =
      <A extends Ran>(run: (line: Line) => Effect.Effect<A>) =>
      (line: Line): Effect.Effect<A | LineRun> =>
        Effect.suspend((): Effect.Effect<A | LineRun> => {
          if (isOver()) {
            left.add(line.line)
            const postponed = { line: line.line, isCounted: false }
            return Effect.succeed({ _tag: "Postponed", postponed, waitingFor: null })
          }
          return Effect.tap(run(line), (result) =>
            Effect.sync(() => {
              ran += 1
              if (waitsForOthers(result)) waiting += 1
            })
          )
        })

    const run: Turn["run"] = Effect.fnUntraced(function* (lines, runLine, concurrency) {
      const probe = ran === 0 ? probeOf(chunk, lines) : []
      const first = yield* Effect.forEach(probe, inTurn(runLine))
      const others = lines.filter((line) => !probe.includes(line))
      const after = yield* Effect.forEach(others, inTurn(runLine), { concurrency })
      const results = new Map(
        [...probe, ...others].map((line, at) => [line, [...first, ...after][at]])
      )
      return lines.map((line) => results.get(line) as (typeof after)[number])
    })

    return { run, finishing: finishingOf(chunk, left) }
  })
