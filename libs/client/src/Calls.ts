/**
 * Calls the endpoints of the contract: with a token, in several attempts, within a deadline. Each
 * attempt reads the whole answer, so that one that breaks in the middle is sent again.
 */
import { Clock, Context, Effect, Result, Stream } from "effect"
import {
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import { HttpApiClient, type HttpApiEndpoint } from "effect/http-api"
import { scopeOf } from "@data-import/api/Authorization"
import { keyRefusalOf } from "@data-import/api/Operation"
import type { AccessToken } from "./AccessToken.ts"
import { parseExactly, type Reader, type Success, successesOf } from "./Answers.ts"
import { ClientApi, groups } from "./ClientApi.ts"
import {
  type CallError,
  ConnectionFailed,
  DeadlineExceeded,
  errorOf,
  UnexpectedAnswer
} from "./Errors.ts"
import { linesOf } from "./NdjsonLines.ts"
import { delayAfter, isRetryable } from "./Retries.ts"

/** Options of one call. */
export interface CallOptions {
  /** The key of a POST that writes; a random one unless given. Attempts of one call share it. */
  readonly idempotencyKey?: string
  /** Further headers, for example `if-none-match`. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long the call may take, all attempts together, in milliseconds. */
  readonly deadline?: number
  /** The maximum number of repetitions. */
  readonly retries?: number
}

/** An answer with its head. */
export interface Answered<A> {
  readonly value: A
  readonly statusCode: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** What a call sends, before it is encoded. */
export interface Sent {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
}

/** Calls an endpoint. */
export type Call = (
  sent?: Sent,
  options?: CallOptions
) => Effect.Effect<Answered<unknown>, CallError>

export interface Settings {
  readonly baseUrl: string
  readonly deadline: number
  readonly retries: number
}

/** The headers of the attempt that this fiber makes. */
const AttemptHeaders = Context.Reference<Readonly<Record<string, string>>>(
  "@data-import/client/AttemptHeaders",
  { defaultValue: () => ({}) }
)

/**
 * Only a failure to read the answer has a cause; every other failure is about the answer itself.
 */
export const transportError = (error: HttpClientError.HttpClientError): ConnectionFailed =>
  // Not the reason itself, which holds the request with its secrets.
  new ConnectionFailed({ cause: error.cause ?? error.reason._tag })

const unexpected = (
  { headers, status }: HttpClientResponse.HttpClientResponse,
  detail: string
): UnexpectedAnswer =>
  new UnexpectedAnswer({
    statusCode: status,
    requestId: headers["x-request-id"] ?? null,
    detail
  })

const readText = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.mapError(response.text, transportError)

const valueOf = (
  response: HttpClientResponse.HttpClientResponse,
  read: Reader,
  text: string
): Effect.Effect<unknown, UnexpectedAnswer> =>
  Effect.fromResult(Result.mapError(read(text), (detail) => unexpected(response, detail)))

/** The value of a success. A stream is read by the caller, and the connection may break later. */
const successOf = (
  response: HttpClientResponse.HttpClientResponse,
  success: Success
): Effect.Effect<unknown, CallError> => {
  switch (success._tag) {
    case "Empty":
      return Effect.undefined
    case "Json":
      return Effect.flatMap(readText(response), (text) => valueOf(response, success.read, text))
    case "Lines":
      return Effect.succeed(
        linesOf(Stream.mapError(response.stream, transportError)).pipe(
          Stream.filter((line) => line !== ""),
          Stream.mapEffect((text) => valueOf(response, success.read, text))
        )
      )
  }
}

const answerOf = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  successes: ReadonlyMap<number, Success>
) {
  const success = successes.get(response.status)
  if (success !== undefined) {
    const value = yield* successOf(response, success)
    return { value, statusCode: response.status, headers: response.headers }
  }
  const body = parseExactly(yield* readText(response))
  return yield* errorOf({ status: response.status, headers: response.headers, body }) as CallError
})

/** How an endpoint is called, before there are attempts. */
export type Exchange = (
  sent: Sent,
  headers: Readonly<Record<string, string>>
) => Effect.Effect<Answered<unknown>, CallError>

type Raw = (request: unknown) => Effect.Effect<HttpClientResponse.HttpClientResponse, unknown>

const isEncoded = (payload: unknown): boolean =>
  payload === undefined || payload instanceof Uint8Array || Stream.isStream(payload)

const encoded = ({ params, payload, query }: Sent) => ({
  params,
  query: query ?? {},
  payload: isEncoded(payload) ? payload : JSON.stringify(payload),
  responseMode: "response-only"
})

