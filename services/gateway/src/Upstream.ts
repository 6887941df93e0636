/**
 * Forwards a request to another service, and its answer to the client. The complete body is read,
 * within the budget of the process, and sent by Undici, which writes the framing. So no byte of a
 * client's framing reaches a service, a slow client costs the services nothing, and a request that
 * has not been sent yet can go to another instance. The body of an upload is sent while it arrives,
 * in chunks that Undici frames; it can go to another instance as long as none of it was read. A GET
 * without a body is sent once more if its connection broke before the head of an answer.
 */
import type { ServerResponse } from "node:http"
import type { Readable } from "node:stream"
import { Cause, Context, Effect, Metric, Option, type Scope, Tracer } from "effect"
import { HttpServerResponse, HttpTraceContext } from "effect/http"
import * as NodeStream from "@effect/platform-node/NodeStream"
import type * as Undici from "@effect/platform-node/Undici"
import { NotJson } from "@data-import/domain/schema/Json"
import { ServiceUnavailable } from "@data-import/domain/requests/Failure"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { Rivals } from "@data-import/domain/support/Rivals"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import type { OrganisationOf } from "@data-import/server/auth/Authorization"
import type { IncomingRequest } from "@data-import/server/http/IncomingRequest"
import type { Answered } from "@data-import/server/http/Answer"
import * as BodyStream from "@data-import/server/http/BodyStream"
import * as Listener from "@data-import/server/http/Listener"
import { type BodyLimit, withoutWait } from "./RoutingTable.ts"
import {
  type LimitOrganisation,
  withoutSlot
} from "@data-import/server/limits/OrganisationConcurrency"
import * as Instances from "./Instances.ts"
import * as ProxyHeaders from "./ProxyHeaders.ts"
import * as RequestBody from "@data-import/server/http/RequestBody"
import * as Turns from "./Turns.ts"

type Outcome = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  ServiceUnavailable | NotJson | RequestBody.BodyRefused
>

/** One service behind the gateway. */
export interface Upstream {
  /**
   * Answers what the service answers, or 503 if it does not answer. The request's body has at most
   * `limit` bytes, or is forwarded while it arrives. An answer that comes before the end of the
   * body closes the client's connection.
   */
  readonly forward: (
    incoming: IncomingRequest,
    limitOrganisation: LimitOrganisation,
    limit: BodyLimit
  ) => Answered
  /**
   * The same for a request that may wait for a change, outside the slots of others. As soon as the
   * gateway stops, it is answered with the present state, and a stream that has begun is cut.
   */
  readonly forwardWaiting: (
    incoming: IncomingRequest,
    limitOrganisation: LimitOrganisation
  ) => Answered
  /** Succeeds if one of the instances is ready. */
  readonly ready: Effect.Effect<void, ServiceUnavailable>
}

/** A placeholder: the answer has already been written. */
const written = HttpServerResponse.empty({ status: 200 })

const unavailable = new ServiceUnavailable({ retryAfterSeconds: 1 })

/** Undici refuses some requests that Node's parser accepts. */
const unsendable = new NotJson({ detail: "The request is no well-formed HTTP." })

/** A request that is being forwarded. */
interface Exchange {
  readonly method: string
  readonly path: string
  readonly headers: Array<string>
  /** Whether it is a GET or HEAD without a body. */
  readonly isRead: boolean
  /** The body. A stream is made for each attempt, and reads nothing until the request is sent. */
  readonly body: () => Buffer | Readable | null
  readonly requestId: string
  readonly response: ServerResponse
  readonly facts: RequestFacts
  /** Called when an answer begins. */
  readonly answered: () => void
}

/** How an exchange with one instance ended. */
type Ending =
  | { readonly _tag: "Written" }
  /** No byte of the request was sent, so another instance may get it. */
  | { readonly _tag: "NotSent"; readonly cause: Error }
  /** The connection broke before the head of an answer had come. */
  | { readonly _tag: "Broken"; readonly cause: Error }
  | { readonly _tag: "Failed"; readonly cause: Error }

/** Stops reading an upload. */
const discard = (body: Buffer | Readable | null): void => {
  if (body !== null && "destroy" in body) body.destroy()
}

