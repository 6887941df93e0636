/**
 * The responses of a service: JSON for a success, the error envelope for a refusal, and the headers
 * that both have. Responses are made here only, so that no endpoint can forget a header.
 */
import { Array, Effect, Exit, Fiber, Option, Pull, type Schema, type Scope, Stream } from "effect"
import { Headers, HttpServerResponse } from "effect/http"
import { errorResponseOf } from "@data-import/api/ErrorResponse"
import type { Refusal } from "@data-import/api/Refusal"
import { type Failure, unavailable } from "@data-import/domain/requests/Failure"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { textEncoderOf, jsonInSteps } from "@data-import/domain/schema/Encoder"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Holder from "@data-import/domain/support/Holder"
import * as KeyedSemaphores from "@data-import/domain/support/KeyedSemaphores"

/** Everything that a handler may fail with; each has its answer. */
export type Refused = Failure | Refusal | StorageUnavailable

/** What a handler answers. A refusal becomes the error envelope, and a defect a plain 500. */
export type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse, Refused, Scope.Scope>

const apiHeaders = Headers.fromRecordUnsafe({
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff"
})

const withApiHeaders = (headers: Readonly<Record<string, string>> | undefined) =>
  headers === undefined ? apiHeaders : Headers.fromRecordUnsafe({ ...apiHeaders, ...headers })

/** The status of a success. */
export type SuccessStatus = 200 | 201 | 202 | 304

declare const carried: unique symbol

/**
 * The status and body of a response or a text, for the compiler only. A handler thus compiles only
 * if its endpoint declares them.
 */
export interface Carries<Status extends SuccessStatus, Body> {
  readonly [carried]: readonly [status: Status, body: Body]
}

/** A success that is ready to be sent. */
export type Response<Status extends SuccessStatus, Body> = HttpServerResponse.HttpServerResponse &
  Carries<Status, Body>

/** A success before it is sent; its JSON text is written in steps. */
export interface Success<Status extends SuccessStatus, Body> extends Carries<Status, Body> {
  readonly status: Status
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly writing: () => Steps<string>
}

type Uncarried<A> = Omit<A, typeof carried>

/**
 * A success. `body` is written as it is, so it is already in the wire's shape; `headers` has
 * lower-case names.
 */
export const json = <const Status extends SuccessStatus, const Body>(
  status: Status,
  body: Body,
  headers?: Readonly<Record<string, string>>
): Response<Status, Body> =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: withApiHeaders(headers) }) as Response<
    Status,
    Body
  >

/** A success whose body is this text of a `Body`, which takes steps if it is large. */
export const written = <Body, const Status extends SuccessStatus = 200>(
  status: Status,
  writing: () => Steps<string>,
  headers?: Readonly<Record<string, string>>
): Success<Status, Body> => {
  const success: Uncarried<Success<Status, Body>> = { status, ...(headers && { headers }), writing }
  return success as Success<Status, Body>
}

/** A success whose body is small enough to be written at once; it is in the wire's shape already. */
export const small = <const Status extends SuccessStatus, const Body>(
  status: Status,
  body: Body,
  headers?: Readonly<Record<string, string>>
): Success<Status, Body> =>
  written<Body, Status>(
    status,
    function* () {
      return JSON.stringify(body)
    },
    headers
  )

/** Makes successes of values whose body is what the schema encodes; a large one takes steps. */
export const encoded = <const Status extends SuccessStatus, A, I>(
  status: Status,
  schema: Schema.Codec<A, I>
): ((value: A) => Success<Status, I>) => {
  const writing = textEncoderOf(schema)
  return (value) => written<I, Status>(status, () => writing(value))
}

const ofText = (status: number, text: string, headers?: Readonly<Record<string, string>>) =>
  HttpServerResponse.text(text, {
    status,
    contentType: "application/json",
    headers: withApiHeaders(headers)
  })

export const success = <Status extends SuccessStatus, Body>({
  headers,
  status,
  writing
}: Success<Status, Body>): Effect.Effect<Response<Status, Body>> =>
  Effect.map(
    inTimeSlices(writing),
    (text) => ofText(status, text, headers) as Response<Status, Body>
  )

/** A success that is no JSON but this text, for a client that prefers its media type. */
export const text = (contentType: string, body: string): Response<200, never> =>
  HttpServerResponse.text(body, {
    contentType,
    headers: withApiHeaders({ vary: "accept" })
  }) as Response<200, never>

/** A page of a list, whose elements are made and written in steps. */
export const page = <A, B>(
  elements: ReadonlyArray<A>,
  toBody: (element: A) => B,
  headers: Readonly<Record<string, string>>
): Effect.Effect<Response<200, ReadonlyArray<B>>> => {
  function* writing() {
    const texts: Array<string> = []
    for (const element of elements) {
      texts.push(yield* jsonInSteps(toBody(element)))
      yield
    }
    return `[${texts.join(",")}]`
  }
  return success(written<ReadonlyArray<B>>(200, writing, headers))
}

/**
 * A success as it is kept for a repeat: the status, a space, and the body. With headers, the space
 * is a `+`, and the headers are a line of JSON before the body.
 */
export function* kept({
  headers,
  status,
  writing
}: Success<SuccessStatus, unknown>): Steps<string> {
  const body = yield* writing()
  return headers === undefined
    ? `${status} ${body}`
    : `${status}+${JSON.stringify(headers)}\n${body}`
}

const statusLength = 3

