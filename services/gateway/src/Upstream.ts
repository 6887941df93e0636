/**
 * Passing a request on to another service and its answer back. There is one way: the body is read
 * whole, within the budget of the process, and sent by Undici, which writes the framing anew. So no
 * byte of a client's framing reaches a service, a client that sends slowly costs the services
 * nothing, and a request of which nothing has left yet can be sent to another instance.
 */
import type { ServerResponse } from "node:http"
import { Cause, Context, Effect, Schedule, type Scope, Tracer } from "effect"
import { HttpServerResponse, HttpTraceContext } from "effect/http"
import * as Undici from "@effect/platform-node/Undici"
import { NotJson } from "@data-import/domain/schema/Json"
import { ServiceUnavailable } from "@data-import/domain/requests/Failure"
import type { OrganisationOf } from "@data-import/server/auth/Authorization"
import type { Arrival } from "@data-import/server/http/Arrival"
import * as Listener from "@data-import/server/http/Listener"
import * as ProxyHeaders from "./ProxyHeaders.ts"
import * as RequestBody from "@data-import/server/http/RequestBody"

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
  ServiceUnavailable | NotJson | RequestBody.BodyRefused
>

/** One service behind this one. */
export interface Upstream {
  /**
   * Answers with what the service answers, or with 503 if it does not; its body has at most `limit`
   * bytes.
   */
  readonly forward: (arrival: Arrival, limit: number) => Outcome
  /** Succeeds when one of its instances says that it is ready. */
  readonly ready: Effect.Effect<void, ServiceUnavailable>
}

/** One process of a service, with the connections to it that are kept. */
interface Instance {
  readonly pool: Undici.Pool
  /** What it last said of itself; one that is not ready is asked only where no other is. */
  isReady: boolean
}

/** Stands for the answer that has already been written. */
const written = HttpServerResponse.empty({ status: 200 })

const unavailable = new ServiceUnavailable({ retryAfterSeconds: 1 })

/** Undici's own refusal, of what Node's parser took. */
const unsendable = new NotJson({ detail: "The request is no well-formed HTTP." })

/** A request on its way through. */
interface Exchange {
  readonly method: string
  readonly path: string
  readonly headers: Array<string>
  readonly body: Buffer | null
  readonly requestId: string
  readonly response: ServerResponse
}

/** How an exchange with one instance ended. */
type Ending =
  | { readonly _tag: "Written" }
  /** No byte of the request has left, so another instance may have it. */
  | { readonly _tag: "NotSent"; readonly cause: Error }
  | { readonly _tag: "Failed"; readonly cause: Error }

const send = ({ pool }: Instance, exchange: Exchange): Effect.Effect<Ending> =>
  Effect.callback((resume) => {
    const { body, headers, method, path, requestId, response } = exchange
    let controller: Undici.Dispatcher.DispatchController | undefined
    let givenUp = false
    const end = (ending: Ending) => resume(Effect.succeed(ending))
    const giveUp = () => {
      givenUp = true
      controller?.abort(new Error("given up"))
    }
    pool.dispatch(
      { path, method, headers, body },
      {
        onRequestStart: (started) => {
          controller = started
          if (givenUp) giveUp()
        },
        onResponseStart: (_controller, status, received) => {
          if (status < 200) return
          RequestBody.answering(response, 0)
          response.writeHead(status, ProxyHeaders.responseHeaders(received, requestId))
        },
        onResponseData: (controller, chunk) => {
          if (response.write(chunk)) return
          controller.pause()
          response.once("drain", () => controller.resume())
        },
        onResponseEnd: () => {
          response.end()
          end({ _tag: "Written" })
        },
        onResponseError: (_controller, cause) =>
          end({ _tag: controller === undefined ? "NotSent" : "Failed", cause })
      }
    )
    return Effect.sync(giveUp)
  })

const isRefusedByUndici = (cause: Error): boolean =>
  "code" in cause && cause.code === "UND_ERR_INVALID_ARG"

/** What the caller gets where the service has not answered, or not to the end. */
const failed = (cause: Error, response: ServerResponse): Outcome => {
  if (isRefusedByUndici(cause)) return Effect.fail(unsendable)
  if (response.headersSent) response.destroy()
  const logged = Effect.logWarning("no answer from the service behind", Cause.fail(cause))
  const outcome = response.headersSent ? Effect.succeed(written) : Effect.fail(unavailable)
  return Effect.andThen(logged, outcome)
}

