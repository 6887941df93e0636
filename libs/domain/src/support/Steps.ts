/**
 * Long computations in short steps. A service runs everything on one event loop, so whatever
 * computes for long must pause, or every other request waits for it. A computation is a generator
 * that yields wherever it may pause; it is run without a pause, or as an effect that gives way to
 * the event loop every few milliseconds.
 */
import { Clock, Effect, Semaphore } from "effect"

/** A computation of `A` that may pause at every yield, at most a millisecond apart. */
export type Steps<A> = Generator<void, A>

/** The result, computed without a pause. */
export const finish = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** How long a computation goes on before it gives way, in milliseconds. */
const timeSlice = 4

/**
 * Of all that takes longer than one stretch, a process computes one stretch in each turn of the
 * event loop: the stretches of all would add up between two turns. They take turns, so that one
 * that needs a few stretches does not wait for one that needs hundreds.
 */
const slicePermit = Semaphore.makeUnsafe(1)

/**
 * The result, computed with pauses in which the event loop serves others. What takes less than one
 * stretch is computed without a pause, unless it is known to be long: the first stretches of many
 * would add up as well.
 */
export const inTimeSlices = <A>(make: () => Steps<A>, isLong = false): Effect.Effect<A> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const steps = make()
    /** The step that ended, or the last one of a stretch. */
    const advance = () => {
      const end = clock.currentTimeMillisUnsafe() + timeSlice
      let step = steps.next()
      while (step.done !== true && clock.currentTimeMillisUnsafe() < end) step = steps.next()
      return step
    }
    const nextSlice = slicePermit.withPermits(1)(Effect.map(Effect.yieldNow, advance))
    const goOn: Effect.Effect<A> = Effect.flatMap(nextSlice, (step) =>
      step.done === true ? Effect.succeed(step.value) : goOn
    )
    if (isLong) return goOn
    const first = advance()
    return first.done === true ? Effect.succeed(first.value) : goOn
  })