/** Sends a kept answer again. */
export const replayed = (text: string): HttpServerResponse.HttpServerResponse => {
  const start = statusLength + 1
  const end = text[statusLength] === "+" ? text.indexOf("\n") : null
  const headers =
    end === null ? {} : (JSON.parse(text.slice(start, end)) as Readonly<Record<string, string>>)
  const body = text.slice(end === null ? start : end + 1)
  return ofText(Number(text.slice(0, statusLength)), body, {
    ...headers,
    "idempotency-replayed": "true"
  })
}

const encoder = new TextEncoder()

const ofHolder = KeyedSemaphores.make<Holder.Holder>(2)

/**
 * The stream, of which one organisation computes two parts at once, however many it reads: their
 * parts would be ready in the same turns of the event loop, and delay all others. Parts must be
 * bounded: `jsonArray` is not limited, because a list may scan long before its next part.
 */
const limitedByHolder = <A, E>(stream: Stream.Stream<A, E>): Stream.Stream<A, E> =>
  Stream.transformPull(stream, (pull) =>
    Effect.succeed(
      Effect.withFiber((fiber) => ofHolder(Holder.of(fiber), (own) => own.withPermit(pull)))
    )
  )

/** The elements of a JSON array, without its brackets. */
const inner = (chunk: ReadonlyArray<unknown>): string => JSON.stringify(chunk).slice(1, -1)

/**
 * A JSON array that is written chunk by chunk, in memory that does not grow with its length. It
 * succeeds with the first elements, so an earlier failure is answered like any other. A later
 * failure cuts the connection, so that no client takes a part of the list for the whole. A list
 * that is complete with its first chunk is sent at once, with its length.
 */
export const jsonArray = Effect.fnUntraced(function* <A, E>(
  elements: Stream.Stream<A, E>,
  headers?: Readonly<Record<string, string>>
): Effect.fn.Return<Response<200, ReadonlyArray<A>>, E, Scope.Scope> {
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
  ) as Response<200, ReadonlyArray<A>>
})

/** The link to the next page of a list, at the path of this request and with these parameters. */
export const nextPage = (url: string, parameters: Readonly<Record<string, string>>) => ({
  link: `<${url.split("?", 1)[0] as string}?${new URLSearchParams(parameters).toString()}>; rel="next"`
})

/** The answer to a condition that does not hold, without a body. */
export const notModified = (headers: Readonly<Record<string, string>>): Response<304, void> =>
  HttpServerResponse.empty({ status: 304, headers: withApiHeaders(headers) }) as Response<304, void>

/**
 * Text that is JSON already, sent as it is made, in memory that does not grow with its length. It
 * succeeds with the first part, so an earlier failure is answered like any other. A later failure
 * cuts the connection, so that no client takes a part for the whole. See `limitedByHolder`.
 */
const streamed = Effect.fnUntraced(function* <E>(
  text: Stream.Stream<string, E>,
  contentType: string,
  headers?: Readonly<Record<string, string>>
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, E, Scope.Scope> {
  const pull = yield* Stream.toPull(limitedByHolder(text))
  const first = yield* Pull.catchDone(pull, () => Effect.succeed(Array.empty<string>()))
  const rest = first.length === 0 ? Stream.empty : Stream.fromPull(Effect.succeed(pull))
  return HttpServerResponse.stream(
    Stream.concat(Stream.make(first), Stream.chunks(rest)).pipe(
      Stream.filter((chunk) => chunk.length > 0),
      Stream.map((chunk) => encoder.encode(chunk.join("")))
    ),
    { contentType, headers: withApiHeaders(headers) }
  )
})

const ndjsonType = "application/x-ndjson"

/** NDJSON of these lines, which are JSON already and have no line ends; see `streamed`. */
export const ndjson = <E>(
  lines: Stream.Stream<string, E>,
  headers: Readonly<Record<string, string>>
) =>
  streamed(
    Stream.map(lines, (line) => `${line}\n`),
    ndjsonType,
    headers
  ) as Effect.Effect<Response<200, Stream.Stream<never>>, E, Scope.Scope>

/** NDJSON whose lines arrive in parts; see `streamed`. */
export const ndjsonParts = <E>(text: Stream.Stream<string, E>) =>
  streamed(text, ndjsonType) as Effect.Effect<Response<200, Stream.Stream<never>>, E, Scope.Scope>

/** CSV whose rows arrive in parts; see `streamed`. */
export const csvParts = <E>(
  text: Stream.Stream<string, E>,
  headers: Readonly<Record<string, string>>
) =>
  streamed(text, "text/csv; charset=utf-8", headers) as Effect.Effect<
    Response<200, string>,
    E,
    Scope.Scope
  >

/** One JSON document that arrives in parts; see `streamed`. `Body` is the type of its content. */
export const jsonParts = <Body, E>(text: Stream.Stream<string, E>) =>
  streamed(text, "application/json") as Effect.Effect<Response<200, Body>, E, Scope.Scope>

/** The coded refusal that is answered to a failure. */
export const codedRefusal = (refused: Refused): Failure | Refusal =>
  refused._tag === "StorageUnavailable" ? unavailable : refused

/** The answer to a refusal. */
export const refusal = (refused: Failure | Refusal): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = errorResponseOf(refused)
  return HttpServerResponse.jsonUnsafe(body, { status, headers: withApiHeaders(headers) })
}

/** Redirects to the path with its slash. `location` is the raw path and query, still encoded. */
export const redirect = (location: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({
    status: 308,
    headers: withApiHeaders({ location, "content-length": "0" })
  })
