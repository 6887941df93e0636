/**
 * The turns of an organisation at a service. An event loop serves all requests that have arrived
 * before it comes back to one of them, so a request waits for all others at each step of its way.
 * While several organisations send requests, only some of each are therefore sent to a service at
 * once. The others wait here, in the order in which they came, for their own organisation only.
 */
import { Deferred, Effect, Exit, Fiber, type Semaphore } from "effect"
import * as KeyedSemaphores from "@data-import/domain/support/KeyedSemaphores"
import type { Rivals } from "@data-import/domain/support/Rivals"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"

/**
 * Sends a request of an organisation in its turn. The turn ends when the request ends, when it
 * calls `answered` because its answer begins, or after a second: a request that takes longer waits
 * for something else, for example a change, a vendor or its client. Undefined has no limit.
 */
export type InTurn = <A, E>(
  organisation: OrganisationName | undefined,
  request: (answered: () => void) => Effect.Effect<A, E>
) => Effect.Effect<A, E>

const longest = "1 second"

const nothing = (): void => {}

/** Holds a turn in a fiber of its own, so that the turn can end before the request does. */
const held =
  <A, E>(request: (answered: () => void) => Effect.Effect<A, E>) =>
  (turns: Semaphore.Semaphore): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const begun = Deferred.makeUnsafe<void>()
      const ended = Deferred.makeUnsafe<void>()
      const turn = Effect.andThen(
        Deferred.succeed(begun, undefined),
        Effect.timeoutOption(Deferred.await(ended), longest)
      )
      return Effect.acquireUseRelease(
        Effect.forkChild(turns.withPermit(turn), { startImmediately: true }),
        () =>
          Effect.andThen(
            Deferred.await(begun),
            request(() => Deferred.doneUnsafe(ended, Exit.void))
          ),
        Fiber.interrupt
      )
    })

/** An organisation has this many turns at once while it has rivals. */
export const make = (turns: number, rivals: Rivals<OrganisationName>): InTurn => {
  const withTurns = KeyedSemaphores.make<OrganisationName>(turns)
  return (organisation, request) =>
    Effect.clockWith((clock) => {
      if (organisation === undefined) return request(nothing)
      const now = Number(clock.monotonicTimeNanosUnsafe()) / 1e6
      rivals.want(organisation, now)
      return rivals.hasRival(organisation, now)
        ? withTurns(organisation, held(request))
        : request(nothing)
    })
}
