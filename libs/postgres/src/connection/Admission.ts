/**
 * The bounded queue in front of the connection pool. While the database is slow or away, requests
 * are refused fast and do not pile up. Load is shed before a request starts; a request that has
 * started is never shed and is served first. Like CoDel, the limit is on the time spent waiting,
 * not on the length of the queue. Organisations are served in turn and have queues of their own, so
 * that one whose statements take long waits for itself.
 */
import { Cause, Clock, Context, Duration, Effect, Exit, Option, Predicate } from "effect"
import { type ServiceUnavailable, unavailable } from "@data-import/domain/requests/Failure"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Holder from "@data-import/domain/support/Holder"
import type { Breaker, Outage } from "./CircuitBreaker.ts"
import { PriorityPermits } from "./PriorityPermits.ts"

export interface AdmissionLimits {
  /** How many permits there are. */
  readonly running: number
  /** How many may wait for a permit. One holder leaves half of the places to admitted requests. */
  readonly waiting: number
  /** How long each waits at most. A request that would wait a quarter of this is not admitted. */
  readonly wait: Duration.Duration
}

/** The part of the circuit breaker that is used here. */
export type Breaking = Pick<Breaker, "isOpen" | "open">

/** Runs an effect with a permit. */
export type Run = <A, E, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | StorageUnavailable, R>

export interface Connections {
  /** How many permits are in use. */
  readonly used: number
  readonly most: number
  /** How many wait for one, or for one of the slots of batches. */
  readonly pending: number
}

