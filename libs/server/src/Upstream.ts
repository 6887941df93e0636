/**
 * Passing a request on to another service and its answer back, without looking into either body.
 * The bytes go from socket to socket: through Effect's client and response bodies a request was
 * measured to cost three times the CPU.
 */
import { Agent, type IncomingMessage, request, type ServerResponse } from "node:http"
import { pipeline, Transform } from "node:stream"
import { Cause, Context, Effect, type Scope, Tracer } from "effect"
import { HttpServerResponse, HttpTraceContext } from "effect/http"
import * as Undici from "@effect/platform-node/Undici"
import { bodyBytes } from "@data-import/api/Limits"
import { PayloadTooLarge } from "@data-import/api/Refusal"
import { ServiceUnavailable } from "@data-import/domain/Failure"
import type { Arrival } from "./Dispatch.ts"
import * as Hop from "./Hop.ts"
import * as Listener from "./Listener.ts"

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
  return message.pipe(counter)
}

/** Stands for the answer that has already been written. */
const written = HttpServerResponse.empty({ status: 200 })

const unavailable = new ServiceUnavailable({ retryAfterSeconds: 1 })

/** A request on its way through. */
interface Exchange {
  readonly arrival: Arrival
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly headers: Array<string>
  readonly begin: (status: number, headers: Hop.AnswerHeaders) => void
  /** The answer is written, was cut, or never came. Only the first word of it is heard. */
  readonly end: (failure?: Error) => void
  readonly refuse: (refusal: PayloadTooLarge) => void
}

type GiveUp = () => void

const exchangeOf = (
  arrival: Arrival,
  trace: Readonly<Record<string, string>> | undefined,
  resume: (outcome: Outcome) => void
): Exchange => {
  const message = Listener.message(arrival.request)
  const response = Listener.response(arrival.request)
  return {
    arrival,
    message,
    response,
    headers: Hop.requestHeaders(message, arrival, trace),
    begin: (status, headers) => {
      // A client that is still sending is not to send the rest into the next request.
      if (!message.complete) response.shouldKeepAlive = false
      response.writeHead(status, Hop.answerHeaders(headers, arrival.requestId))
    },
    end: (failure) => {
      if (failure === undefined) return resume(Effect.succeed(written))
      if (response.headersSent) response.destroy()
      const told = Effect.logWarning("no answer from the service behind", Cause.fail(failure))
      const outcome = response.headersSent ? Effect.succeed(written) : Effect.fail(unavailable)
      resume(Effect.andThen(told, outcome))
    },
    refuse: (refusal) => {
      if (!response.headersSent) resume(Effect.fail(refusal))
    }
  }
}

/** Sends a request whose body, if any, is here: the fast way, and that of nearly every request. */
const sendWhole = (pool: Undici.Pool, exchange: Exchange, body: Buffer | null): GiveUp => {
  const { arrival, headers, response } = exchange
  let controller: Undici.Dispatcher.DispatchController | undefined
  let givenUp = false
  const giveUp = () => {
    givenUp = true
    controller?.abort(new Error("given up"))
  }
  pool.dispatch(
    {
      path: arrival.request.url,
      method: arrival.request.method,
      headers,
      body
    },
    {
      onRequestStart: (started) => {
        controller = started
        if (givenUp) giveUp()
      },
      onResponseStart: (_controller, status, received) => {
        if (status >= 200) exchange.begin(status, received)
      },
      onResponseData: (controller, chunk) => {
        if (response.write(chunk)) return
        controller.pause()
        response.once("drain", () => controller.resume())
      },
      onResponseEnd: () => {
        response.end()
        exchange.end()
      },
      onResponseError: (_controller, error) => exchange.end(error)
    }
  )
  return giveUp
}

/**
 * Sends a request whose body is on its way. Undici keeps the headers back until the first byte of a
 * body is there; Node's client does not, and a service that refuses by the headers can do so at
 * once.
 */
const sendStreaming = (at: Target, exchange: Exchange): GiveUp => {
  const { arrival, headers, message, response } = exchange
  const { method, url: path } = arrival.request
  const outgoing = request({ ...at, method, path, headers, setHost: false })
  let answered = false
  if (message.headers.expect?.toLowerCase() === "100-continue") response.writeContinue()
  outgoing.flushHeaders()
  outgoing.once("error", (failure) => answered || exchange.end(failure))
  outgoing.once("timeout", () => outgoing.destroy(new Error("timed out")))
  outgoing.once("response", (answer) => {
    answered = true
    exchange.begin(answer.statusCode ?? 502, answer.headers)
    pipeline(answer, response, (failure) => {
      exchange.end(failure ?? undefined)
      if (!message.complete) outgoing.destroy()
    })
  })
  const tooLarge = () => {
    exchange.refuse(new PayloadTooLarge())
    outgoing.destroy()
  }
  counted(message, tooLarge).pipe(outgoing)
  return () => void outgoing.destroy()
}

/** Node's parser hands over the headers first, and in a microtask the body that came with them. */
const send = (behind: Behind, exchange: Exchange): GiveUp => {
  const { message } = exchange
  if (!Hop.hasBody(message)) return sendWhole(behind.pool, exchange, null)
  let giveUp: GiveUp | undefined
  let givenUp = false
  queueMicrotask(() => {
    if (givenUp) return
    const isHere = message.readableLength === Number(message.headers["content-length"])
    giveUp = isHere
      ? sendWhole(behind.pool, exchange, message.read() as Buffer)
      : sendStreaming(behind.target, exchange)
  })
  return () => {
    givenUp = true
    giveUp?.()
  }
}

/** The ways to one service, with connections that are kept. */
interface Behind {
  readonly pool: Undici.Pool
  readonly target: Target
}

interface Target {
  readonly agent: Agent
  readonly host: string
  readonly port: string
  readonly timeout: number
}

const connect = (url: URL, times: Times): Behind => ({
  pool: new Undici.Pool(url.origin, {
    connect: { timeout: times.connect },
    headersTimeout: times.answer,
    bodyTimeout: times.answer,
    keepAliveTimeout: 30_000
  }),
  target: {
    agent: new Agent({ keepAlive: true }),
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port,
    timeout: times.answer
  }
})

const disconnect = ({ pool, target }: Behind): Effect.Effect<void> => {
  target.agent.destroy()
  return Effect.promise(() => pool.destroy())
}

/**
 * A service that is not part of this system: what it would answer is unavailable, and nothing waits
 * for it.
 */
export const absent: Upstream = { forward: () => Effect.fail(unavailable), ready: Effect.void }

const isReady = ({ pool }: Behind) =>
  Effect.tryPromise({
    try: async (signal) => {
      const path = "/health/ready"
      const { body, statusCode } = await pool.request({ path, method: "GET", signal })
      await body.dump()
      if (statusCode !== 200) throw unavailable
    },
    catch: () => unavailable
  })

/** Connects to the service at `url` (`http`); its connections are kept for as long as the scope. */
export const make = (url: URL, times: Times): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => connect(url, times)),
      disconnect
    ),
    (behind) => ({
      forward: (arrival) =>
        Effect.withFiber((fiber) => {
          const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
          const trace = span?._tag === "Span" ? HttpTraceContext.toHeaders(span) : undefined
          return Effect.interruptible(
            Effect.callback((resume: (outcome: Outcome) => void) => {
              const giveUp = send(behind, exchangeOf(arrival, trace, resume))
              return Effect.sync(giveUp)
            })
          )
        }),
      ready: isReady(behind)
    })
  )
