/**
 * The door and the queue in front of the connection pool, so that a database that is slow or away
 * gives fast refusals instead of a growing heap of waiting requests. A request is refused at the
 * door or not at all: whoever has had a turn goes before those who have not, so nothing that was
 * begun is thrown away. Source: the queue of CoDel, whose measure is how long somebody has waited,
 * not how many do; and the circuit breaker, which tries with one request at a time.
 */
import { Cause, Clock, Context, Duration, Effect, Exit, Option, Predicate } from "effect"
import { type ServiceUnavailable, unavailable } from "@data-import/domain/Failure"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"

export interface AdmissionLimits {
  /** How many may run at once. */
  readonly running: number
  /** How many may wait for their turn. Half of these places are for those let in already. */
  readonly waiting: number
  /** How long each of them waits at most. Nobody is let in who would wait a quarter of it. */
  readonly wait: Duration.Duration
}

export interface Admission {
  /**
   * Runs a request, or refuses it at once: while others wait too long, and while the database does
   * not answer, but for one request at a time that tries, until one of them has had all its
   * answers.
   */
  readonly admit: <A, E, R>(
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ServiceUnavailable, R>
  /**
   * Runs an effect when it is its turn; fails with `StorageUnavailable` where that takes too long,
   * and from then on at once where it would have to wait, until a request has tried well.
   */
  readonly run: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | StorageUnavailable, R>
}

/** How far it has come, what a fiber works for. */
interface Progress {
  /** It has had a turn. */
  hasBegun: boolean
  /** The database has answered it, and has left it without an answer. */
  wasAnswered: boolean
  wasLeft: boolean
}

const progressOf = (hasBegun: boolean): Progress => ({
  hasBegun,
  wasAnswered: false,
  wasLeft: false
})

/** What no request asked for has begun. */
const Progress = Context.Reference<Progress>("@data-import/postgres/Progress", {
  defaultValue: () => progressOf(true)
})

interface Waiter {
  readonly since: number
  /** How many waited, this one included, when it came. */
  readonly place: number
  readonly go: () => void
  /** A turn that is given to a waiter who leaves in the same moment must not be lost. */
  hasTurn: boolean
}

/** From a failure, and from a try that did not go well, to the next try. Milliseconds. */
const pause = 100

type Verdict = "answered" | "away" | "unclear" | "interrupted"

/** What the end of a turn says about the database. */
const verdictOf = (
  exit: Exit.Exit<unknown, unknown>,
  isAway: (failure: StorageUnavailable) => boolean
): Verdict => {
  if (Exit.isSuccess(exit)) return "answered"
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (!Predicate.isTagged(failure, "StorageUnavailable")) return "answered"
  return isAway(failure as StorageUnavailable) ? "away" : "unclear"
}

/** The two queues, each first come, first served: turns go to those who have begun first. */
class Queues {
  readonly #begun = new Set<Waiter>()
  readonly #fresh = new Set<Waiter>()
  /** How long the last one to leave had waited, for each place before it. Milliseconds. */
  #pace = 0

  get size(): number {
    return this.#begun.size + this.#fresh.size
  }

