/**
 * How many bytes of large payloads a process holds and works on at once. There are two limits. The
 * presence limit bounds memory: a parsed payload takes many times its size, from when it is parsed
 * until its request has ended. The computing limit bounds the work on the event loop. A request
 * takes room under both, and gives the room for computing back while it waits for another system
 * (`waiting`). No organisation gets more than its quota of either, so that none waits for the work
 * of another. Small payloads never wait.
 */
import { Context, Effect, Exit, identity, Scope, Semaphore } from "effect"
import type { OrganisationName } from "../organisation/Organisation.ts"

/** Payloads up to this size are not counted: they are worked on in a millisecond or two. */
export const smallBytes = 64 * 1024

/** Room for one payload of the largest size. */
const largestBytes = 10 * 1024 * 1024

/** In bytes: what all organisations get together, and each of them. */
interface Limits {
  readonly total: number
  readonly ofOne: number
}

const presenceLimits: Limits = { total: 8 * largestBytes, ofOne: 2 * largestBytes }

/** Two organisations can use up their quotas. */
const computingLimits: Limits = { total: 2 * largestBytes, ofOne: largestBytes }

/**
 * Runs the effect once there is room for a payload of the organisation of this size, and gives the
 * room back when the effect has ended. The wait can be interrupted.
 */
export type WorkBudget = (
  organisation: OrganisationName | null,
  bytes: number
) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Working {
  readonly pause: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** What the request that runs holds of the computing limit. Small ones hold nothing. */
const Working = Context.Reference<Working>("@data-import/domain/WorkBudget/Working", {
  defaultValue: () => ({ pause: identity })
})

/**
 * Runs an effect that waits for another system and computes nothing. The request's room for
 * computing is free meanwhile, and is taken again before the request goes on with the result. After
 * a failure it is not taken again: the request only has a refusal to answer.
 */
export const waiting = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Working, ({ pause }) => pause(effect))

interface Room {
  readonly take: (bytes: number) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * A semaphore that serves its waiters in their order. Effect's wakes any waiter whose permits are
 * free, so that one who needs many would wait for as long as others come who need few.
 */
const makeRoom = (total: number): Room => {
  const permits = Semaphore.makeUnsafe(total)
  const first = Semaphore.makeUnsafe(1)
  return { take: (bytes) => first.withPermit(permits.takeScoped(bytes)) }
}

interface Quota {
  readonly room: Room
  users: number
}

/** Takes room for as long as the scope is open, once there is enough. One permit is a byte. */
type Take = (
  organisation: OrganisationName | null,
  bytes: number
) => Effect.Effect<void, never, Scope.Scope>

const makeTake = ({ ofOne, total }: Limits): Take => {
  const room = makeRoom(total)
  const quotas = new Map<OrganisationName | null, Quota>()

  const enter = (organisation: OrganisationName | null) =>
    Effect.sync(() => {
      const quota = quotas.get(organisation) ?? { room: makeRoom(ofOne), users: 0 }
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

/** Room that can be given back and taken again; `end` gives it back for good. */
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
