/**
 * The refusals of the transport: a missing token, a wrong method, a body that is too large, a
 * defect. The refusals of the domain are in `@data-import/domain/requests/Failure`.
 * `ErrorResponse.ts` turns both into a response.
 * Source: docs/contract/errors.md#codes-and-statuses.
 */
import { Data } from "effect"
import type { RequestId } from "@data-import/domain/suppliers/Organisation"

/** No `Authorization` header. */
export class NotAuthenticated extends Data.TaggedError("NotAuthenticated")<{}> {
  readonly code = "not_authenticated"
}

/** No session of the board, or one that has ended. */
export class SignInRequired extends Data.TaggedError("SignInRequired")<{}> {
  readonly code = "not_authenticated"
}

/** A user of the board requests what the user's role does not allow. */
export class RoleRefused extends Data.TaggedError("RoleRefused")<{}> {
  readonly code = "permission_denied"
}

/** A change that comes from another site, or without the token of the session. */
export class ForgeryRefused extends Data.TaggedError("ForgeryRefused")<{}> {
  readonly code = "permission_denied"
}

/** The `Authorization` header holds no valid, unexpired token. */
export class AuthenticationFailed extends Data.TaggedError("AuthenticationFailed")<{
  /** What is wrong with the header, where it has no token at all. */
  readonly header?: "scheme" | "form"
  /** The scheme that stands before a token. A word alone may be a key, so it is not named. */
  readonly scheme?: string
}> {
  readonly code = "authentication_failed"
}

/** The path exists, but not for this method. `allow` lists the methods of the path. */
export class MethodNotAllowed extends Data.TaggedError("MethodNotAllowed")<{
  readonly allow: ReadonlyArray<string>
}> {
  readonly code = "method_not_allowed"
}

/** The `Accept` header excludes JSON. */
export class NotAcceptable extends Data.TaggedError("NotAcceptable")<{}> {
  readonly code = "not_acceptable"
}

/** The body did not arrive in time. */
export class RequestTimeout extends Data.TaggedError("RequestTimeout")<{}> {
  readonly code = "request_timeout"
}

/** The body has more than `limit` bytes. */
export class PayloadTooLarge extends Data.TaggedError("PayloadTooLarge")<{
  readonly limit: number
}> {
  readonly code = "payload_too_large"
}

/** The request line and the header fields together are too large. */
export class HeadersTooLarge extends Data.TaggedError("HeadersTooLarge")<{}> {
  readonly code = "headers_too_large"
}

/** The Content-Type or the Content-Encoding is not one that the endpoint takes. */
export class UnsupportedMediaType extends Data.TaggedError("UnsupportedMediaType")<{
  readonly takes: "json" | "ndjson"
}> {
  readonly code = "unsupported_media_type"
}

/** Too many requests from this client. */
export class Throttled extends Data.TaggedError("Throttled")<{
  readonly retryAfterSeconds: number
}> {
  readonly code = "throttled"
}

/** An error in the service. The response has only the request id; the details are in the log. */
export class Defect extends Data.TaggedError("Defect")<{ readonly requestId: RequestId }> {
  readonly code = "error"
}

export type Refusal =
  | NotAuthenticated
  | SignInRequired
  | RoleRefused
  | ForgeryRefused
  | AuthenticationFailed
  | MethodNotAllowed
  | NotAcceptable
  | RequestTimeout
  | PayloadTooLarge
  | HeadersTooLarge
  | UnsupportedMediaType
  | Throttled
  | Defect