/** Tries one instance after the other, until the request has left for one of them. */
const sendToOne = Effect.fnUntraced(function* (
  instances: ReadonlyArray<Instance>,
  exchange: Exchange
) {
  let notSent: Error = new Error("no instance")
  for (const instance of instances) {
    const ending = yield* send(instance, exchange)
    if (ending._tag === "Written") return written
    if (ending._tag === "Failed") return yield* failed(ending.cause, exchange.response)
    notSent = ending.cause
    if (isRefusedByUndici(notSent)) break
    instance.isReady = instances.length === 1
  }
  return yield* failed(notSent, exchange.response)
})

const instance = (url: URL, times: Times): Instance => ({
  pool: new Undici.Pool(url.origin, {
    connect: { timeout: times.connect },
    headersTimeout: times.answer,
    bodyTimeout: times.answer,
    keepAliveTimeout: 30_000
  }),
  isReady: true
})

/** A service that is not part of this system: what it would answer is unavailable. */
export const absent: Upstream = { forward: () => Effect.fail(unavailable), ready: Effect.void }

const checkReady = ({ pool }: Instance): Effect.Effect<boolean> =>
  Effect.promise(async (signal) => {
    try {
      const path = "/health/ready"
      const { body, statusCode } = await pool.request({ path, method: "GET", signal })
      await body.dump()
      return statusCode === 200
    } catch {
      // Whatever keeps it from answering, it is not ready; the next check asks again.
      return false
    }
  })

/** How often each of several instances is asked whether it is ready. */
const checkInterval = "1 second"

const watch = (instance: Instance) =>
  checkReady(instance).pipe(
    Effect.tap((isReady) => Effect.sync(() => void (instance.isReady = isReady))),
    Effect.repeat(Schedule.spaced(checkInterval))
  )

/**
 * Connects to the instances of one service at `urls` (`http`), at least one; the connections are
 * kept for as long as the scope. Requests go to them in turn. The memory that bodies hold counts
 * for the organisation that `organisationOf` tells, or with that of all who have no valid token.
 */
export const make = Effect.fnUntraced(function* (
  urls: ReadonlyArray<URL>,
  times: Times,
  organisationOf: OrganisationOf
): Effect.fn.Return<Upstream, never, Scope.Scope> {
  const instances = yield* Effect.acquireRelease(
    Effect.sync(() => urls.map((url) => instance(url, times))),
    (made) => Effect.promise(() => Promise.all(made.map(({ pool }) => pool.destroy())))
  )
  if (instances.length > 1) {
    yield* Effect.forEach(instances, (one) => Effect.forkScoped(watch(one)), { discard: true })
  }
  let turn = 0
  const inTurn = (): ReadonlyArray<Instance> => {
    if (instances.length === 1) return instances
    turn = (turn + 1) % instances.length
    const rotated = [...instances.slice(turn), ...instances.slice(0, turn)]
    return [...rotated.filter((one) => one.isReady), ...rotated.filter((one) => !one.isReady)]
  }

  const forward: Upstream["forward"] = (arrival, limit) =>
    Effect.withFiber((fiber) => {
      const { readBody, request, requestId } = arrival
      const message = Listener.message(request)
      const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
      const trace = span?._tag === "Span" ? HttpTraceContext.toHeaders(span) : undefined
      const pass = (body: Buffer | null) =>
        sendToOne(inTurn(), {
          method: request.method,
          path: request.url,
          headers: ProxyHeaders.requestHeaders(message, arrival, trace),
          body,
          requestId,
          response: Listener.response(request)
        })
      if (!Listener.hasBody(message)) return Effect.interruptible(pass(null))
      return organisationOf(request.headers["authorization"]).pipe(
        Effect.flatMap((organisation) => readBody(limit, organisation)),
        Effect.flatMap(pass),
        Effect.interruptible
      )
    })

  const ready = Effect.forEach(instances, checkReady, { concurrency: "unbounded" }).pipe(
    Effect.flatMap((each) => (each.includes(true) ? Effect.void : Effect.fail(unavailable)))
  )
  return { forward, ready }
})
