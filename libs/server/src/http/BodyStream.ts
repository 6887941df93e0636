/**
 * The body of a request as a stream, for uploads that are too large for memory. Nothing is read
 * from the socket while the consumer does not pull. Neither the size nor the total time of a body
 * is limited. It holds a constant part of the body budget, and may be evicted from it like a whole
 * body that arrives slowly.
 */
import { Deferred, type Duration, Effect, Exit, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { RequestTimeout } from "@data-import/api/Refusal"
import { ServiceUnavailable, unavailable } from "@data-import/domain/requests/Failure"
import { NotJson } from "@data-import/domain/schema/Json"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import type { BodyReservation } from "./BodyBudget.ts"
import * as Listener from "./Listener.ts"
import { ignored, unauthenticated, type Receiving } from "./RequestBody.ts"

/**
 * Why a body broke off. The bytes received before are valid. `NotJson`: the client aborted it, or
 * it is not a gzip stream. `RequestTimeout`: it stalled. `ServiceUnavailable`: there is no memory,
 * or the service is stopping.
 */
export type BodyBroken = NotJson | RequestTimeout | ServiceUnavailable

export const isBodyBroken = (cause: unknown): cause is BodyBroken =>
  cause instanceof NotJson || cause instanceof RequestTimeout || cause instanceof ServiceUnavailable

/**
 * The part of the body budget that one upload holds, and the most that it has in memory. The socket
 * and the parser buffer 128 KiB, as many bytes are on their way to the consumer, and decompression
 * or the connection to another service buffers the rest.
 */
export const windowBytes = 512 * 1024

/** @param stall from one byte to the next while the consumer waits */
export type StreamBody = (
  organisation: OrganisationName | undefined,
  stall: Duration.Input
) => Stream.Stream<Uint8Array, BodyBroken>

const endsEarly = new NotJson({ detail: "The body ends early." })

/** Reserves memory, and begins to count the request as receiving, until the scope ends. */
const open = (
  request: HttpServerRequest.HttpServerRequest,
  organisation: OrganisationName | undefined,
  { begin, budget, clock, end }: Receiving,
  facts: RequestFacts
) =>
  Effect.gen(function* () {
    const message = Listener.message(request)
    const response = Listener.response(request)
    const ended = Deferred.makeUnsafe<never, BodyBroken>()
    const stop = (why: BodyBroken) => Deferred.doneUnsafe(ended, Exit.fail(why))
    const reservation: BodyReservation = {
      holder: organisation ?? unauthenticated,
      bytes: 0,
      startedAt: clock.currentTimeMillisUnsafe(),
      moved: () => facts.bytes_in,
      evict: () => stop(new RequestTimeout())
    }
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        budget.release(reservation)
        end(response)
        // The rest of the body is not read, and must not be parsed as the next request.
        if (!message.complete && !response.headersSent) response.shouldKeepAlive = false
      })
    )
    message.on("error", ignored)
    Listener.withoutTimeLimit(message)
    begin(response, () => stop(unavailable))
    if (!budget.reserve(reservation, windowBytes, reservation.startedAt)) stop(unavailable)
    return Deferred.await(ended)
  })

/** Makes the stream of a request's body. It may run once. Its bytes are counted in `facts`. */
export const reader =
  (
    request: HttpServerRequest.HttpServerRequest,
    receiving: Receiving,
    facts: RequestFacts
  ): StreamBody =>
  (organisation, stall) =>
    Stream.unwrap(
      Effect.map(open(request, organisation, receiving, facts), (ended) => {
        const late = Effect.andThen(Effect.sleep(stall), Effect.fail(new RequestTimeout()))
        const chunks = Stream.mapError(request.stream, () => endsEarly)
        return Stream.transformPull(chunks, (pull) =>
          Effect.succeed(
            Effect.tap(Effect.raceAllFirst([ended, pull, late]), (arrived) =>
              Effect.sync(() => arrived.forEach(({ length }) => (facts.bytes_in += length)))
            )
          )
        )
      })
    )
