/**
 * Which calls are sent again, and when. Every call may be: reads and validations change nothing,
 * writes have an Idempotency-Key that stays the same, and the others can be repeated.
 * Source: docs/contract/http.md#safe-retries.
 */
import { Effect, Random } from "effect"
import type { CallError } from "./Errors.ts"

/** Statuses that say nothing about the request: a gateway's as well as the service's. */
const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

export const isRetryable = (error: CallError): boolean => {
  switch (error._tag) {
    case "ApiError":
      return passing.has(error.statusCode) || error.code === "idempotency_key_in_use"
    case "UnrecognizedError":
    case "UnexpectedAnswer":
      return passing.has(error.statusCode)
    case "TokenRefused":
      return error.code === "THROTTLED"
    case "ConnectionFailed":
      return true
    case "DeadlineExceeded":
      return false
  }
}

const firstDelay = 500
const longestDelay = 8_000

const askedDelay = (error: CallError): number | null =>
  "retryAfter" in error ? error.retryAfter : null

/**
 * The milliseconds until the next attempt after this many failed ones. Exponential backoff with
 * full jitter, so that clients that failed together do not return together. A Retry-After takes
 * precedence, with a little added jitter.
 */
export const delayAfter = (error: CallError, failed: number): Effect.Effect<number> => {
  const asked = askedDelay(error)
  const most = Math.min(longestDelay, firstDelay * 2 ** (failed - 1))
  return Effect.map(Random.next, (chance) =>
    Math.ceil(asked === null ? chance * most : asked * 1_000 + chance * firstDelay)
  )
}
