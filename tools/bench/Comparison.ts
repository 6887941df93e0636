/**
 * Two sides measured in turn, A B, B A, A B, so that what else the machine does affects both alike,
 * and the result: the median of each, and the median of the ratios of the pairs. Pairs are taken
 * until that median is known precisely. A pair that other processes disturbed is not counted.
 */
import { Console, Duration, Effect } from "effect"
import type { Sample } from "./Subjects.ts"
import { median, medianInterval } from "./Statistics.ts"

export type Metrics = Pick<Sample, "others" | "p50" | "p99" | "postgresCpu" | "rate" | "serviceCpu">

type Pair = readonly [ours: Metrics, other: Metrics]

/** The medians of ours to the other's, pair by pair. */
export type Ratios = Readonly<Record<"p50" | "postgresCpu" | "rate" | "serviceCpu", number>> & {
  /** Requests per second of processor time, PostgreSQL's included. */
  readonly perCpu: number
}

export interface Comparison {
  readonly ours: Metrics
  readonly other: Metrics
  /** How many pairs count. */
  readonly pairs: number
  /** Requests a second, ours to the other's: the median of the pairs, and its interval of 95 %. */
  readonly ratio: number
  readonly interval: readonly [low: number, high: number]
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
    pairs: pairs.length,
    ratio: median(ratios),
    interval: medianInterval(ratios),
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

/** How far the ends of the interval are from the ratio at most, as a share of it. */
export const impreciseBy = ({ interval: [low, high], ratio }: Comparison): number =>
  Math.max(ratio - low, high - ratio) / ratio

/** Above this, pairs are added. */
const precision = 0.06

/** What other processes may take of a core without disturbing a run. */
const allowedOthers = 0.15

const isQuiet = (pair: Pair): boolean => pair.every(({ others }) => others <= allowedOthers)

const pause = Duration.seconds(5)

/** How many quiet pairs are taken at least, and at most until the ratio is precise. */
export interface PairLimits {
  readonly least: number
  readonly most: number
}

/** Exactly so many. */
export const exactly = (pairs: number): PairLimits => ({ least: pairs, most: pairs })

/**
 * Takes pairs within the limits. If the machine is rarely quiet, it stops at twice the most and
 * counts the disturbed pairs as well.
 */
export const inTurn = Effect.fnUntraced(function* <E, R>(
  { least, most }: PairLimits,
  ours: Effect.Effect<Metrics, E, R>,
  other: Effect.Effect<Metrics, E, R>
) {
  const pairs: Array<Pair> = []
  const quiet = () => pairs.filter(isQuiet)
  const isEnough = () => {
    const { length } = quiet()
    return length >= most || (length >= least && impreciseBy(summary(quiet())) <= precision)
  }
  for (let taken = 0; taken < 2 * most && !isEnough(); taken++) {
    const first = yield* taken % 2 === 0 ? ours : other
    const second = yield* taken % 2 === 0 ? other : ours
    const pair: Pair = taken % 2 === 0 ? [first, second] : [second, first]
    pairs.push(pair)
    if (isQuiet(pair)) continue
    const share = Math.max(...pair.map(({ others }) => others)).toFixed(2)
    yield* Console.error(`Disturbed by ${share} of a core; the pair is taken again`)
    yield* Effect.sleep(pause)
  }
  const isDisturbed = 2 * quiet().length < least
  return summary(isDisturbed ? pairs : quiet(), isDisturbed)
})
