/**
 * What every answer of a service looks like: JSON for a success, the error envelope for a refusal,
 * and the headers that both carry. It is the only place that makes responses, so that no endpoint
 * can forget one.
 */
import { Array, Effect, Exit, Fiber, Option, Pull, type Scope, Stream } from "effect"
import { Headers, HttpServerResponse } from "effect/http"
import { problemOf } from "@data-import/api/Problem"
import type { Refusal } from "@data-import/api/Refusal"
import { type Failure, ServiceUnavailable } from "@data-import/domain/requests/Failure"
import { inTurns, type Steps } from "@data-import/domain/support/Steps"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"

/** Everything that a handler may fail with; each has its answer. */
export type Refused = Failure | Refusal | StorageUnavailable

/**
 * What a handler answers with; a refusal becomes the error envelope, a defect a 500 without a word.
 */
export type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse, Refused, Scope.Scope>

const apiHeaders = Headers.fromRecordUnsafe({
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff"
})

const withApiHeaders = (headers: Readonly<Record<string, string>> | undefined) =>
  headers === undefined ? apiHeaders : Headers.fromRecordUnsafe({ ...apiHeaders, ...headers })

/**
 * A successful answer. `body` is written as it is, so it is already in the wire's shape; `headers`
 * has lower-case names.
 */
export const json = (
  status: 200 | 201,
  body: unknown,
  headers?: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: withApiHeaders(headers) })

/** A successful answer before it is sent; its JSON text is written in steps. */
export interface Success {
  readonly status: 200 | 201
  readonly writing: () => Steps<string>
}

/** A success whose body is small enough to be written at once; it is in the wire's shape already. */
export const small = (status: Success["status"], body: unknown): Success => ({
  status,
  *writing() {
    return JSON.stringify(body)
  }
})

export const success = ({
  status,
  writing
}: Success): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(inTurns(writing), (json) => text(status, json))

/** A successful answer as it is kept for a repeat: the status, a space, and the body. */
export function* kept({ status, writing }: Success): Steps<string> {
  return `${status} ${yield* writing()}`
}

const statusLength = 3

/** An answer that was kept, again. */
export const replayed = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text.slice(statusLength + 1), {
    status: Number(text.slice(0, statusLength)),
    contentType: "application/json",
    headers: withApiHeaders({ "idempotency-replayed": "true" })
  })

/** A successful answer whose JSON text is written already. */
export const text = (status: 200 | 201, json: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(json, {
    status,
    contentType: "application/json",
    headers: withApiHeaders(undefined)
  })

const encoder = new TextEncoder()

/** The elements of a JSON array, without its brackets. */
const inner = (chunk: ReadonlyArray<unknown>): string => JSON.stringify(chunk).slice(1, -1)

/**
 * A JSON array written chunk by chunk, in memory that does not grow with its length. It succeeds
 * once the first elements are there, so a failure before that is answered like any other; a later
 * one cuts the connection, so that no client takes half a list for a whole one. What is known to be
 * whole with its first chunk is sent at once.
 */
export const jsonArray = Effect.fnUntraced(function* <A, E>(
  elements: Stream.Stream<A, E>,
  headers?: Readonly<Record<string, string>>
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, E, Scope.Scope> {
  const pull = yield* Stream.toPull(elements)
  const first = yield* pull.pipe(
    Effect.map(Option.some),
    Pull.catchDone(() => Effect.succeedNone)
  )
  if (Option.isNone(first)) return json(200, [], headers)
  const scope = yield* Effect.scope
  const second = yield* Effect.forkIn(pull, scope, { startImmediately: true })
  const known = second.pollUnsafe()
  if (known !== undefined && Exit.isFailure(known) && Pull.isDoneCause(known.cause)) {
    return json(200, first.value, headers)
  }
  let isSecond = true
  const rest = Effect.suspend(() => {
    const chunk = isSecond ? Fiber.join(second) : pull
    isSecond = false
    return Effect.map(chunk, (elements) => Array.of(`,${inner(elements)}`))
  })
  const text = Stream.make(`[${inner(first.value)}`).pipe(
    Stream.concat(Stream.fromPull(Effect.succeed(rest))),
    Stream.concat(Stream.make("]"))
  )
  return HttpServerResponse.stream(
    Stream.map(text, (part) => encoder.encode(part)),
    {
      contentType: "application/json",
      headers: withApiHeaders(headers)
    }
  )
})

/** The answer to a refusal, whoever refuses. */
export const refusal = (refused: Refused): HttpServerResponse.HttpServerResponse => {
  const known =
    refused._tag === "StorageUnavailable"
      ? new ServiceUnavailable({ retryAfterSeconds: 1 })
      : refused
  const { body, headers, status } = problemOf(known)
  return HttpServerResponse.jsonUnsafe(body, { status, headers: withApiHeaders(headers) })
}

/**
 * The same path with its trailing slash. `location` is the raw path and query, percent-encoding
 * kept.
 */
export const redirect = (location: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({
    status: 308,
    headers: withApiHeaders({ location, "content-length": "0" })
  })
