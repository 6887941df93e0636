/**
 * Requests that wait for a change. They cost a connection and no work, so they have separate slots
 * from ordinary requests. One organisation gets at most half of these.
 */
import { Deferred, Effect, Exit, Option } from "effect"
import type { ServerResponse } from "node:http"
import type { Wait } from "../http/IncomingRequest.ts"
import type { OpenRequests } from "./OpenRequests.ts"
import { withoutSlot } from "./OrganisationConcurrency.ts"

export class WaitingRequests {
  readonly #limit: number
  readonly #progress: OpenRequests
  readonly #waiting = new Map<string, number>()
  #count = 0

  constructor(limit: number, progress: OpenRequests) {
    this.#limit = limit
    this.#progress = progress
  }

  /** How many wait now. */
  get count(): number {
    return this.#count
  }

  /** The `Wait` of the request with this response. */
  of(response: ServerResponse): Wait {
    return <A, E>(holder: string, waiting: Effect.Effect<A, E>) =>
      Effect.suspend(() => {
        if (this.#isFullFor(holder)) return Effect.succeed(Option.none<A>())
        this.#add(holder, 1)
        const stopped = Deferred.makeUnsafe<void>()
        this.#progress.beginWaiting(response, () => Deferred.doneUnsafe(stopped, Exit.void))
        return Effect.raceFirst(
          Effect.asSome(waiting),
          Effect.as(Deferred.await(stopped), Option.none<A>())
        ).pipe(
          withoutSlot,
          Effect.ensuring(
            Effect.sync(() => {
              this.#add(holder, -1)
              this.#progress.endWaiting(response)
            })
          )
        )
      })
  }

  #isFullFor(holder: string): boolean {
    const ofOne = this.#waiting.get(holder) ?? 0
    return this.#count >= this.#limit || ofOne >= Math.ceil(this.#limit / 2)
  }

  #add(holder: string, more: number): void {
    const ofOne = (this.#waiting.get(holder) ?? 0) + more
    this.#count += more
    if (ofOne === 0) this.#waiting.delete(holder)
    else this.#waiting.set(holder, ofOne)
  }
}
