/** The headers of responses, as the OpenAPI document describes them. */
import type { RequestCode } from "@data-import/domain/codes/Code"

/** A reference to a component of the document. */
export const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

const header = (description: string, example: unknown) => ({
  description,
  schema: { type: typeof example === "number" ? "integer" : "string" },
  example
})

/** The headers that responses refer to. */
export const headerComponents = {
  RequestId: header(
    "The id of the request: the caller's, if it sent a sane one. Name it to the operator.",
    "0f9c1d52-wave-3"
  ),
  RetryAfter: header("After how many seconds to send the request again.", 5),
  Challenge: header("How to authenticate.", "Token"),
  Allow: header("The methods that the path has.", "POST"),
  IdempotencyReplayed: header(
    "`true` on the answer to an earlier request with this Idempotency-Key; nothing was done now.",
    "true"
  ),
  RateLimit: header(
    "What is left of the organisation's requests a minute, if the deployment limits them: `r` " +
      "requests now, and in `t` seconds one more.",
    '"organisation";r=59990;t=1'
  ),
  RateLimitPolicy: header(
    "How many requests, `q`, an organisation may send in `w` seconds, if the deployment limits them.",
    '"organisation";q=60000;w=60'
  )
}

const isSuccess = (status: number): boolean => status < 300

/** What the headers of an operation's answers depend on. */
export interface Sending {
  readonly takesKey: boolean
  /** Whether its requests count for the rate of an organisation. */
  readonly isCounted: boolean
}

/** The headers of a response; `own` are those of this operation alone, by their descriptions. */
export const headersOf = (
  status: number,
  codes: ReadonlyArray<RequestCode>,
  { isCounted, takesKey }: Sending,
  own: Readonly<Record<string, string>> = {}
) => ({
  "X-Request-Id": reference("headers", "RequestId"),
  ...(isCounted &&
    (isSuccess(status) || status === 429) && {
      RateLimit: reference("headers", "RateLimit"),
      "RateLimit-Policy": reference("headers", "RateLimitPolicy")
    }),
  ...(takesKey &&
    isSuccess(status) && { "Idempotency-Replayed": reference("headers", "IdempotencyReplayed") }),
  ...(status === 401 && { "WWW-Authenticate": reference("headers", "Challenge") }),
  ...(status === 405 && { Allow: reference("headers", "Allow") }),
  ...((codes.includes("idempotency_key_in_use") || status === 429 || status === 503) && {
    "Retry-After": reference("headers", "RetryAfter")
  }),
  ...Object.fromEntries(
    Object.entries(own).map(([name, description]) => [
      name,
      { description, schema: { type: "string" } }
    ])
  )
})
