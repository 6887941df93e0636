/**
 * The queue in front of the connection pool. It is bounded in length and in time, so that a
 * database that has become slow gives fast refusals instead of a growing heap of waiting requests;
 * once somebody has waited in vain, nobody waits until a connection comes free again.
 */
import { type Duration, Effect, Semaphore } from "effect"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"

export interface AdmissionLimits {
  /** How many may run at once. */
  readonly running: number
  /** How many may wait for their turn. */
  readonly waiting: number
  /** How long each of them waits at most. */
  readonly wait: Duration.Duration
}

/**
 * Runs an effect when it is its turn, or fails with `StorageUnavailable` where that takes too long.
 */
export type Admission = <A, E, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | StorageUnavailable, R>

export const make = (limits: AdmissionLimits): Admission => {
  const permits = Semaphore.makeUnsafe(limits.running)
  let waiting = 0
  let stalled = false

  const refuse = (message: string) =>
    Effect.fail(new StorageUnavailable({ cause: new Error(message) }))

  const wait = Effect.suspend(() => {
    if (stalled) return refuse("All connections are busy, and others have waited in vain")
    if (waiting >= limits.waiting) return refuse("All connections are busy, and the queue is full")
    waiting++
    return Effect.timeoutOrElse(permits.take(1), {
      duration: limits.wait,
      orElse: () => {
        stalled = true
        return refuse("All connections are busy")
      }
    }).pipe(Effect.ensuring(Effect.sync(() => waiting--)))
  })

  const take = Effect.flatMap(permits.takeIfAvailable(1), (taken) => (taken ? Effect.void : wait))

  const release = Effect.suspend(() => {
    stalled = false
    return permits.release(1)
  })

  return (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(take), () => Effect.onExit(restore(effect), () => release))
    )
}
