/** A request on its way from the listener to its handler. */
import type { Query } from "@data-import/api/Parameter"
import type { RequestId } from "@data-import/domain/suppliers/Organisation"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import type { Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { StreamBody } from "./BodyStream.ts"
import type { ReadBody } from "./RequestBody.ts"

/**
 * Runs an effect that waits, on behalf of an organisation if it is known. Returns None at once if
 * too many requests wait, and as soon as the service stops.
 */
export type Wait = <A, E>(
  holder: string | undefined,
  waiting: Effect.Effect<A, E>
) => Effect.Effect<Option.Option<A>, E>

/** What is known about every request before it is routed. */
export interface IncomingRequest {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly requestId: RequestId
  /** The client's address, as far as the proxies that report it are trusted. */
  readonly clientAddress: string
  /** Facts for its log entry, noted while it is handled. */
  readonly facts: RequestFacts
  /** Reads the complete body. */
  readonly readBody: ReadBody
  /** Streams the body. Only one of the two may be used. */
  readonly streamBody: StreamBody
  /** Waits for a change, outside the slots of ordinary requests. */
  readonly wait: Wait
}

/** A request that has been routed. */
export interface Call extends IncomingRequest {
  /** The values of the path's parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The query as sent. */
  readonly query: Query
}
