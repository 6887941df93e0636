/**
 * The queue in front of the connection pool: first come, first served, and bounded in length and in
 * time, so that a database that has become slow gives fast refusals instead of a growing heap of
 * waiting requests. Once somebody has waited in vain, nobody waits until a turn comes free again.
 */
import { type Duration, Effect } from "effect"
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
 * Runs an effect when it is its turn; fails with `StorageUnavailable` where that takes too long.
 */
export type Admission = <A, E, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | StorageUnavailable, R>

export const make = (limits: AdmissionLimits): Admission => {
  let free = limits.running
  let stalled = false
  /**
   * In the order of their coming. A turn is handed over, so that nobody who comes later takes it.
   */
  const waiters = new Set<() => void>()

  const refuse = (message: string) =>
    Effect.fail(new StorageUnavailable({ cause: new Error(message) }))

  const turn = Effect.callback<void>((resume) => {
    const waiter = () => resume(Effect.void)
    waiters.add(waiter)
    return Effect.sync(() => waiters.delete(waiter))
  })

  const take = Effect.suspend(() => {
    if (free > 0) {
      free--
      return Effect.void
    }
    if (stalled) return refuse("All connections are busy, and others have waited in vain")
    if (waiters.size >= limits.waiting) return refuse("All connections are busy, the queue is full")
    return Effect.timeoutOrElse(turn, {
      duration: limits.wait,
      orElse: () => {
        stalled = true
        return refuse("All connections are busy")
      }
    })
  })

  const release = Effect.sync(() => {
    stalled = false
    const [next] = waiters
    if (next === undefined) {
      free++
    } else {
      waiters.delete(next)
      next()
    }
  })

  return (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(take), () => Effect.onExit(restore(effect), () => release))
    )
}
