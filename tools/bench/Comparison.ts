/**
 * Two sides measured in turn, A B, B A, A B, so that what else the machine does affects both alike.
 * The result is the median of each, and that of the ratios of the pairs with their quartiles.
 */
import { Effect } from "effect"
import { quantile } from "@data-import/testbed/Quantile"

/** Per second, in milliseconds, and in milliseconds of processor time for a request. */
export interface Metrics {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly serviceCpu: number
  readonly postgresCpu: number
}

export interface Comparison {
  readonly ours: Metrics
  readonly other: Metrics
  /** Our rate to the other's: the lower quartile, the median and the upper quartile. */
  readonly ratio: readonly [low: number, median: number, high: number]
}

type Pair = readonly [ours: Metrics, other: Metrics]

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const [low = 0, high = low] = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
  return (low + high) / 2
}

const middle = (samples: ReadonlyArray<Metrics>): Metrics => {
  const of = (name: keyof Metrics) => median(samples.map((sample) => sample[name]))
  return {
    rate: of("rate"),
    p50: of("p50"),
    p99: of("p99"),
    serviceCpu: of("serviceCpu"),
    postgresCpu: of("postgresCpu")
  }
}

export const summary = (pairs: ReadonlyArray<Pair>): Comparison => {
  const ratios = pairs.map(([ours, other]) => ours.rate / other.rate)
  return {
    ours: middle(pairs.map(([ours]) => ours)),
    other: middle(pairs.map(([, other]) => other)),
    ratio: [quantile(ratios, 0.25), median(ratios), quantile(ratios, 0.75)]
  }
}

export const inTurn = Effect.fnUntraced(function* <E, R>(
  count: number,
  ours: Effect.Effect<Metrics, E, R>,
  other: Effect.Effect<Metrics, E, R>
) {
  const pairs: Array<Pair> = []
  while (pairs.length < count) {
    const isOursFirst = pairs.length % 2 === 0
    const first = yield* isOursFirst ? ours : other
    const second = yield* isOursFirst ? other : ours
    pairs.push(isOursFirst ? [first, second] : [second, first])
  }
  return summary(pairs)
})
