/**
 * Passing a request on to another service and its answer back, without looking into either body.
 * The bytes go from socket to socket: Effect's client and response bodies were measured and cost
 * more than the rest of the gateway together.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Transform } from "node:stream"
import { Cause, Context, Effect, type Scope, Tracer } from "effect"
import { HttpServerResponse, HttpTraceContext } from "effect/http"
import * as Undici from "@effect/platform-node/Undici"
import { bodyBytes } from "@data-import/api/Limits"
import { PayloadTooLarge } from "@data-import/api/Refusal"
import { ServiceUnavailable } from "@data-import/domain/Failure"
import type { Arrival } from "./Dispatch.ts"
import * as Listener from "./Listener.ts"
import * as RequestId from "./RequestId.ts"

/** What the pool of connections waits for. Milliseconds. */
export interface Times {
  /** Until a connection stands. */
  readonly connect: number
  /**
   * From the end of the request to the headers of its answer, and between two parts of the answer.
   */
  readonly answer: number
}

type Outcome = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  ServiceUnavailable | PayloadTooLarge
>

/** One service behind this one. */
export interface Upstream {
  /** Answers with what the service answers, or with 503 if it does not. */
  readonly forward: (arrival: Arrival) => Outcome
  /** Succeeds when the service says that it is ready. */
  readonly ready: Effect.Effect<void, ServiceUnavailable>
}

/** Meant for the next hop only (RFC 9110, 7.6.1), or written anew here. */
const dropped: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "forwarded",
  "x-forwarded-for",
  RequestId.header
])

const namedByConnection = (header: string | undefined): ReadonlySet<string> | undefined => {
  if (header === undefined || /^(?:keep-alive|close)$/i.test(header)) return undefined
  return new Set(header.split(",").map((name) => name.trim().toLowerCase()))
}

const requestHeaders = (
  message: IncomingMessage,
  { clientAddress, requestId }: Arrival,
  hasBody: boolean,
  trace: Readonly<Record<string, string>> | undefined
): Array<string> => {
  const raw = message.rawHeaders
  const named = namedByConnection(message.headers.connection)
  const headers = ["x-forwarded-for", clientAddress, RequestId.header, requestId]
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string
    const lower = name.toLowerCase()
    if (dropped.has(lower) || named?.has(lower)) continue
    if (!hasBody && lower === "content-length") continue
    if (trace !== undefined && lower in trace) continue
    headers.push(name, raw[index + 1] as string)
  }
  for (const name in trace) headers.push(name, trace[name] as string)
  return headers
}

type AnswerHeaders = Record<string, string | Array<string> | undefined>

const answerHeaders = (received: AnswerHeaders, requestId: string): AnswerHeaders => {
  const { connection } = received
  const named = namedByConnection(typeof connection === "string" ? connection : undefined)
  const headers: AnswerHeaders = {}
  for (const name in received) {
    if (!dropped.has(name) && !named?.has(name)) headers[name] = received[name]
  }
  headers[RequestId.header] = requestId
  return headers
}

const hasBody = ({ headers, method }: IncomingMessage): boolean =>
  method !== "GET" &&
  method !== "HEAD" &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

/** Stops a body without a length at the first byte too many. */
const counted = (message: IncomingMessage, tooLarge: () => void): Transform => {
  let size = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > bodyBytes) tooLarge()
      else done(null, chunk)
    }
  })
  // Undici reports to the exchange what it destroys the stream for.
  counter.on("error", () => {})
  return message.pipe(counter)
}

/**
 * The handler of one exchange: writes the answer as it arrives, at the pace at which the client
 * reads.
 */
const writer = (
  response: ServerResponse,
  requestId: string,
  done: (failure?: Error) => void
): Undici.Dispatcher.DispatchHandler => ({
  onResponseStart: (_controller, status, headers) => {
    if (status < 200) return
    if (!response.req.complete) response.shouldKeepAlive = false
    response.writeHead(status, answerHeaders(headers, requestId) as Record<string, string>)
  },
  onResponseData: (controller, chunk) => {
    if (response.write(chunk)) return
    controller.pause()
    response.once("drain", () => controller.resume())
  },
  onResponseEnd: () => {
    response.end()
    done()
  },
  onResponseError: (_controller, error) => {
    if (response.headersSent) response.destroy()
    done(error)
  }
})

