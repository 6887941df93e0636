/**
 * Compares two subjects by pairs of runs in alternating order (A B, B A, A B), so that other work
 * on the machine affects both alike. The results are the median of each, and the median of the
 * ratios pair by pair. A pair that other processes disturbed is repeated.
 */
import { Console, Duration, Effect } from "effect"
import type { Sample } from "./Subjects.ts"
import { median, scatter } from "./Statistics.ts"

export type Metrics = Pick<Sample, "others" | "p50" | "p99" | "postgresCpu" | "rate" | "serviceCpu">

type Pair = readonly [ours: Metrics, other: Metrics]

/** The medians of the ratios of ours to the other, pair by pair. */
export type Ratios = Readonly<Record<"p50" | "postgresCpu" | "rate" | "serviceCpu", number>> & {
  /** Requests per second of processor time, PostgreSQL's included. */
  readonly perCpu: number
}

export interface Comparison {
  readonly ours: Metrics
  readonly other: Metrics
  /** The ratio of requests per second, ours to the other's, of each pair. */
  readonly ratios: ReadonlyArray<number>
  readonly ratio: number
  /** The range of the pairs' ratios, as a share of their median. */
  readonly scatter: number
  readonly ratioOf: Ratios
  /** Whether too few pairs were quiet, so that the disturbed ones count as well. */
  readonly isDisturbed: boolean
}

const middle = (samples: ReadonlyArray<Metrics>): Metrics => {
  const of = (name: keyof Metrics) => median(samples.map((sample) => sample[name]))
  return {
    rate: of("rate"),
    p50: of("p50"),
    p99: of("p99"),
    serviceCpu: of("serviceCpu"),
    postgresCpu: of("postgresCpu"),
    others: of("others")
  }
}

const cpu = ({ postgresCpu, serviceCpu }: Metrics): number => serviceCpu + postgresCpu

export const summary = (pairs: ReadonlyArray<Pair>, isDisturbed = false): Comparison => {
  const each = (name: Exclude<keyof Ratios, "perCpu">) =>
    pairs.map(([ours, other]) => ours[name] / other[name])
  const ratios = each("rate")
  return {
    ours: middle(pairs.map(([ours]) => ours)),
    other: middle(pairs.map(([, other]) => other)),
    ratios,
    ratio: median(ratios),
    scatter: scatter(ratios),
    ratioOf: {
      rate: median(ratios),
      p50: median(each("p50")),
      serviceCpu: median(each("serviceCpu")),
      postgresCpu: median(each("postgresCpu")),
      perCpu: median(pairs.map(([ours, other]) => cpu(other) / cpu(ours)))
    },
    isDisturbed
  }
}

/** What other processes may take of a core without disturbing a run. */
const allowedOthers = 0.15

const isQuiet = (pair: Pair): boolean => pair.every(({ others }) => others <= allowedOthers)

const pause = Duration.seconds(5)

/** Runs pairs until this many were undisturbed, but at most twice as many. */
export const inTurn = Effect.fnUntraced(function* <E, R>(
  count: number,
  ours: Effect.Effect<Metrics, E, R>,
  other: Effect.Effect<Metrics, E, R>
) {
  const pairs: Array<Pair> = []
  const quiet = () => pairs.filter(isQuiet)
  for (let taken = 0; taken < 2 * count && quiet().length < count; taken++) {
    const first = yield* taken % 2 === 0 ? ours : other
    const second = yield* taken % 2 === 0 ? other : ours
    const pair: Pair = taken % 2 === 0 ? [first, second] : [second, first]
    pairs.push(pair)
    if (isQuiet(pair)) continue
    const share = Math.max(...pair.map(({ others }) => others)).toFixed(2)
    yield* Console.error(`Disturbed by ${share} of a core; the pair is taken again`)
    yield* Effect.sleep(pause)
  }
  const isDisturbed = 2 * quiet().length < count
  return summary(isDisturbed ? pairs : quiet(), isDisturbed)
})