/** An upload may stall here, because the service ends one that stalls. */
const bodyOf = (
  { readBody, streamBody }: IncomingRequest,
  limit: BodyLimit,
  organisation: OrganisationName | undefined
): Effect.Effect<Exchange["body"], RequestBody.BodyRefused> => {
  if (limit !== "streamed") return Effect.map(readBody(limit, organisation), (body) => () => body)
  const bytes = streamBody(organisation, "Infinity")
  // An error without a listener would end the process, and Undici removes its own.
  return Effect.succeed(() => NodeStream.toReadableNever(bytes).on("error", () => {}))
}

const brokenConnection: ReadonlySet<unknown> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"])

const isBroken = (cause: Error): boolean => "code" in cause && brokenConnection.has(cause.code)

const send = (name: string, pool: Undici.Pool, exchange: Exchange): Effect.Effect<Ending> =>
  Effect.callback((resume) => {
    const { answered, facts, headers, method, path, requestId, response } = exchange
    const body = exchange.body()
    facts.upstream = name
    let controller: Undici.Dispatcher.DispatchController | undefined
    let isAborted = false
    let isAnswered = false
    const end = (ending: Ending) => {
      discard(body)
      resume(Effect.succeed(ending))
    }
    const abort = () => {
      isAborted = true
      discard(body)
      controller?.abort(new Error("aborted"))
    }
    pool.dispatch(
      { path, method, headers, body },
      {
        onRequestStart: (started) => {
          controller = started
          if (isAborted) abort()
        },
        onResponseStart: (_controller, status, received) => {
          isAnswered = true
          if (status < 200) return Listener.stillActive(response)
          answered()
          RequestBody.answering(response, 0)
          // The rest of the body is not read, and must not be parsed as the next request.
          if (!response.req.complete) response.shouldKeepAlive = false
          response.writeHead(status, ProxyHeaders.responseHeaders(received, requestId))
        },
        onResponseData: (controller, chunk) => {
          facts.bytes_out += chunk.length
          if (response.write(chunk)) return
          controller.pause()
          response.once("drain", () => controller.resume())
        },
        onResponseEnd: () => {
          response.end()
          end({ _tag: "Written" })
        },
        onResponseError: (_controller, cause) => {
          if (controller === undefined) return end({ _tag: "NotSent", cause })
          end({ _tag: !isAnswered && isBroken(cause) ? "Broken" : "Failed", cause })
        }
      }
    )
    return Effect.sync(abort)
  })

const isRefusedByUndici = (cause: Error): boolean =>
  "code" in cause && cause.code === "UND_ERR_INVALID_ARG"

/** The outcome if the service has not answered, or not completely. */
const failed = (cause: Error, response: ServerResponse): Outcome => {
  if (isRefusedByUndici(cause)) return Effect.fail(unsendable)
  if (BodyStream.isBodyBroken(cause) && !response.headersSent) return Effect.fail(cause)
  if (response.headersSent) response.destroy()
  const logged = Effect.logWarning("no answer from the service behind", Cause.fail(cause))
  const outcome = response.headersSent ? Effect.succeed(written) : Effect.fail(unavailable)
  return Effect.andThen(logged, outcome)
}

const repeats = Metric.counter("data_import_upstream_repeats_total", {
  description: "Reads that were sent once more because the connection to the service broke.",
  incremental: true
})

/**
 * Tries one instance after the other, until the request has been sent to one. A read whose
 * connection broke is sent once more, to that instance last. Other requests are not, because it is
 * unknown whether they took effect.
 */
const sendToOne = Effect.fnUntraced(function* (
  instances: ReadonlyArray<Instances.Instance>,
  exchange: Exchange
) {
  const left = [...instances]
  let sent = exchange
  let cause: Error | undefined
  for (let instance = left.shift(); instance !== undefined; instance = left.shift()) {
    const isRepeat = sent !== exchange
    const pool = isRepeat ? instance.fresh : instance.pool
    const ending = yield* send(instance.name, pool, sent)
    if (ending._tag === "Written") return written
    cause = ending.cause
    if (ending._tag === "Failed" || isRefusedByUndici(ending.cause)) break
    const isSent = ending._tag === "Broken"
    if (isSent && (isRepeat || !exchange.isRead)) break
    instance.isReady = instances.length === 1
    if (!isSent) continue
    yield* Metric.update(repeats, 1)
    sent = { ...exchange, path: withoutWait(exchange.path) }
    left.push(instance)
  }
  return yield* failed(cause ?? new Error("no instance"), exchange.response)
})

