/**
 * The circuit breaker in front of the database. While it is open, requests are refused at once. A
 * probe of its own closes it, and never a request: a request may take minutes to arrive, and asks
 * for a part of the database only. That, and that a request which has begun goes on while the
 * breaker is open, is why this is not Effect's `CircuitBreaker`, whose next call is the probe.
 */
import { Duration, Effect, Latch, Schedule, type Stream, SubscriptionRef } from "effect"
import { withOwnRandom } from "./Jitter.ts"

/**
 * Why it is open. `away`: the database lets nobody in. `not_answering`: statements, or connections
 * to run them on, are waited for in vain. `read_only`: its server takes no writes, as one that was
 * the primary before a failover, or is not yet. What it holds may be out of date, so that reads are
 * refused as well.
 */
export type Trouble = "away" | "not_answering" | "read_only"

/** What is known of the database; the breaker is closed while it is `available`. */
export type State = "available" | Trouble

export interface Breaker {
  readonly isOpen: () => boolean
  readonly open: (trouble: Trouble) => Effect.Effect<void>
  /** The present state, and each that follows. */
  readonly states: Stream.Stream<State>
}

/** Between two probes while it is open. */
const pauses = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("1 second")]).pipe(
  Schedule.jittered
)

/** Between two probes while it is closed. */
const interval = Duration.seconds(10)

/**
 * A breaker that probes until the scope ends. `probe` is given the present state and answers with
 * the state that it found. The breaker is made open, and is given when it has been probed once.
 */
export const make = Effect.fnUntraced(function* (probe: (present: State) => Effect.Effect<State>) {
  const state = yield* SubscriptionRef.make<State>("away")
  const wasProbed = yield* Latch.make()
  const wasOpened = yield* Latch.make()

  const become = (found: State) =>
    SubscriptionRef.getUnsafe(state) === found ? Effect.void : SubscriptionRef.set(state, found)

  const untilAvailable = Effect.flatMap(SubscriptionRef.get(state), probe).pipe(
    Effect.tap(become),
    Effect.tap(() => wasProbed.open),
    Effect.repeat({ until: (found) => found === "available", schedule: pauses })
  )
  const nextTime = Effect.raceFirst(wasOpened.await, Effect.sleep(interval))
  const probing = Effect.forever(
    wasOpened.close.pipe(Effect.andThen(untilAvailable), Effect.andThen(nextTime))
  )
  yield* Effect.forkScoped(withOwnRandom(probing), { startImmediately: true })
  yield* wasProbed.await

  return {
    isOpen: () => SubscriptionRef.getUnsafe(state) !== "available",
    open: (trouble) => Effect.andThen(become(trouble), wasOpened.open),
    states: SubscriptionRef.changes(state)
  } satisfies Breaker
})
