/**
 * Long computations in short steps. A service runs everything on one event loop, so whatever
 * computes for long must pause, or every other request waits for it. A computation is a generator
 * that yields wherever it may pause; it is run without a pause, or as an effect that gives way to
 * the event loop every few milliseconds.
 */
import { Clock, Effect } from "effect"

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
const stretch = 4

/**
 * The result, computed with pauses in which the event loop serves others. What takes less than one
 * stretch is computed without a pause.
 */
export const inTurns = <A>(make: () => Steps<A>): Effect.Effect<A> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const steps = make()
    const goOn: Effect.Effect<A> = Effect.suspend(() => {
      const end = clock.currentTimeMillisUnsafe() + stretch
      do {
        const step = steps.next()
        if (step.done === true) return Effect.succeed(step.value)
      } while (clock.currentTimeMillisUnsafe() < end)
      return Effect.andThen(Effect.yieldNow, goOn)
    })
    return goOn
  })
