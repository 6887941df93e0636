/**
 * A separate random source for jitter. A program with a seeded random source must get the same
 * numbers on every storage adapter, so that a run can be repeated.
 */
import { Effect, Random } from "effect"

const own = Random.Random.defaultValue()

/** Runs the effect with the separate random source. */
export const withOwnRandom = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Random.Random, own)
