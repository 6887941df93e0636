/**
 * Long computations in short steps. A service has one event loop, so a long computation must pause,
 * or it delays every other request. A computation is a generator that yields wherever it may pause.
 * It runs without a pause, or as an effect that yields to the event loop every few milliseconds.
 */
import { Clock, Effect, Semaphore } from "effect"
import * as Holder from "./Holder.ts"
import * as KeyedSemaphores from "./KeyedSemaphores.ts"

/** A computation of `A` that may pause at every yield, at most a millisecond apart. */
export type Steps<A> = Generator<void, A>

/** The result, computed without a pause. */
export const finish = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** How long a computation runs before it yields to the event loop, in milliseconds. */
const timeSlice = 4

/**
 * A process computes one time slice in each iteration of the event loop, because the slices of all
 * long computations would add up. The permit passes round-robin over organisations, and within one
 * over its computations, so that none waits for the many of another, and a computation of a few
 * slices does not wait for one of hundreds.
 */
const oneComputation = Semaphore.makeUnsafe(1)
const ofHolder = KeyedSemaphores.make<Holder.Holder>(1)

const inTurn = <A>(slice: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.withFiber((fiber) =>
    ofHolder(Holder.of(fiber), (own) => own.withPermit(oneComputation.withPermit(slice)))
  )

/**
 * The result, computed with pauses for the event loop. A computation of less than one slice does
 * not pause, unless `isLong`: the first slices of many would add up.
 */
export const inTimeSlices = <A>(make: () => Steps<A>, isLong = false): Effect.Effect<A> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const steps = make()
    if (isLong) return continueInSlices(steps, clock)
    const first = advance(steps, clock)
    return first.done === true ? Effect.succeed(first.value) : continueInSlices(steps, clock)
  })

/** The step that ended, or the last one of a slice. */
const advance = <A>(steps: Steps<A>, clock: Clock.Clock) => {
  const end = clock.currentTimeMillisUnsafe() + timeSlice
  let step = steps.next()
  while (step.done !== true && clock.currentTimeMillisUnsafe() < end) step = steps.next()
  return step
}

const continueInSlices = <A>(steps: Steps<A>, clock: Clock.Clock): Effect.Effect<A> => {
  const next = Effect.map(Effect.yieldNow, () => advance(steps, clock))
  const nextSlice = inTurn(next)
  const goOn: Effect.Effect<A> = Effect.flatMap(nextSlice, (step) =>
    step.done === true ? Effect.succeed(step.value) : goOn
  )
  return goOn
}
