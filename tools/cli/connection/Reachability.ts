/**
 * Watches whether the service can be reached while a command runs. A service that was never reached
 * is given up soon: its address is probably wrong. One that was lost is waited for, and stderr says
 * so.
 */
import { Clock, Console, Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { printable } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { reasonOf } from "../Reason.ts"

/** In milliseconds. */
const givenUpAfter = 8_000
const saidAfter = 3_000
const saidAgainAfter = 10_000

export const unreachable = (baseUrl: string, cause: unknown): string =>
  `Cannot reach ${baseUrl}: ${printable(reasonOf(cause))}.`

interface Contact {
  isReached: boolean
  /** When the first of the attempts failed that were all in vain; null after an answer. */
  lostAt: number | null
  /** Of the last attempt in vain; documents are put to another address than the service's. */
  cause: unknown
  address: string
}

const watchedFetch =
  (contact: Contact, clock: Clock.Clock, fetch: typeof globalThis.fetch): typeof fetch =>
  async (input, init) => {
    try {
      const response = await fetch(input, init)
      contact.isReached = true
      contact.lostAt = null
      return response
    } catch (error) {
      if (init?.signal?.aborted !== true) {
        contact.lostAt ??= clock.currentTimeMillisUnsafe()
        contact.cause = error
        contact.address = URL.parse(input instanceof Request ? input.url : input)?.origin ?? ""
      }
      throw error
    }
  }

/** Ends only by giving up. */
const watch = Effect.fnUntraced(function* (baseUrl: string, contact: Contact) {
  let saidAt = -Infinity
  for (;;) {
    yield* Effect.sleep("1 second")
    const { address, cause, isReached, lostAt } = contact
    if (lostAt === null) continue
    const now = yield* Clock.currentTimeMillis
    if (!isReached && now - lostAt >= givenUpAfter) {
      return yield* new Refused({ why: unreachable(baseUrl, cause) })
    }
    if (isReached && now - lostAt >= saidAfter && now - saidAt >= saidAgainAfter) {
      saidAt = now
      yield* Console.error(`${unreachable(address, cause)} Trying again.`)
    }
  }
})

/** Runs an effect with a client of HTTP that is watched. */
export const watchingContact =
  (baseUrl: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const contact: Contact = { isReached: false, lostAt: null, cause: null, address: "" }
      const fetch = watchedFetch(contact, yield* Clock.Clock, yield* FetchHttpClient.Fetch)
      const watched = self.pipe(
        Effect.provide(FetchHttpClient.layer),
        Effect.provideService(FetchHttpClient.Fetch, fetch)
      )
      return yield* Effect.raceFirst(watched, watch(baseUrl, contact))
    })
