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
import { Turns } from "./Turns.ts"

export interface AdmissionLimits {
  /** How many may run at once. */
  readonly running: number
  /** How many may wait for their turn. Half of these places are for those let in already. */
  readonly waiting: number
  /** How long each of them waits at most. Nobody is let in who would wait a quarter of it. */
  readonly wait: Duration.Duration
}

/** Runs an effect when it is its turn. */
export type Run = <A, E, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | StorageUnavailable, R>

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
  readonly run: Run

  /**
   * A queue of its own behind the same door, for those who do something together before they run:
   * one who waits there too long keeps others out as well.
   */
  readonly lane: (limits: AdmissionLimits) => Run
  /** Shuts the door, as when the database is away, until a request has tried well. */
  readonly shut: Effect.Effect<void>
  /** Waits for an answer that somebody else's turn will bring, as for that of a turn of its own. */
  readonly shared: <A, E, R>(answer: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How far it has come, what a fiber works for. */
interface Progress {
  /** It tries whether the database answers again. */
  readonly tries: boolean
  /** It has had a turn. */
  hasBegun: boolean
  /** The database has answered it, and has left it without an answer. */
  wasAnswered: boolean
  wasLeft: boolean
}

const progressOf = (hasBegun: boolean, tries = false): Progress => ({
  tries,
  hasBegun,
  wasAnswered: false,
  wasLeft: false
})

/** What no request asked for has begun. */
const Progress = Context.Reference<Progress>("@data-import/postgres/Progress", {
  defaultValue: () => progressOf(true)
})

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

const note = (progress: Progress, verdict: Verdict): void => {
  if (verdict === "answered") progress.wasAnswered = true
  if (verdict === "away" || verdict === "unclear") progress.wasLeft = true
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
 * Takes a turn, or waits for one; until somebody waited in vain, and then nobody does but who
 * tries, since it may have to wait for another turn of its own.
 */
const take = Effect.fnUntraced(function* (
  turns: Turns,
  { wait, waiting }: AdmissionLimits,
  door: Door,
  progress: Progress,
  hasBegun: boolean
) {
  const clock = yield* Clock.Clock
  if (!turns.takeFree()) {
    if (door.isShut && !progress.tries)
      return yield* refuse("All connections are busy, and others waited in vain")
    if (turns.size >= waiting) return yield* refuse("The queue is full")
    yield* Effect.timeoutOrElse(turns.wait(hasBegun, clock.currentTimeMillisUnsafe()), {
      duration: wait,
      orElse: () => {
        door.shut(clock.currentTimeMillisUnsafe())
        progress.wasLeft = true
        return refuse("All connections are busy")
      }
    })
  }
  progress.hasBegun = true
})

/**
 * An admission with nobody in it. `isAway` tells the failures by which the database is known to be
 * away from those that say nothing about the next request.
 */
export const make = (
  limits: AdmissionLimits,
  isAway: (failure: StorageUnavailable) => boolean
): Admission => {
  const tooLong = Duration.toMillis(limits.wait) / 4
  const door = new Door()
  const turns = new Turns(limits.running)
  const lanes: Array<Turns> = []

  const release = (progress: Progress) => (exit: Exit.Exit<unknown, unknown>) =>
    Effect.clockWith((clock) => {
      const verdict = verdictOf(exit, isAway)
      note(progress, verdict)
      if (verdict === "away") door.shut(clock.currentTimeMillisUnsafe())
      return turns.giveBack
    })

  const run: Run = (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Progress, (progress) =>
        Effect.flatMap(restore(take(turns, limits, door, progress, progress.hasBegun)), () =>
          Effect.onExit(restore(effect), release(progress))
        )
      )
    )

  const lane = (ofLane: AdmissionLimits): Run => {
    const own = new Turns(ofLane.running)
    lanes.push(own)
    return (effect) =>
      Effect.flatMap(Progress, ({ tries }) => {
        // What is done for many is no beginning of the one that led them.
        const progress = progressOf(true, tries)
        const served = Effect.provideService(effect, Progress, progress)
        return Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(restore(take(own, ofLane, door, progress, false)), () =>
            Effect.ensuring(restore(served), own.giveBack)
          )
        )
      })
  }

  const shut = Effect.map(Clock.currentTimeMillis, (now) => door.shut(now))
  const shared: Admission["shared"] = (answer) =>
    Effect.flatMap(Progress, (progress) =>
      Effect.onExit(answer, (exit) => {
        note(progress, verdictOf(exit, isAway))
        return Effect.void
      })
    )

  const isTooBusy = (now: number): boolean =>
    turns.size >= limits.waiting / 2 ||
    [turns, ...lanes].some((queued) => queued.expectedWait(now) >= tooLong)

  const admit = <A, E, R>(request: Effect.Effect<A, E, R>) =>
    Effect.clockWith((clock): Effect.Effect<A, E | ServiceUnavailable, R> => {
      const now = clock.currentTimeMillisUnsafe()
      const progress = progressOf(false, door.isShut)
      const served = Effect.provideService(request, Progress, progress)
      if (!progress.tries) return isTooBusy(now) ? Effect.fail(unavailable) : served
      if (!door.beginTry(now)) return Effect.fail(unavailable)
      return Effect.ensuring(
        served,
        Effect.sync(() => door.endTry(clock.currentTimeMillisUnsafe(), progress))
      )
    })

  return { admit, run, lane, shut, shared }
}
