/**
 * The queue in front of the connection pool, so that a database that is slow or away gives fast
 * refusals instead of a growing heap of waiting requests. Load is shed before a request starts; a
 * request that has started goes before those that have not, so nothing that was begun is thrown
 * away. Like CoDel, the limit is on the time spent waiting, not on the length of the queue.
 */
import { Cause, Clock, Context, Duration, Effect, Exit, Option, Predicate } from "effect"
import { type ServiceUnavailable, unavailable } from "@data-import/domain/requests/Failure"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import type { Breaker, Trouble } from "./CircuitBreaker.ts"
import { PriorityPermits } from "./PriorityPermits.ts"

export interface AdmissionLimits {
  /** How many may run at once. */
  readonly running: number
  /** How many may wait for their turn. Half of these places are for those let in already. */
  readonly waiting: number
  /** How long each of them waits at most. Nobody is let in who would wait a quarter of it. */
  readonly wait: Duration.Duration
}

/** What it needs of the circuit breaker. */
export type Breaking = Pick<Breaker, "isOpen" | "open">

/** Runs an effect when it is its turn. */
export type Run = <A, E, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | StorageUnavailable, R>

export interface Admission {
  /**
   * Runs a request, or refuses it at once while the circuit breaker is open and while others wait
   * too long.
   */
  readonly admit: <A, E, R>(
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ServiceUnavailable, R>
  /**
   * Runs an effect when it is its turn; fails with `StorageUnavailable` where that takes too long,
   * and while the breaker is open at once where it would have to wait.
   */
  readonly run: Run

  /**
   * A queue of its own behind the same breaker, for those who do something together before they
   * run: one who waits there too long keeps others out as well.
   */
  readonly slots: (limits: AdmissionLimits) => Run
}

/** Whether the request that a fiber works for has had a turn; what no request asked for has. */
const Progress = Context.Reference<{ hasBegun: boolean }>("@data-import/postgres/Progress", {
  defaultValue: () => ({ hasBegun: true })
})

/** What the end of a turn says against the database. */
const troubleIn = (
  exit: Exit.Exit<unknown, unknown>,
  troubleOf: (failure: StorageUnavailable) => Trouble | null
): Trouble | null => {
  if (Exit.isSuccess(exit)) return null
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  const isOfStorage = Predicate.isTagged(failure, "StorageUnavailable")
  return isOfStorage ? troubleOf(failure as StorageUnavailable) : null
}

const refuse = (message: string) =>
  Effect.fail(new StorageUnavailable({ cause: new Error(message) }))

/** Monotonic, in milliseconds. */
const now = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** Takes a turn, or waits for one unless the breaker is open; to wait in vain opens it. */
const take = Effect.fnUntraced(function* (
  turns: PriorityPermits,
  { wait, waiting }: AdmissionLimits,
  breaker: Breaking,
  hasBegun: boolean
) {
  if (turns.takeIfFree()) return
  if (breaker.isOpen()) return yield* refuse("All connections are busy, and the breaker is open")
  if (turns.size >= waiting) return yield* refuse("The queue is full")
  const clock = yield* Clock.Clock
  yield* Effect.timeoutOrElse(turns.wait(hasBegun, now(clock)), {
    duration: wait,
    orElse: () => Effect.andThen(breaker.open("not_answering"), refuse("All connections are busy"))
  })
})

/**
 * An admission with nobody in it. `troubleOf` says for which failures the next statement would fail
 * as well, and the breaker is to be opened.
 */
export const make = (
  limits: AdmissionLimits,
  breaker: Breaking,
  troubleOf: (failure: StorageUnavailable) => Trouble | null
): Admission => {
  const tooLong = Duration.toMillis(limits.wait) / 4
  const turns = new PriorityPermits(limits.running)
  const slots: Array<PriorityPermits> = []

  const release = (exit: Exit.Exit<unknown, unknown>) => {
    const trouble = troubleIn(exit, troubleOf)
    return trouble === null ? turns.release : Effect.andThen(breaker.open(trouble), turns.release)
  }

  const run: Run = (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Progress, (progress) =>
        Effect.flatMap(restore(take(turns, limits, breaker, progress.hasBegun)), () => {
          progress.hasBegun = true
          return Effect.onExit(restore(effect), release)
        })
      )
    )

  const slot = (ofSlot: AdmissionLimits): Run => {
    const own = new PriorityPermits(ofSlot.running)
    slots.push(own)
    return (effect) => {
      // A batch runs on behalf of many callers, so the caller that led it does not count as begun.
      const served = Effect.provideService(effect, Progress, { hasBegun: true })
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(take(own, ofSlot, breaker, false)), () =>
          Effect.ensuring(restore(served), own.release)
        )
      )
    }
  }

  const isTooBusy = (clock: Clock.Clock): boolean => {
    const at = now(clock)
    return (
      turns.size >= limits.waiting / 2 ||
      [turns, ...slots].some((queued) => queued.expectedWait(at) >= tooLong)
    )
  }

  const admit = <A, E, R>(request: Effect.Effect<A, E, R>) =>
    Effect.clockWith((clock): Effect.Effect<A, E | ServiceUnavailable, R> =>
      breaker.isOpen() || isTooBusy(clock)
        ? Effect.fail(unavailable)
        : Effect.provideService(request, Progress, { hasBegun: false })
    )

  return { admit, run, slots: slot }
}
