/**
 * Limits the bytes of large payloads that a process holds and works on at once. The presence limit
 * bounds memory: a parsed payload takes many times its size until its request has ended. The
 * computing limit bounds the work on the event loop. A request acquires permits of both, and
 * releases those for computing while it waits for another system (`waiting`). Each organisation has
 * a quota of both, so that none waits for another. Small payloads never wait.
 */
import { Context, Effect, Exit, identity, Scope, Semaphore } from "effect"
import type { OrganisationName } from "../suppliers/Organisation.ts"

/** Payloads up to this size are not counted, because they take only a millisecond or two. */
export const smallBytes = 64 * 1024

/** The size of the largest payload. */
const largestBytes = 10 * 1024 * 1024

/** In bytes: the total, and the quota of an organisation. */
interface Limits {
  readonly total: number
  readonly ofOne: number
}

const presenceLimits: Limits = { total: 8 * largestBytes, ofOne: 2 * largestBytes }

/** Enough for the quotas of two organisations. */
const computingLimits: Limits = { total: 2 * largestBytes, ofOne: largestBytes }

/**
 * Runs the effect once there are permits for a payload of this size, and releases them when it has
 * ended. The wait can be interrupted.
 */
export type WorkBudget = (
  organisation: OrganisationName | null,
  bytes: number
) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Working {
  readonly pause: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The computing permits of the current request. Small requests have none. */
const Working = Context.Reference<Working>("@data-import/domain/WorkBudget/Working", {
  defaultValue: () => ({ pause: identity })
})

/**
 * Runs an effect that waits for another system and computes nothing. The request's computing
 * permits are released meanwhile and acquired again before the request continues. After a failure
 * they are not acquired again, because the request only answers a refusal.
 */
export const waiting = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Working, ({ pause }) => pause(effect))

interface FairSemaphore {
  readonly take: (bytes: number) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * A semaphore that serves its waiters in order. Effect's semaphore wakes any waiter whose permits
 * are free, so a large request could starve while small ones arrive.
 */
const makeFairSemaphore = (total: number): FairSemaphore => {
  const permits = Semaphore.makeUnsafe(total)
  const first = Semaphore.makeUnsafe(1)
  return { take: (bytes) => first.withPermit(permits.takeScoped(bytes)) }
}

interface Quota {
  readonly room: FairSemaphore
  users: number
}

/** Acquires permits for the lifetime of the scope. One permit is a byte. */
type Take = (
  organisation: OrganisationName | null,
  bytes: number
) => Effect.Effect<void, never, Scope.Scope>

const makeTake = ({ ofOne, total }: Limits): Take => {
  const room = makeFairSemaphore(total)
  const quotas = new Map<OrganisationName | null, Quota>()

  const enter = (organisation: OrganisationName | null) =>
    Effect.sync(() => {
      const quota = quotas.get(organisation) ?? { room: makeFairSemaphore(ofOne), users: 0 }
      quotas.set(organisation, quota)
      quota.users++
      return quota
    })
  const leave = (organisation: OrganisationName | null) => (quota: Quota) =>
    Effect.sync(() => {
      if (--quota.users === 0) quotas.delete(organisation)
    })

  return (organisation, bytes) =>
    Effect.acquireRelease(enter(organisation), leave(organisation)).pipe(
      Effect.flatMap((quota) => quota.room.take(bytes)),
      Effect.andThen(room.take(bytes))
    )
}

/** Permits that can be released and acquired again; `end` releases them finally. */
const makeRetaken = (take: Effect.Effect<void, never, Scope.Scope>) => {
  let held: Scope.Closeable | undefined
  const begin = Effect.suspend(() => {
    held = Scope.makeUnsafe()
    return Scope.provide(take, held)
  })
  const end = Effect.suspend(() => {
    const scope = held
    held = undefined
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })
  const pause: Working["pause"] = (effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() =>
        held === undefined
          ? restore(effect)
          : Effect.andThen(end, restore(effect)).pipe(Effect.tap(() => restore(begin)))
      )
    )
  return { begin, end, pause }
}

export const makeWorkBudget = (): WorkBudget => {
  const takePresence = makeTake(presenceLimits)
  const takeComputing = makeTake(computingLimits)

  return (organisation, bytes) => (effect) => {
    if (bytes <= smallBytes) return effect
    const counted = Math.min(bytes, largestBytes)
    const compute = Effect.suspend(() => {
      const { begin, end, pause } = makeRetaken(takeComputing(organisation, counted))
      return Effect.interruptible(begin).pipe(
        Effect.andThen(Effect.provideService(effect, Working, { pause })),
        Effect.ensuring(end)
      )
    })
    return Effect.acquireUseRelease(
      Scope.make(),
      (presence) => {
        const take = Scope.provide(takePresence(organisation, counted), presence)
        return Effect.andThen(Effect.interruptible(take), compute)
      },
      Scope.close
    )
  }
}