/** A service that is not part of this deployment. Its paths answer 503. */
export const absent: Upstream = {
  forward: () => Effect.fail(unavailable),
  forwardWaiting: () => Effect.fail(unavailable),
  ready: Effect.void
}

/** The instances of a service, and the turns of organisations at them. */
interface Service {
  readonly inRotation: Instances.Instances["inRotation"]
  readonly inTurn: Turns.InTurn
}

interface Forwarded {
  readonly organisation: OrganisationName | undefined
  readonly limit: BodyLimit
  readonly path: string
}

const forwardTo = (
  { inRotation, inTurn }: Service,
  incoming: IncomingRequest,
  { limit, organisation, path }: Forwarded
): Outcome =>
  Effect.withFiber((fiber) => {
    const { request, requestId } = incoming
    const message = Listener.message(request)
    const hasBody = Listener.hasBody(message)
    const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    const trace = span?._tag === "Span" ? HttpTraceContext.toHeaders(span) : undefined
    const sendBody = (body: Exchange["body"]) =>
      inTurn(organisation, (answered) =>
        sendToOne(inRotation(), {
          method: request.method,
          path,
          isRead: !hasBody && (request.method === "GET" || request.method === "HEAD"),
          headers: ProxyHeaders.requestHeaders(message, incoming, trace),
          body,
          requestId,
          response: Listener.response(request),
          facts: incoming.facts,
          answered
        })
      )
    return Effect.interruptible(
      hasBody
        ? Effect.flatMap(withoutSlot(bodyOf(incoming, limit, organisation)), sendBody)
        : sendBody(() => null)
    )
  })

/**
 * Forwards a request that may wait, until there is a change, too many wait, or the gateway stops.
 */
const answerWaiting = Effect.fnUntraced(function* (
  { request, wait }: IncomingRequest,
  holder: OrganisationName | undefined,
  forwarding: (path: string) => Outcome
) {
  let isWaiting = false
  const waiting = Effect.suspend(() => {
    isWaiting = true
    return forwarding(request.url)
  })
  const answer = yield* Effect.interruptible(wait(holder, waiting))
  if (Option.isSome(answer)) return answer.value
  const response = Listener.response(request)
  if (response.headersSent) {
    response.destroy()
    return written
  }
  const atOnce = withoutWait(request.url)
  // A stream that has not begun would go on until it is cut.
  return yield* isWaiting && atOnce === request.url ? Effect.fail(unavailable) : forwarding(atOnce)
})

/**
 * How many requests of an organisation with rivals are sent to a service at once, for each of its
 * instances. With more the others wait longer; with fewer the database writes fewer rows together.
 */
const turnsAtInstance = 32

/**
 * Connects to the instances of one service at `urls` (`http`), at least one, until the scope ends.
 * Requests go to the instances in rotation. The memory of bodies counts for the organisation that
 * `organisationOf` finds, or for all requests without a valid token together. All services of the
 * gateway have the same `rivals`.
 */
export const make = Effect.fnUntraced(function* (
  urls: ReadonlyArray<URL>,
  times: Instances.Times,
  organisationOf: OrganisationOf,
  rivals: Rivals<OrganisationName>
): Effect.fn.Return<Upstream, never, Scope.Scope> {
  const { inRotation, ready, size } = yield* Instances.make(urls, times)
  const service = { inRotation, inTurn: Turns.make(size * turnsAtInstance, rivals) }
  const identify = ({ request: { headers } }: IncomingRequest) =>
    Effect.interruptible(organisationOf(headers["authorization"]))
  const forward: Upstream["forward"] = (incoming, limitOrganisation, limit) =>
    Effect.flatMap(identify(incoming), (organisation) => {
      const forwarded = { organisation, limit, path: incoming.request.url }
      const answer = forwardTo(service, incoming, forwarded)
      // An upload takes as long as its client, and is limited by the memory for bodies.
      return limit === "streamed" ? answer : limitOrganisation(organisation, answer)
    })

  const forwardWaiting: Upstream["forwardWaiting"] = (incoming, limitOrganisation) =>
    Effect.flatMap(identify(incoming), (organisation) => {
      const forwarding = (path: string) =>
        forwardTo(service, incoming, { organisation, limit: 0, path })
      return limitOrganisation(organisation, answerWaiting(incoming, organisation, forwarding))
    })

  return { forward, forwardWaiting, ready }
})
