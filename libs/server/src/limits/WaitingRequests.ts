/**
 * Requests that wait for a change. They cost a connection and no work, so they have separate slots
 * from ordinary requests. One organisation gets at most half of these, and so does one client.
 */
import { Deferred, Effect, Exit, Option } from "effect"
import type { ServerResponse } from "node:http"
import { networkOf } from "../http/ClientNetwork.ts"
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

  /** The `Wait` of the request of this client with this response. */
  of(response: ServerResponse, clientAddress: string): Wait {
    return <A, E>(holder: string | undefined, waiting: Effect.Effect<A, E>) =>
      Effect.suspend(() => {
        const network = `from ${networkOf(clientAddress)}`
        const holders = holder === undefined ? [network] : [network, `of ${holder}`]
        if (this.#isFullFor(holders)) return Effect.succeed(Option.none<A>())
        this.#add(holders, 1)
        const stopped = Deferred.makeUnsafe<void>()
        this.#progress.beginWaiting(response, () => Deferred.doneUnsafe(stopped, Exit.void))
        return Effect.raceFirst(
          Effect.asSome(waiting),
          Effect.as(Deferred.await(stopped), Option.none<A>())
        ).pipe(
          withoutSlot,
          Effect.ensuring(
            Effect.sync(() => {
              this.#add(holders, -1)
              this.#progress.endWaiting(response)
            })
          )
        )
      })
  }

  #isFullFor(holders: ReadonlyArray<string>): boolean {
    const most = Math.ceil(this.#limit / 2)
    return (
      this.#count >= this.#limit ||
      holders.some((holder) => (this.#waiting.get(holder) ?? 0) >= most)
    )
  }

  #add(holders: ReadonlyArray<string>, more: number): void {
    this.#count += more
    for (const holder of holders) {
      const ofOne = (this.#waiting.get(holder) ?? 0) + more
      if (ofOne === 0) this.#waiting.delete(holder)
      else this.#waiting.set(holder, ofOne)
    }
  }
}
