/**
 * A random source of its own for jitter. A program with a seeded random source must get the same
 * numbers on every storage adapter, so that a run can be repeated.
 */
import { Effect, Random } from "effect"

const own = Random.Random.defaultValue()

/** Runs the effect with the random source of its own. */
export const withOwnRandom = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Random.Random, own)