export interface Admission {
  /**
   * Runs a request. Refuses it at once while the circuit breaker is open, and while requests of its
   * organisation wait too long for a permit. An admitted request may be admitted again, when its
   * organisation is known.
   */
  readonly admit: <A, E, R>(
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ServiceUnavailable, R>
  /**
   * Runs an effect with a permit. Fails with `StorageUnavailable` if the wait for a permit takes
   * too long, and at once if no permit is free while the breaker is open.
   */
  readonly run: Run

  /** How the permits, each of which is a connection, are used now. */
  readonly connections: () => Connections

  /**
   * Ends every wait for a permit with `StorageUnavailable`. While the database is silent, a wait
   * lasts until the statements before it have timed out, and then for its own.
   */
  readonly refuseWaiting: Effect.Effect<void>

  /**
   * Further permits behind the same breaker, for batches before they run. A wait for one of them
   * that is too long keeps requests out as well.
   */
  readonly slots: (limits: AdmissionLimits) => Run
}

/** Whether the request of a fiber has had a permit. */
interface Progress {
  hasStarted: boolean
}

/** Work without a request counts as started. */
const withoutRequest: Progress = { hasStarted: true }

const Progress = Context.Reference<Progress>("@data-import/postgres/Progress", {
  defaultValue: () => withoutRequest
})

/** The request, which has not started; `present` is the progress of its fiber. */
const beginning = <A, E, R>(request: Effect.Effect<A, E, R>, present: Progress) => {
  if (present === withoutRequest) {
    return Effect.provideService(request, Progress, { hasStarted: false })
  }
  present.hasStarted = false
  return request
}

/** The trouble with the database that the exit reveals; null if there is none. */
const troubleIn = (
  exit: Exit.Exit<unknown, unknown>,
  troubleOf: (failure: StorageUnavailable) => Outage | null
): Outage | null => {
  if (Exit.isSuccess(exit)) return null
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  const isOfStorage = Predicate.isTagged(failure, "StorageUnavailable")
  return isOfStorage ? troubleOf(failure as StorageUnavailable) : null
}

const refusal = (message: string) => new StorageUnavailable({ cause: new Error(message) })

const refuse = (message: string) => Effect.fail(refusal(message))

/** Monotonic, in milliseconds. */
const now = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** For whom a statement runs. */
interface Asking {
  readonly holder: Holder.Holder
  readonly hasStarted: boolean
}

/**
 * Takes a permit, or waits for one unless the breaker is open. A wait that takes too long opens the
 * breaker, unless the holder uses its share and so waits for itself.
 */
const take = Effect.fnUntraced(function* (
  permits: PriorityPermits,
  { wait, waiting }: AdmissionLimits,
  breaker: Breaking,
  { hasStarted, holder }: Asking
) {
  const clock = yield* Clock.Clock
  if (permits.takeIfFree(holder, now(clock))) return
  if (breaker.isOpen()) return yield* refuse("All connections are busy, and the breaker is open")
  if (permits.size >= waiting) return yield* refuse("The queue is full")
  yield* Effect.timeoutOrElse(
    permits.wait(holder, hasStarted, () => now(clock)),
    {
      duration: wait,
      orElse: () =>
        permits.mayHave(holder, now(clock))
          ? Effect.andThen(breaker.open("not_answering"), refuse("All connections are busy"))
          : refuse("All connections of the organisation are busy")
    }
  )
})

const releasing = (permits: PriorityPermits, holder: Holder.Holder) =>
  Effect.clockWith((clock) => Effect.sync(() => permits.release(holder, now(clock))))

/**
 * Whether requests of this holder wait too long, or too many wait. A holder may have as many places
 * as it leaves free: one alone has half of them, and whoever comes next has some too.
 */
const isTooBusy = (
  { wait, waiting }: AdmissionLimits,
  permits: PriorityPermits,
  slots: ReadonlyArray<PriorityPermits>
) => {
  const tooLong = Duration.toMillis(wait) / 4
  /** Of a holder among others. */
  const places = waiting / 4
  return (holder: Holder.Holder, at: number): boolean =>
    permits.sizeOf(holder) >= waiting - permits.size ||
    (permits.hasRival(holder, at) && permits.sizeOf(holder) >= places) ||
    permits.expectedWait(holder, at) >= tooLong ||
    slots.some((queued) => queued.expectedWait(undefined, at) >= tooLong)
}

/** Makes an admission. `troubleOf` returns the trouble of a failure for which the breaker opens. */
export const make = (
  limits: AdmissionLimits,
  breaker: Breaking,
  troubleOf: (failure: StorageUnavailable) => Outage | null
): Admission => {
  const permits = new PriorityPermits(limits.running)
  const slots: Array<PriorityPermits> = []
  const isBusy = isTooBusy(limits, permits, slots)

  const release = (holder: Holder.Holder) => (exit: Exit.Exit<unknown, unknown>) => {
    const trouble = troubleIn(exit, troubleOf)
    const released = releasing(permits, holder)
    return trouble === null ? released : Effect.andThen(breaker.open(trouble), released)
  }

  const run: Run = (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.withFiber((fiber) => {
        const progress = fiber.getRef(Progress)
        const holder = Holder.of(fiber)
        const asking = { holder, hasStarted: progress.hasStarted }
        return Effect.flatMap(restore(take(permits, limits, breaker, asking)), () => {
          progress.hasStarted = true
          return Effect.onExit(restore(effect), release(holder))
        })
      })
    )

  const slotsOf = (ofSlot: AdmissionLimits): Run => {
    const own = new PriorityPermits(ofSlot.running)
    slots.push(own)
    return (effect) => {
      // A batch runs on behalf of many callers, so the caller that flushed it has not started, and
      // its organisation does not hold the permit.
      const served = effect.pipe(
        Effect.provideService(Progress, withoutRequest),
        Effect.provideService(Holder.Current, Holder.nobody)
      )
      const asking = { holder: undefined, hasStarted: false }
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(take(own, ofSlot, breaker, asking)), () =>
          Effect.ensuring(restore(served), releasing(own, undefined))
        )
      )
    }
  }

  const admit = <A, E, R>(request: Effect.Effect<A, E, R>) =>
    Effect.withFiber((fiber): Effect.Effect<A, E | ServiceUnavailable, R> =>
      breaker.isOpen() || isBusy(Holder.of(fiber), now(fiber.getRef(Clock.Clock)))
        ? Effect.fail(unavailable)
        : beginning(request, fiber.getRef(Progress))
    )

  const refuseWaiting = Effect.sync(() => {
    const silent = refusal("The database does not answer")
    // A refused batch releases its slot, which must have no waiters left by then.
    for (const queued of [...slots, permits]) queued.refuse(silent)
  })

  const connections = (): Connections => ({
    used: limits.running - permits.free,
    most: limits.running,
    pending: [permits, ...slots].reduce((sum, { size }) => sum + size, 0)
  })

  return { admit, run, connections, refuseWaiting, slots: slotsOf }
}