  /**
   * How long another one who has not begun would wait: as long as the first has waited already, and
   * as the last to leave had, place for place. Milliseconds.
   */
  expectedWait(now: number): number {
    const [first] = this.#fresh
    return first === undefined ? 0 : Math.max(now - first.since, this.#fresh.size * this.#pace)
  }

  /** Waits for a turn, which whoever calls `next` hands over. */
  turn(hasBegun: boolean, since: number, giveBack: Effect.Effect<void>): Effect.Effect<void> {
    const queue = hasBegun ? this.#begun : this.#fresh
    return Effect.suspend(() => {
      let waiter: Waiter | undefined
      const waiting = Effect.callback<void>((resume) => {
        if (this.#fresh.size === 0) this.#pace = 0
        const place = queue.size + 1
        waiter = { since, place, go: () => resume(Effect.void), hasTurn: false }
        queue.add(waiter)
      })
      return Effect.onExit(waiting, (exit) => {
        if (waiter === undefined || Exit.isSuccess(exit)) return Effect.void
        queue.delete(waiter)
        return waiter.hasTurn ? giveBack : Effect.void
      })
    })
  }

  /** Hands a turn over; false where nobody waits. */
  next(now: number): boolean {
    const queue = this.#begun.size > 0 ? this.#begun : this.#fresh
    const [waiter] = queue
    if (waiter === undefined) return false
    queue.delete(waiter)
    if (queue === this.#fresh) this.#pace = (now - waiter.since) / waiter.place
    waiter.hasTurn = true
    waiter.go()
    return true
  }
}

/** Shut while the database does not answer; then one request at a time may try. */
class Door {
  /** From when on; null while the database answers. */
  #nextTry: number | null = null
  #isTrying = false

  get isShut(): boolean {
    return this.#nextTry !== null
  }

  shut(now: number): void {
    this.#nextTry = now + pause
  }

  /** Whether a request may try now; if so, `endTry` follows. */
  beginTry(now: number): boolean {
    if (this.#isTrying || this.#nextTry === null || now < this.#nextTry) return false
    this.#isTrying = true
    return true
  }

  /** One answer is not enough: a lock may stand in the way of all but a few statements. */
  endTry(now: number, { wasAnswered, wasLeft }: Progress): void {
    this.#isTrying = false
    this.#nextTry = wasAnswered && !wasLeft ? null : now + pause
  }
}

const refuse = (message: string) =>
  Effect.fail(new StorageUnavailable({ cause: new Error(message) }))

/**
 * An admission with nobody in it. `isAway` tells the failures by which the database is known to be
 * away from those that say nothing about the next request.
 */
export const make = (
  limits: AdmissionLimits,
  isAway: (failure: StorageUnavailable) => boolean
): Admission => {
  const queues = new Queues()
  const tooLong = Duration.toMillis(limits.wait) / 4
  const door = new Door()
  let free = limits.running

  const handOver = Effect.clockWith((clock) => {
    if (!queues.next(clock.currentTimeMillisUnsafe())) free++
    return Effect.void
  })

  const take = Effect.fnUntraced(function* (progress: Progress) {
    const clock = yield* Clock.Clock
    if (free > 0) {
      free--
    } else {
      if (door.isShut) return yield* refuse("All connections are busy, and others waited in vain")
      if (queues.size >= limits.waiting) return yield* refuse("The queue is full")
      const turn = queues.turn(progress.hasBegun, clock.currentTimeMillisUnsafe(), handOver)
      yield* Effect.timeoutOrElse(turn, {
        duration: limits.wait,
        orElse: () => {
          door.shut(clock.currentTimeMillisUnsafe())
          progress.wasLeft = true
          return refuse("All connections are busy")
        }
      })
    }
    progress.hasBegun = true
  })

  const release = (progress: Progress) => (exit: Exit.Exit<unknown, unknown>) =>
    Effect.clockWith((clock) => {
      const verdict = verdictOf(exit, isAway)
      if (verdict === "answered") progress.wasAnswered = true
      if (verdict === "away") door.shut(clock.currentTimeMillisUnsafe())
      if (verdict === "away" || verdict === "unclear") progress.wasLeft = true
      return handOver
    })

  const run: Admission["run"] = (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Progress, (progress) =>
        Effect.flatMap(restore(take(progress)), () =>
          Effect.onExit(restore(effect), release(progress))
        )
      )
    )

  const isTooBusy = (now: number): boolean =>
    queues.size >= limits.waiting / 2 || queues.expectedWait(now) >= tooLong

  const admit = <A, E, R>(request: Effect.Effect<A, E, R>) =>
    Effect.clockWith((clock): Effect.Effect<A, E | ServiceUnavailable, R> => {
      const now = clock.currentTimeMillisUnsafe()
      const progress = progressOf(false)
      const served = Effect.provideService(request, Progress, progress)
      if (!door.isShut) return isTooBusy(now) ? Effect.fail(unavailable) : served
      if (!door.beginTry(now)) return Effect.fail(unavailable)
      return Effect.ensuring(
        served,
        Effect.sync(() => door.endTry(clock.currentTimeMillisUnsafe(), progress))
      )
    })

  return { admit, run }
}
