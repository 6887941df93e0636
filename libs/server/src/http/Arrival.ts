/** A request, as it is handed from the listener to its handler. */
import type { Query } from "@data-import/api/Parameter"
import type { RequestId } from "@data-import/domain/organisation/Organisation"
import type { HttpServerRequest } from "effect/http"
import type { ReadBody } from "./RequestBody.ts"

/** What is known of a request before anything else is looked at. */

export interface Arrival {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly requestId: RequestId
  /** The client's address, as far as the service may believe what is said about it. */
  readonly clientAddress: string
  readonly readBody: ReadBody
}

/** One request on its way to a handler. */
export interface Call extends Arrival {
  /** The values of the path's parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The query as sent. */
  readonly query: Query
}
