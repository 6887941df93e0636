/**
 * The public address of the system. It finds the service by path and forwards the request, without
 * parsing its body. Every answer is the service's own. The gateway itself answers for unknown
 * paths, its documents, its health, malformed or too large requests, too many of them, and services
 * that do not answer. It verifies tokens only to divide requests in progress and the memory for
 * bodies between organisations, and to name them in its log.
 *
 * Settings: those of the server, TOKEN_ISSUER (data-import), ACCOUNT_IMPORT_URL, QUERY_URL,
 * AUTH_URL, POST_IMPORT_URL, BATCHES_URL, EVENTS_URL, BOARD_URL (unset: their paths answer 503),
 * UPSTREAM_TIMEOUT_SECONDS (30), MAX_REQUESTS_PER_ADDRESS (half of MAX_REQUESTS_IN_PROGRESS). Each
 * URL is `http://host:port`, or a comma-separated list, one for each instance. TRUST_PROXY is the
 * number of proxies in front of the gateway. The services behind it need 1, because it sends them
 * one address.
 */
import { Config, Effect, Layer, Option } from "effect"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { Rivals } from "@data-import/domain/support/Rivals"
import * as Authorization from "@data-import/server/auth/Authorization"
import type { IncomingRequest } from "@data-import/server/http/IncomingRequest"
import type { LimitOrganisation } from "@data-import/server/limits/OrganisationConcurrency"
import type { Routed } from "@data-import/server/routing/Router"
import * as Service from "@data-import/server/lifecycle/Service"
import * as TokenVerifier from "@data-import/server/auth/TokenVerifier"
import * as Upstream from "./Upstream.ts"
import { answerSeconds, requestsPerAddress, upstreamUrls } from "./UpstreamSettings.ts"
import * as Documentation from "./Documentation.ts"
import * as RoutingTable from "./RoutingTable.ts"

const settings = Config.all({
  accountImport: upstreamUrls("ACCOUNT_IMPORT_URL").required,
  postImport: upstreamUrls("POST_IMPORT_URL").optional,
  batches: upstreamUrls("BATCHES_URL").optional,
  events: upstreamUrls("EVENTS_URL").optional,
  board: upstreamUrls("BOARD_URL").optional,
  query: upstreamUrls("QUERY_URL").required,
  auth: upstreamUrls("AUTH_URL").required,
  seconds: answerSeconds.or(30),
  maxRequestsPerAddress: requestsPerAddress.optional
})

/** Longer than a request may wait for a change: who waits sends the next one. Milliseconds. */
const rivalFor = 60_000

const serving = Effect.gen(function* () {
  const {
    accountImport,
    auth,
    batches,
    board,
    events,
    maxRequestsPerAddress,
    postImport,
    query,
    seconds
  } = yield* settings
  const verifier = yield* Layer.build(TokenVerifier.layerAuth(auth))
  const organisationOf = yield* Effect.provideContext(Authorization.organisationOf, verifier)
  const rivals = new Rivals<OrganisationName>(rivalFor)
  const connect = (urls: ReadonlyArray<URL>) =>
    Upstream.make(urls, { connect: 2_000, answer: seconds * 1_000 }, organisationOf, rivals)
  const connectIfSet = Option.match({
    onNone: () => Effect.succeed(Upstream.absent),
    onSome: connect
  })
  const upstreams: Readonly<Record<RoutingTable.ServiceName, Upstream.Upstream>> =
    yield* Effect.all({
      accountImport: connect(accountImport),
      postImport: connectIfSet(postImport),
      batches: connectIfSet(batches),
      events: connectIfSet(events),
      board: connectIfSet(board),
      query: connect(query),
      auth: connect(auth)
    })
  const otherwise = (
    incoming: IncomingRequest,
    path: string,
    limitOrganisation: LimitOrganisation
  ): Routed | undefined => {
    const entry = RoutingTable.find(path)
    if (entry === undefined) return undefined
    const { method, url } = incoming.request
    const { forward, forwardWaiting } = upstreams[RoutingTable.serviceOf(entry, method, path)]
    const answer = RoutingTable.mayWait(entry, method, url)
      ? forwardWaiting(incoming, limitOrganisation)
      : forward(incoming, limitOrganisation, RoutingTable.bodyLimit(entry, method, path))
    return { route: entry.prefix, answer }
  }
  return {
    routes: yield* Documentation.routes,
    otherwise,
    maxRequestsPerAddress,
    allowHalfOpen: true,
    dependencies: {
      "account-import": upstreams.accountImport.ready,
      ...(Option.isSome(postImport) && { "post-import": upstreams.postImport.ready }),
      ...(Option.isSome(batches) && { batches: upstreams.batches.ready }),
      ...(Option.isSome(events) && { events: upstreams.events.ready }),
      ...(Option.isSome(board) && { board: upstreams.board.ready }),
      query: upstreams.query.ready,
      auth: upstreams.auth.ready
    }
  }
})

export const layer = Service.layer("gateway", serving)
