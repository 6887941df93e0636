/** A clock with a different time that sleeps like the clock of the process. */
import { type Clock, Effect } from "effect"

/** @param millis Unix time in milliseconds @param nanos Unix time in nanoseconds */
export const make = (
  process: Clock.Clock,
  millis: () => number,
  nanos: () => bigint
): Clock.Clock => ({
  currentTimeMillisUnsafe: millis,
  currentTimeMillis: Effect.sync(millis),
  currentTimeNanosUnsafe: nanos,
  currentTimeNanos: Effect.sync(nanos),
  monotonicTimeNanosUnsafe: () => process.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: process.monotonicTimeNanos,
  sleep: (duration) => process.sleep(duration)
})
