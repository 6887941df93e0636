/**
 * Two sides measured in turn, A B, B A, A B, so that what else the machine does affects both alike,
 * and the result: the median of each, and the centre of the ratios of the pairs. A pair that other
 * processes disturbed is taken again. Several comparisons take turns as well, so that each meets
 * the machine at all of its speeds.
 */
import { Array, Console, Duration, Effect, type Scope } from "effect"
import type { Sample } from "./Subjects.ts"
import { type Centre, centre, median } from "./Statistics.ts"

export type Metrics = Pick<Sample, "others" | "p50" | "p99" | "postgresCpu" | "rate" | "serviceCpu">

export type Pair = readonly [ours: Metrics, other: Metrics]

/**
 * Ours to the other's: the centres of the ratios of the pairs. `perCpu` is of the requests per
 * second of processor time, PostgreSQL's included.
 */
export type Ratios = Readonly<
  Record<"p50" | "p99" | "perCpu" | "postgresCpu" | "rate" | "serviceCpu", Centre>
>

export interface Comparison {
  readonly ours: Metrics
  readonly other: Metrics
  /** How many pairs count. */
  readonly pairs: number
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

/**
 * The centre of the ratios of all rounds, with the interval of the centres of each: ratios of one
 * round share their starts, so only rounds are independent. A single round has the interval of its
 * ratios. Logarithms of ratios lie symmetrically: twice is as far as half.
 */
const centreOf = (ratios: ReadonlyArray<ReadonlyArray<number>>): Centre => {
  const logarithms = ratios.map((round) => round.map(Math.log))
  const all = centre(logarithms.flat())
  const ofEach = centre(logarithms.map((round) => centre(round).value))
  const [low, high] = (ratios.length === 1 ? all : ofEach).interval
  return { value: Math.exp(all.value), interval: [Math.exp(low), Math.exp(high)] }
}

/** What other processes may take of a core without disturbing a run. */
const allowedOthers = 0.15

const isQuiet = (pair: Pair): boolean => pair.every(({ others }) => others <= allowedOthers)

/** Counts the quiet pairs of the rounds, or all if three quarters or more were disturbed. */
export const summary = (taken: ReadonlyArray<ReadonlyArray<Pair>>): Comparison => {
  const quiet = taken.map((round) => round.filter(isQuiet)).filter(Array.isReadonlyArrayNonEmpty)
  const isDisturbed = 4 * quiet.flat().length <= taken.flat().length
  const rounds = isDisturbed ? taken : quiet
  const pairs = rounds.flat()
  const ratios = (of: (pair: Pair) => number) => centreOf(rounds.map((round) => round.map(of)))
  const each = (name: Exclude<keyof Ratios, "perCpu">) =>
    ratios(([ours, other]) => ours[name] / other[name])
  return {
    ours: middle(pairs.map(([ours]) => ours)),
    other: middle(pairs.map(([, other]) => other)),
    pairs: pairs.length,
    ratioOf: {
      rate: each("rate"),
      p50: each("p50"),
      p99: each("p99"),
      serviceCpu: each("serviceCpu"),
      postgresCpu: each("postgresCpu"),
      perCpu: ratios(([ours, other]) => cpu(other) / cpu(ours))
    },
    isDisturbed
  }
}

/** How far the ends of the interval are from the ratio at most, as a share of it. */
export const impreciseBy = ({ interval: [low, high], value }: Centre): number =>
  Math.max(value - low, high - value) / value

const pause = Duration.seconds(5)

/** Takes this many quiet pairs, or twice as many pairs if the machine is rarely quiet. */
export const inTurn = Effect.fnUntraced(function* <E, R>(
  count: number,
  ours: Effect.Effect<Metrics, E, R>,
  other: Effect.Effect<Metrics, E, R>
) {
  const pairs: Array<Pair> = []
  const isEnough = () => pairs.length >= 2 * count || pairs.filter(isQuiet).length >= count
  while (!isEnough()) {
    const isOursFirst = pairs.length % 2 === 0
    const first = yield* isOursFirst ? ours : other
    const second = yield* isOursFirst ? other : ours
    const pair: Pair = isOursFirst ? [first, second] : [second, first]
    pairs.push(pair)
    if (isQuiet(pair)) continue
    const share = Math.max(...pair.map(({ others }) => others)).toFixed(2)
    yield* Console.error(`Disturbed by ${share} of a core; the pair is taken again`)
    yield* Effect.sleep(pause)
  }
  return pairs
})

/** Two sides that are compared. */
export interface Sides<E> {
  /** Load that is not measured, before the pairs of each round. */
  readonly warmUp: Effect.Effect<unknown, E>
  readonly ours: Effect.Effect<Metrics, E>
  readonly other: Effect.Effect<Metrics, E>
}

/** Comparisons of systems that are started together. */
export interface Group<S, E> {
  /** The pairs of each comparison. */
  readonly pairs: number
  /** Starts the systems, which are stopped after each round. */
  readonly start: Effect.Effect<ReadonlyArray<S & Sides<E>>, E, Scope.Scope>
}

/** The fewest that give an interval of 95 %. */
const rounds = 6
const fewestPairs = 4

/** How many pairs each round takes: rounds with fewer than four would hardly repay their start. */
const pairsOfRounds = (pairs: number): ReadonlyArray<number> => {
  const count = Math.min(rounds, Math.ceil(pairs / fewestPairs))
  const soFar = (round: number) => Math.floor((round * pairs) / count)
  return Array.makeBy(count, (round) => soFar(round + 1) - soFar(round))
}

const inOneRound = Effect.fnUntraced(function* <S, E>({ start }: Group<S, E>, count: number) {
  const compared = yield* start
  return yield* Effect.forEach(
    compared,
    Effect.fnUntraced(function* (sides) {
      yield* sides.warmUp
      return { sides, pairs: yield* inTurn(count, sides.ours, sides.other) }
    })
  )
}, Effect.scoped)

/**
 * Takes the pairs of each group in six rounds over all groups. Every round starts the systems
 * anew: Node compiles the same program differently at each start, so that one start of each side
 * would decide the ratio.
 */
export const inRounds = Effect.fnUntraced(function* <S, E>(groups: ReadonlyArray<Group<S, E>>) {
  const planned = groups.map((group) => ({
    group,
    counts: pairsOfRounds(group.pairs),
    taken: [] as Array<Effect.Success<ReturnType<typeof inOneRound<S, E>>>>
  }))
  for (let round = 0; round < rounds; round++) {
    for (const { counts, group, taken } of planned) {
      const count = counts[round]
      if (count === undefined) continue
      yield* Console.error(`Round ${round + 1} of ${counts.length}`)
      taken.push(yield* inOneRound(group, count))
    }
  }
  return planned.flatMap(({ taken }) =>
    (taken[0] ?? []).map(({ sides }, place) => ({
      sides,
      comparison: summary(taken.map((round) => round[place]?.pairs ?? []))
    }))
  )
})
