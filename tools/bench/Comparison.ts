/**
 * Runs in turn, A B, B A, A B, so that what the machine does besides falls on both alike, and what
 * comes of them: the middle of each, and the middle of the ratios pair by pair.
 */
import { Effect } from "effect"
import type { Sample } from "./Subjects.ts"
import { median } from "./Statistics.ts"

export type Metrics = Pick<Sample, "p50" | "p99" | "postgresCpu" | "rate" | "serviceCpu">

export interface Comparison {
  readonly ours: Metrics
  readonly other: Metrics
  /** Ours to the other, of each pair. */
  readonly ratios: ReadonlyArray<number>
  readonly ratio: number
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

export const summary = (
  pairs: ReadonlyArray<readonly [ours: Metrics, other: Metrics]>
): Comparison => {
  const ratios = pairs.map(([ours, other]) => ours.rate / other.rate)
  return {
    ours: middle(pairs.map(([ours]) => ours)),
    other: middle(pairs.map(([, other]) => other)),
    ratios,
    ratio: median(ratios)
  }
}

/** So many pairs of runs. */
export const inTurn = Effect.fnUntraced(function* <E, R>(
  count: number,
  ours: Effect.Effect<Metrics, E, R>,
  other: Effect.Effect<Metrics, E, R>
) {
  const pairs: Array<readonly [Metrics, Metrics]> = []
  for (let pair = 0; pair < count; pair++) {
    if (pair % 2 === 0) {
      const first = yield* ours
      pairs.push([first, yield* other])
    } else {
      const first = yield* other
      pairs.push([yield* ours, first])
    }
  }
  return summary(pairs)
})
