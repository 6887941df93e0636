/**
 * From a request to its handler, in the contract's order: path (404, or 308 to the one with its
 * slash), token and scope, method, Accept; the handler goes on with the body.
 */
import { Effect, identity } from "effect"
import { noQuery, queryOf } from "@data-import/api/Parameter"
import { MethodNotAllowed, NotAcceptable } from "@data-import/api/Refusal"
import { NotFound, type ServiceUnavailable } from "@data-import/domain/requests/Failure"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { allowsJson, allowsNdjson, prefers } from "../http/Accept.ts"
import * as Answer from "../http/Answer.ts"
import type { LimitOrganisation } from "../limits/OrganisationConcurrency.ts"
import type { Authorize } from "../auth/Authorization.ts"
import * as PathRouter from "./PathRouter.ts"
import type { Route } from "./Route.ts"
import type { IncomingRequest } from "../http/IncomingRequest.ts"

/** A path of the service with its methods. */
interface Resource {
  readonly template: string
  /** The access that a method needs which the path does not have. */
  readonly access: Route["access"]
  readonly routes: ReadonlyMap<string, Route>
  readonly allow: ReadonlyArray<string>
}

/** A request whose handler is found: the template for logs and metrics, and the effect to run. */
export interface Routed {
  readonly route: string
  readonly answer: Answer.Answered
}

export type Router = (incoming: IncomingRequest) => Routed

const resource = (template: string, routes: ReadonlyArray<Route>): Resource => {
  const methods = routes.map((route) => route.method)
  const [access, ...others] = routes.map((route) => route.access)
  const isPublic = access === "public"
  if (access === undefined || others.some((other) => (other === "public") !== isPublic)) {
    throw new Error(`${template}: either all methods are public or none`)
  }
  return {
    template,
    access,
    routes: new Map(routes.map((route) => [route.method, route])),
    allow: [
      ...methods,
      ...(methods.includes("GET") ? ["HEAD"] : []),
      ...routes.flatMap(({ methodsElsewhere = [] }) => methodsElsewhere)
    ]
  }
}

const routerOf = (routes: ReadonlyArray<Route>): PathRouter.PathRouter<Resource> => {
  const grouped = Map.groupBy(routes, (route) => route.path)
  return PathRouter.make([...grouped].map(([path, group]) => [path, resource(path, group)]))
}

const routeFor = ({ routes }: Resource, method: string): Route | undefined =>
  routes.get(method === "HEAD" ? "GET" : method)

type Found = PathRouter.Match<Resource>

const isAcceptable = ({ alsoAnswers = [], answersNdjson }: Route, accept: string | undefined) =>
  (answersNdjson === true ? allowsNdjson : allowsJson)(accept) ||
  alsoAnswers.some((type) => prefers(type, accept))

const answerAt = (
  { params, value: resource }: Found,
  incoming: IncomingRequest,
  search: string,
  caller: Caller | undefined
): Answer.Answered => {
  const { request } = incoming
  const route = routeFor(resource, request.method)
  if (route === undefined) return Effect.fail(new MethodNotAllowed({ allow: resource.allow }))
  if (route.answersJson && !isAcceptable(route, request.headers["accept"])) {
    return Effect.fail(new NotAcceptable())
  }
  const query = search === "" ? noQuery : queryOf(search)
  const answer = route.run({ ...incoming, params, query }, caller)
  return route.method === "GET" ? Effect.interruptible(answer) : answer
}

/** Runs a request, or refuses it at once because a dependency is overloaded or unavailable. */
export type Admit = <A, E, R>(
  request: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | ServiceUnavailable, R>

/** Published documents are served even if dependencies are unavailable. */
const isPublished = (access: Route["access"], method: string): boolean =>
  access === "public" && !["POST", "PUT", "PATCH"].includes(method)

export interface Options {
  readonly routes: ReadonlyArray<Route>
  /** Needed as soon as one route is protected. */
  readonly authorize?: Authorize | undefined
  /** Handles paths that no route has. */
  readonly otherwise?:
    | ((
        incoming: IncomingRequest,
        path: string,
        limitOrganisation: LimitOrganisation
      ) => Routed | undefined)
    | undefined
  readonly limitOrganisation: LimitOrganisation
  /**
   * Called after the path is found, before the token is verified, and again when the organisation
   * of the caller is known.
   */
  readonly admit?: Admit | undefined
}

/**
 * Makes the dispatcher of these routes.
 * @throws when a path is protected without `authorize`, or when only some methods of a path are
 * public.
 */
export const make = (options: Options): Router => {
  const { admit = identity, authorize, limitOrganisation, otherwise, routes } = options
  const find = routerOf(routes)
  const guarded = routes.find((route) => route.access !== "public")
  if (guarded !== undefined && authorize === undefined) {
    throw new Error(`${guarded.path} needs a token, and nothing authorizes it`)
  }

  const visit = (found: Found, incoming: IncomingRequest, search: string): Answer.Answered => {
    const access = routeFor(found.value, incoming.request.method)?.access ?? found.value.access
    if (access === "public" || authorize === undefined) {
      return Effect.suspend(() => answerAt(found, incoming, search, undefined))
    }
    const header = incoming.request.headers["authorization"]
    return Effect.flatMap(
      Effect.interruptible(authorize(header, access, incoming.requestId)),
      // The load of an organisation is known once the organisation is.
      (caller) =>
        limitOrganisation(caller.organisation, admit(answerAt(found, incoming, search, caller)))
    )
  }

  return (incoming) => {
    const { method, url } = incoming.request
    const end = url.indexOf("?")
    const path = end === -1 ? url : url.slice(0, end)
    const search = end === -1 ? "" : url.slice(end)
    const found = find(path)
    if (found !== undefined) {
      const { access, template } = found.value
      const visited = visit(found, incoming, search)
      return {
        route: template,
        answer: isPublished(access, method) ? visited : admit(visited)
      }
    }
    const slashed = find(`${path}/`)
    if (slashed !== undefined) {
      const answer = Effect.succeed(Answer.redirect(`${path}/${search}`))
      return { route: slashed.value.template, answer }
    }
    return (
      otherwise?.(incoming, path, limitOrganisation) ?? {
        route: "unknown",
        answer: Effect.fail(new NotFound())
      }
    )
  }
}
