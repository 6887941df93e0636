/**
 * How many bytes of large payloads a process works on at once. A parsed payload takes many times
 * its size in memory, and the memory of a process is shared by all requests. No organisation gets
 * more than its share of it, so that none waits for the work of another. Small payloads never wait.
 */
import { Effect, Semaphore } from "effect"
import type { OrganisationName } from "./Organisation.ts"

/** Payloads up to this size are not counted. */
const smallBytes = 64 * 1024

/** Room for one payload of the largest size. */
const shareBytes = 10 * 1024 * 1024

/** Room for two organisations that use up their shares. */
const budgetBytes = 2 * shareBytes

/**
 * Runs the effect once there is room for a payload of the organisation of this size, and gives the
 * room back when the effect has ended. The wait can be interrupted.
 */
export type WorkBudget = (
  organisation: OrganisationName | null,
  bytes: number
) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Share {
  readonly room: Semaphore.Semaphore
  users: number
}

/** One permit is a byte. */
const within =
  (room: Semaphore.Semaphore, bytes: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.interruptible(room.take(bytes)), () =>
        Effect.ensuring(restore(effect), room.release(bytes))
      )
    )

export const makeWorkBudget = (): WorkBudget => {
  const room = Semaphore.makeUnsafe(budgetBytes)
  const shares = new Map<OrganisationName | null, Share>()

  const enter = (organisation: OrganisationName | null) =>
    Effect.sync(() => {
      const share = shares.get(organisation) ?? { room: Semaphore.makeUnsafe(shareBytes), users: 0 }
      shares.set(organisation, share)
      share.users++
      return share
    })
  const leave = (organisation: OrganisationName | null) => (share: Share) =>
    Effect.sync(() => {
      if (--share.users === 0) shares.delete(organisation)
    })

  return (organisation, bytes) => (effect) => {
    if (bytes <= smallBytes) return effect
    const permits = Math.min(bytes, shareBytes)
    return Effect.acquireUseRelease(
      enter(organisation),
      (share) => effect.pipe(within(room, permits), within(share.room, permits)),
      leave(organisation)
    )
  }
}
