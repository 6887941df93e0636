/**
 * The body of an upload: NDJSON as a stream of bytes, decompressed if it is gzip. The lines are not
 * inspected.
 * Source: docs/contract/http.md#order-of-checks.
 */
import { createGunzip } from "node:zlib"
import { Effect, Stream } from "effect"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { UnsupportedMediaType } from "@data-import/api/Refusal"
import { NotJson } from "@data-import/domain/schema/Json"
import type { OrganisationName } from "@data-import/domain/organisation/Organisation"
import type { BodyBroken } from "./BodyStream.ts"
import type { IncomingRequest } from "./IncomingRequest.ts"
import { encodingOf, mediaType } from "./JsonBody.ts"

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

/** The body, before its first byte is read; or a refusal of its media type or encoding. */
export const read = (
  { request: { headers }, streamBody }: Pick<IncomingRequest, "request" | "streamBody">,
  organisation: OrganisationName | undefined
): Effect.Effect<NdjsonBody, UnsupportedMediaType> => {
  const encoding = encodingOf(headers)
  const isNdjson = mediaType(headers) === "application/x-ndjson"
  if (!isNdjson || (encoding !== "identity" && encoding !== "gzip")) {
    return Effect.fail(new UnsupportedMediaType())
  }
  const bytes = streamBody(organisation, stall)
  return Effect.succeed(encoding === "gzip" ? gunzip(bytes) : bytes)
}
