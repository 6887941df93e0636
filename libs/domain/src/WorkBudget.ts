/**
 * How many bytes of large payloads a process works on at once. A parsed payload takes many times
 * its size in memory, and the memory of a process is shared by all requests. Small payloads never
 * wait.
 */
import { Effect, Semaphore } from "effect"

/** Payloads up to this size are not counted. */
const smallBytes = 64 * 1024

/** Room for two payloads of the largest size. */
const budgetBytes = 20 * 1024 * 1024

/**
 * Runs the effect once there is room for a payload of this size, and gives the room back when the
 * effect has ended. The wait can be interrupted.
 */
export type WorkBudget = (
  bytes: number
) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const makeWorkBudget = (): WorkBudget => {
  const semaphore = Semaphore.makeUnsafe(budgetBytes)
  return (bytes) => (effect) => {
    if (bytes <= smallBytes) return effect
    const permits = Math.min(bytes, budgetBytes)
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.interruptible(semaphore.take(permits)), () =>
        Effect.ensuring(restore(effect), semaphore.release(permits))
      )
    )
  }
}
