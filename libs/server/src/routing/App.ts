/**
 * The function that handles every request of a service: id, overload check, route, answer, and the
 * log entry and metrics once the answer was sent. It never fails: every failure has an answer in
 * the envelope.
 */
import { Cause, Clock, Context, Effect, type Option, References, Result, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Defect, Throttled } from "@data-import/api/Refusal"
import { ServiceUnavailable } from "@data-import/domain/requests/Failure"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import type { RequestId as Id } from "@data-import/domain/suppliers/Organisation"
import * as Answer from "../http/Answer.ts"
import * as BodyStream from "../http/BodyStream.ts"
import type { Authorize } from "../auth/Authorization.ts"
import { clientAddressOf } from "../http/ClientAddress.ts"
import type { Dependencies } from "../observability/Dependencies.ts"
import type { IncomingRequest } from "../http/IncomingRequest.ts"
import * as Router from "./Router.ts"
import * as LastingAnswer from "../http/LastingAnswer.ts"
import * as Listener from "../http/Listener.ts"
import type { Log } from "../observability/Log.ts"
import * as OrganisationConcurrency from "../limits/OrganisationConcurrency.ts"
import type { OpenRequests } from "../limits/OpenRequests.ts"
import type { WaitingRequests } from "../limits/WaitingRequests.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as RequestBody from "../http/RequestBody.ts"
import * as RequestId from "../http/RequestId.ts"
import type { Answered } from "../http/Answer.ts"
import type { Route } from "./Route.ts"
import { inSpan, type Metrics } from "../observability/Telemetry.ts"

/** The parts of a service. */
export interface Serving {
  readonly routes: ReadonlyArray<Route>
  /** What it depends on. */
  readonly dependencies?: Dependencies
  /**
   * Succeeds once the service can answer; it always can unless given. The service is not ready
   * before. So an instance that cannot reach its dependencies never replaces one that can.
   */
  readonly warm?: Effect.Effect<unknown, unknown>
  /**
   * Admits or sheds each request, and later each one of a known organisation, that is not for a
   * published document.
   */
  readonly admit?: Router.Admit
  /** Runs for as long as the service, with its log and metrics. */
  readonly background?: Effect.Effect<unknown>
  /** Needed as soon as one route is protected. */
  readonly authorize?: Authorize
  /** Handles paths that no route has. */
  readonly otherwise?: Router.Options["otherwise"]
  /**
   * The most requests in progress of one client; half of all if it is None. No limit unless given.
   */
  readonly maxRequestsPerAddress?: Option.Option<number>
  /**
   * Whether a client that closes its sending side still gets its answer. False unless given: the
   * gateway does so only when it gives up or dies, and then the request is to be interrupted.
   */
  readonly allowHalfOpen?: boolean
}

export interface Parts {
  readonly serving: Serving
  readonly progress: OpenRequests
  readonly waiting: WaitingRequests
  readonly log: Log
  readonly metrics: Metrics
  /** How many proxies in front of this service are trusted to write X-Forwarded-For. */
  readonly trustedProxies: number
  /** The most requests in progress of one organisation. */
  readonly maxRequestsPerOrganisation: number
  /** The version of the release, which the health endpoints report. */
  readonly version: string
  readonly receiving: RequestBody.Receiving
  /** Whether the service has been able to answer since its start. */
  readonly isWarm: () => boolean
}

const unavailable = () => new ServiceUnavailable({ retryAfterSeconds: 1 })

const tooMany = new Throttled({ retryAfterSeconds: 1 })

const publicRoute = (path: Route["path"], answer: Answered): Route => ({
  method: "GET",
  path,
  access: "public",
  answersJson: true,
  run: () => answer
})

/** Recorded if the client closed the connection before there was an answer. Never sent. */
const clientGone = 499

/** Answered even if the service is overloaded or stopping. */
const alwaysAnswered: ReadonlySet<string> = new Set(["/health/live", "/health/ready"])

/** A process is ready as soon as it has been able to answer, and until it begins to stop. */
const ownRoutes = ({ isWarm, progress, version }: Parts): ReadonlyArray<Route> => {
  const alive = Effect.sync(() => Answer.json(200, { status: "ok", version }))
  const ready = Effect.suspend(() =>
    isWarm() && !progress.isStopping ? alive : Effect.fail(unavailable())
  )
  return [publicRoute("/health/live", alive), publicRoute("/health/ready", ready)]
}

const refusalOf = (
  cause: Cause.Cause<Answer.Refused>,
  requestId: Id
): Effect.Effect<ReturnType<typeof Answer.codedRefusal>> => {
  const failed = Cause.findError(cause)
  if (Result.isSuccess(failed)) {
    const away = failed.success._tag === "StorageUnavailable"
    return Effect.as(
      away ? Effect.logWarning("storage unavailable", cause) : Effect.void,
      Answer.codedRefusal(failed.success)
    )
  }
  if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(unavailable())
  return Effect.as(Effect.logError("defect", cause), new Defect({ requestId }))
}

