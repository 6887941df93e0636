/**
 * Answers that last. A streamed answer is sent after its handler has ended, so it would run without
 * the facts of its request, and go on when what allowed it has ended. Every streamed answer of a
 * service passes here, so that none can forget either.
 */
import { Clock, type Context, Data, Duration, Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"

/** How often rights are checked while something lasts. */
const checkedEvery = Duration.toMillis("30 seconds")

/** The answer is cut, so that nobody takes the part for the whole. */
class RightsEnded extends Data.TaggedError("RightsEnded") {}

const ended = Effect.fail(new RightsEnded())

/** Fails before a part is sent whose rights have not been checked lately, and have ended. */
const checked = <A, E>(
  stream: Stream.Stream<A, E>,
  { stillAllowed }: RequestFacts.RequestFacts
): Stream.Stream<A, E | RightsEnded | StorageUnavailable> =>
  Stream.transformPull(stream, (pull) =>
    Effect.map(Clock.Clock, (clock) => {
      let checkedAt = clock.currentTimeMillisUnsafe()
      const check = Effect.suspend(() => {
        const now = clock.currentTimeMillisUnsafe()
        if (now - checkedAt < checkedEvery) return Effect.void
        checkedAt = now
        return Effect.flatMap(stillAllowed, (holds) => (holds ? Effect.void : ended))
      })
      return Effect.tap(pull, check)
    })
  )

/** The response, whose stream has the facts of its request and is cut when its rights end. */
export const lasting = (
  response: HttpServerResponse.HttpServerResponse,
  facts: RequestFacts.RequestFacts
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream") return response
  const stream = checked(body.stream, facts).pipe(
    Stream.updateContext((context: Context.Context<never>) => RequestFacts.addTo(facts)(context))
  )
  return HttpServerResponse.setBody(
    response,
    HttpBody.stream(stream, body.contentType, body.contentLength)
  )
}
