/**
 * Random numbers for pauses alone. A program whose random numbers are seeded must draw the same
 * ones on every storage adapter, so that a run can be repeated.
 */
import { Effect, Random } from "effect"

const own = Random.Random.defaultValue()

/** Runs the effect with random numbers that the caller does not miss. */
export const withOwnRandom = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Random.Random, own)
