/**
 * The body of an upload: NDJSON as a stream of bytes, decompressed if it is gzip. The lines are not
 * inspected.
 * Source: docs/contract/http.md#order-of-checks.
 */
import { createGunzip } from "node:zlib"
import { Clock, Duration, Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { UnsupportedMediaType } from "@data-import/api/Refusal"
import { NotJson } from "@data-import/domain/schema/Json"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { BodyBroken } from "./BodyStream.ts"
import type { IncomingRequest } from "./IncomingRequest.ts"
import { encodingOf, mediaType } from "./JsonBody.ts"
import * as Listener from "./Listener.ts"

/** The bytes of an upload. A failure that the handler does not answer gets a default answer. */
export type NdjsonBody = Stream.Stream<Uint8Array, BodyBroken>

const stall = "10 seconds"

const notGzip = new NotJson({ detail: "The body is not a complete gzip stream." })

/**
 * Decompresses one member after the other (RFC 1952). The engine ends quietly at bytes that begin
 * no member, so they are found by its count of what it took.
 */
const gunzip = (bytes: NdjsonBody): NdjsonBody =>
  Stream.suspend(() => {
    const engine = createGunzip({ chunkSize: 32 * 1024 })
    let received = 0
    const counted = Stream.tap(bytes, ({ length }) => Effect.sync(() => (received += length)))
    const unread = Stream.suspend(() =>
      engine.bytesWritten === received ? Stream.empty : Stream.fail(notGzip)
    )
    return counted.pipe(
      NodeStream.pipeThroughDuplex({ evaluate: () => engine, onError: () => notGzip }),
      Stream.concat(unread)
    )
  })

/** How often a service tells the gateway that it is still taking lines. */
const progressEvery = Duration.toMillis("5 seconds")

/**
 * A small gzip body ends long before its lines are stored. While they are taken, the gateway hears
 * of it by 102 Processing, so its time-out is about progress and not about the whole upload.
 */
const withProgress = (
  request: HttpServerRequest.HttpServerRequest,
  bytes: NdjsonBody
): NdjsonBody =>
  Stream.unwrap(
    Effect.map(Clock.Clock, (clock) => {
      const response = Listener.response(request)
      const takesInterim = Listener.message(request).httpVersion !== "1.0"
      let toldAt = clock.currentTimeMillisUnsafe()
      return Stream.tap(bytes, () =>
        Effect.sync(() => {
          const now = clock.currentTimeMillisUnsafe()
          if (!takesInterim || response.headersSent || now < toldAt + progressEvery) return
          toldAt = now
          response.writeProcessing()
        })
      )
    })
  )

/** The body, before its first byte is read; or a refusal of its media type or encoding. */
export const read = (
  { request, streamBody }: Pick<IncomingRequest, "request" | "streamBody">,
  organisation: OrganisationName | undefined
): Effect.Effect<NdjsonBody, UnsupportedMediaType> => {
  const { headers } = request
  const encoding = encodingOf(headers)
  const isNdjson = mediaType(headers) === "application/x-ndjson"
  if (!isNdjson || (encoding !== "identity" && encoding !== "gzip")) {
    return Effect.fail(new UnsupportedMediaType({ takes: "ndjson" }))
  }
  const bytes = streamBody(organisation, stall)
  return Effect.succeed(withProgress(request, encoding === "gzip" ? gunzip(bytes) : bytes))
}
