/**
 * The circuit breaker in front of the database. While it is open, requests are refused at once.
 * Only a probe of its own closes it. A request would be a bad probe: it may take minutes to arrive,
 * and uses only a part of the database. Effect's `CircuitBreaker` uses the next call as the probe,
 * and refuses requests that have already started; this one lets them go on.
 */
import { Duration, Effect, Latch, Schedule, type Stream, SubscriptionRef } from "effect"
import { withOwnRandom } from "./Jitter.ts"

/**
 * Why the breaker is open. `away`: no connection can be made. `not_answering`: statements or
 * connections time out. `read_only`: the server refuses writes, like an old primary after a
 * failover. Its data may be out of date, so reads are refused as well.
 */
export type Outage = "away" | "not_answering" | "read_only"

/** The state of the database. The breaker is closed while it is `available`. */
export type State = "available" | Outage

export interface Breaker {
  readonly isOpen: () => boolean
  readonly open: (trouble: Outage) => Effect.Effect<void>
  /** The present state and each later one. */
  readonly states: Stream.Stream<State>
}

/** The pauses between probes while it is open. */
const pauses = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("1 second")]).pipe(
  Schedule.jittered
)

/** The pause between probes while it is closed. A silent database is noticed a probe later. */
const interval = Duration.seconds(1)

/**
 * Makes a breaker that probes until the scope ends. `probe` gets the present state and returns the
 * state that it found. The breaker starts open, and is returned after its first probe.
 */
export const make = Effect.fnUntraced(function* (probe: (present: State) => Effect.Effect<State>) {
  const state = yield* SubscriptionRef.make<State>("away")
  const wasProbed = yield* Latch.make()
  const wasOpened = yield* Latch.make()
  let openings = 0

  const become = (found: State) =>
    SubscriptionRef.getUnsafe(state) === found ? Effect.void : SubscriptionRef.set(state, found)

  // The result of a probe is older than a failure that was reported while the probe ran.
  const probeOnce = Effect.suspend(() => {
    const before = openings
    return Effect.tap(probe(SubscriptionRef.getUnsafe(state)), (found) =>
      openings === before ? become(found) : Effect.void
    )
  })
  const untilAvailable = probeOnce.pipe(
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
    open: (trouble) =>
      Effect.suspend(() => {
        openings += 1
        return Effect.andThen(become(trouble), wasOpened.open)
      }),
    states: SubscriptionRef.changes(state)
  } satisfies Breaker
})