/** One exchange of each endpoint by its name, over HTTP. */
export const exchanges = (
  baseUrl: string
): Effect.Effect<ReadonlyMap<string, Exchange>, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const httpClient = HttpClient.mapRequestEffect(yield* HttpClient.HttpClient, (request) =>
      Effect.map(AttemptHeaders, (headers) => HttpClientRequest.setHeaders(request, headers))
    )
    const made = HttpApiClient.makeWith(ClientApi, { httpClient, baseUrl })
    // No endpoint of the contract has middleware.
    const raw = yield* made as Effect.Effect<unknown> as Effect.Effect<Record<string, Raw>>
    const byEndpoint = successesOf(ClientApi)
    const exchangeOf = (endpoint: HttpApiEndpoint.Top): [string, Exchange] => {
      const successes = byEndpoint.get(endpoint.identifier) ?? new Map<number, Success>()
      const request = raw[endpoint.identifier] as Raw
      const exchange: Exchange = (sent, headers) =>
        request(encoded(sent)).pipe(
          // Parameters that cannot be encoded are a mistake of the calling code.
          Effect.catch((error) =>
            error instanceof HttpClientError.HttpClientError
              ? Effect.fail(transportError(error))
              : Effect.die(error)
          ),
          Effect.flatMap((response) => answerOf(response, successes)),
          Effect.provideService(AttemptHeaders, headers)
        )
      return [endpoint.identifier, exchange]
    }
    return new Map(groups.flatMap(({ endpoints }) => endpoints.map(exchangeOf)))
  })

/** Attempts an effect until it succeeds, must not be repeated, or the deadline is over. */
export const attempting = <A>(
  attempt: Effect.Effect<A, CallError>,
  { deadline, retries }: Pick<Settings, "deadline" | "retries">
): Effect.Effect<A, CallError> =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + deadline
    const late = (cause: unknown) =>
      Effect.fail(new DeadlineExceeded({ milliseconds: deadline, cause }))
    const again: (error: CallError, failed: number) => Effect.Effect<A, CallError> =
      Effect.fnUntraced(function* (error: CallError, failed: number) {
        if (failed > retries || !isRetryable(error)) return yield* Effect.fail(error)
        const delay = yield* delayAfter(error, failed)
        const left = end - (yield* Clock.currentTimeMillis)
        if (delay >= left) return yield* Effect.fail(error)
        yield* Effect.sleep(delay)
        return yield* within(left - delay, error, failed + 1)
      })
    const within = (duration: number, cause: CallError | undefined, count: number) =>
      attempt.pipe(
        Effect.timeoutOrElse({ duration, orElse: () => late(cause) }),
        Effect.catch((error) => again(error, count))
      )
    return yield* within(deadline, undefined, 1)
  })

const isStreamed = ({ payload }: Sent): boolean => Stream.isStream(payload)

/**
 * The call of an endpoint. If the service refuses a token, a new one is obtained once. A body that
 * is a stream is sent once, because only the caller knows where it must continue.
 */
export const callOf = (
  endpoint: HttpApiEndpoint.Top,
  exchange: Exchange,
  token: AccessToken<CallError>,
  settings: Settings
): Call => {
  const needsToken = scopeOf(endpoint) !== null
  const isKeyed = keyRefusalOf(endpoint) !== null
  const withToken = Effect.fnUntraced(function* (
    sent: Sent,
    headers: Readonly<Record<string, string>>
  ) {
    const access = yield* token.get
    const authorized = exchange(sent, { ...headers, authorization: `Token ${access}` })
    const isRefused = (error: CallError) =>
      error._tag === "ApiError" && error.code === "authentication_failed" && !isStreamed(sent)
    return yield* Effect.catchIf(authorized, isRefused, () =>
      Effect.gen(function* () {
        yield* token.reject(access)
        return yield* exchange(sent, { ...headers, authorization: `Token ${yield* token.get}` })
      })
    )
  })
  return (sent = {}, options = {}) =>
    Effect.suspend(() => {
      const { deadline, headers, idempotencyKey, retries } = { ...settings, ...options }
      const key = isKeyed ? { "idempotency-key": idempotencyKey ?? crypto.randomUUID() } : {}
      const all = { ...headers, ...key }
      const attempt = needsToken ? withToken(sent, all) : exchange(sent, all)
      if (isStreamed(sent)) return attempt
      return attempting(attempt, { deadline, retries })
    })
}