/** Stands for the answer that has already been written. */
const written = HttpServerResponse.empty({ status: 200 })

const unavailable = new ServiceUnavailable({ retryAfterSeconds: 1 })

/** An answer that was cut is cut for the client as well; one that never began can be said. */
const unanswered = (failure: Error, response: ServerResponse) =>
  Effect.andThen(
    Effect.logWarning("no answer from the service behind", Cause.fail(failure)),
    response.headersSent ? Effect.succeed(written) : Effect.fail(unavailable)
  )

/**
 * A body that is here already is sent in one piece; another one is passed on as it comes. Undici
 * destroys a body that it could not send, which must not be the client's connection, so there is a
 * stream in between.
 */
const bodyOf = (message: IncomingMessage, tooLarge: () => void): Buffer | Transform => {
  const isHere = message.readableLength === Number(message.headers["content-length"])
  if (isHere) return message.read() as Buffer
  return counted(message, tooLarge)
}

/** Sends the request and returns how to give it up. */
const exchange = (
  pool: Undici.Pool,
  arrival: Arrival,
  trace: Readonly<Record<string, string>> | undefined,
  resume: (outcome: Outcome) => void
): (() => void) => {
  const message = Listener.message(arrival.request)
  const response = Listener.response(arrival.request)
  const withBody = hasBody(message)
  let controller: Undici.Dispatcher.DispatchController | undefined
  let givenUp = false
  const giveUp = () => {
    givenUp = true
    controller?.abort(new Error("given up"))
  }
  const tooLarge = () => {
    giveUp()
    if (!response.headersSent) resume(Effect.fail(new PayloadTooLarge()))
  }
  const handler: Undici.Dispatcher.DispatchHandler = {
    ...writer(response, arrival.requestId, (failure) =>
      resume(failure === undefined ? Effect.succeed(written) : unanswered(failure, response))
    ),
    onRequestStart: (started) => {
      controller = started
      if (givenUp) giveUp()
    }
  }
  const send = () => {
    if (givenUp) return
    if (message.headers.expect?.toLowerCase() === "100-continue") response.writeContinue()
    pool.dispatch(
      {
        path: arrival.request.url,
        method: arrival.request.method as Undici.Dispatcher.HttpMethod,
        headers: requestHeaders(message, arrival, withBody, trace),
        body: withBody ? bodyOf(message, tooLarge) : null
      },
      handler
    )
  }
  // Node's parser hands over the headers first, and in a microtask the body that came with them.
  if (withBody) queueMicrotask(send)
  else send()
  return giveUp
}

/**
 * A service that is not part of this system: what it would answer is unavailable, and nothing waits
 * for it.
 */
export const absent: Upstream = { forward: () => Effect.fail(unavailable), ready: Effect.void }

/** Connects to the service at `url`, with connections that are kept for as long as the scope. */
export const make = (url: URL, times: Times): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Undici.Pool(url.origin, {
            connect: { timeout: times.connect },
            headersTimeout: times.answer,
            bodyTimeout: times.answer,
            keepAliveTimeout: 30_000
          })
      ),
      (pool) => Effect.promise(() => pool.destroy())
    ),
    (pool) => ({
      forward: (arrival) =>
        Effect.withFiber((fiber) => {
          const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
          const trace = span?._tag === "Span" ? HttpTraceContext.toHeaders(span) : undefined
          return Effect.interruptible(
            Effect.callback((resume: (outcome: Outcome) => void) => {
              const giveUp = exchange(pool, arrival, trace, resume)
              return Effect.sync(giveUp)
            })
          )
        }),
      ready: Effect.tryPromise({
        try: async (signal) => {
          const { body, statusCode } = await pool.request({
            path: "/health/ready",
            method: "GET",
            signal
          })
          await body.dump()
          if (statusCode !== 200) throw unavailable
        },
        catch: () => unavailable
      })
    })
  )