/** The answer to a refusal, whose code is noted. */
const refused = (
  cause: Cause.Cause<Answer.Refused>,
  { facts, requestId }: IncomingRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(refusalOf(cause, requestId), (refusal) => {
    facts.code = refusal.code
    return Answer.refusal(refusal)
  })

const incomingOf = (
  request: HttpServerRequest.HttpServerRequest,
  { receiving, trustedProxies, waiting }: Parts
): IncomingRequest => {
  const facts = RequestFacts.make()
  const clientAddress = clientAddressOf(
    Listener.message(request).socket.remoteAddress,
    request.headers["x-forwarded-for"],
    trustedProxies
  )
  return {
    request,
    requestId: RequestId.of(request.headers[RequestId.header]),
    clientAddress,
    facts,
    readBody: RequestBody.reader(request, receiving, facts),
    streamBody: BodyStream.reader(request, receiving, facts),
    wait: waiting.of(Listener.response(request), clientAddress)
  }
}

/** The response with the id of its request, and with what is left of a rate limit. */
const withRequestHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  { facts: { rate }, requestId }: IncomingRequest
) => {
  const identified = HttpServerResponse.setHeader(response, RequestId.header, requestId)
  return rate === undefined
    ? identified
    : HttpServerResponse.setHeaders(identified, RateLimit.headersOf(rate))
}

/** The response as it is sent. Its size is counted. */
const finished = (answered: HttpServerResponse.HttpServerResponse, incoming: IncomingRequest) => {
  const { facts, request } = incoming
  const identified = withRequestHeaders(answered, incoming)
  const response = LastingAnswer.lasting(identified, facts)
  const bytes = response.body._tag === "Uint8Array" ? response.body.contentLength : 0
  facts.bytes_out += bytes
  RequestBody.answering(Listener.response(request), bytes)
  return response
}

/** Makes the function. It is uninterruptible except where marked. */
export const make = Effect.fnUntraced(function* (parts: Parts) {
  const { log, metrics, progress, serving } = parts
  const routes = [...serving.routes, ...ownRoutes(parts)]
  const limitOrganisation = OrganisationConcurrency.make(parts.maxRequestsPerOrganisation)
  const router = Router.make({ ...serving, routes, limitOrganisation })
  const clock = yield* Clock.Clock
  const tracing = yield* References.TracerEnabled

  const watch = ({ clientAddress, facts, request, requestId }: IncomingRequest, route: string) => {
    const began = clock.monotonicTimeNanosUnsafe()
    const response = Listener.response(request)
    progress.enter(response, clientAddress)
    Listener.onEnd(Listener.message(request), response, () => {
      const access = {
        request_id: requestId,
        method: request.method,
        route,
        status: response.headersSent ? response.statusCode : clientGone,
        duration_ms: Number(clock.monotonicTimeNanosUnsafe() - began) / 1e6,
        aborted: !response.writableFinished
      }
      metrics.record(access, facts)
      const isProbe = access.status < 400 && alwaysAnswered.has(route)
      if (!isProbe) log.access(clock.currentTimeMillisUnsafe(), access, facts)
      progress.leave(response)
    })
  }

  const refusalAtOnce = (incoming: IncomingRequest, route: string) => {
    const message = Listener.message(incoming.request)
    const refused = Listener.refusalOfHead(message)
    // After an Upgrade that is ignored, Node reads nothing more from the connection.
    if (refused !== undefined || message.headers.upgrade !== undefined) {
      Listener.endAfter(message, Listener.response(incoming.request))
    }
    if (refused !== undefined || alwaysAnswered.has(route)) return refused
    if (progress.isFull) return unavailable()
    if (!progress.isFullFor(incoming.clientAddress)) return undefined
    incoming.facts.limit = "address"
    return tooMany
  }

  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const incoming = incomingOf(request, parts)
    const { facts, requestId } = incoming
    const { answer, route } = router(incoming)
    watch(incoming, route)
    const atOnce = refusalAtOnce(incoming, route)
    const answered = (atOnce === undefined ? answer : Effect.fail(atOnce)).pipe(
      Effect.catchCause((cause) => refused(cause, incoming)),
      Effect.map((response) => finished(response, incoming)),
      // Effect copies a context of many services when it is merged, or after eight additions.
      Effect.updateContext((context: Context.Context<Scope.Scope>) =>
        RequestFacts.addTo(facts)(
          Context.add(context, References.CurrentLogAnnotations, { request_id: requestId, route })
        )
      )
    )
    return tracing ? inSpan(answered, incoming, route) : answered
  })
})
