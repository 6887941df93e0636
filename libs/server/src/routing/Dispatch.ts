/**
 * From a request to its handler, in the contract's order: path (404, or 308 to the one with its
 * slash), token and scope, method, Accept; the handler goes on with the body. Paths are compared as
 * they were sent, segment by segment, and only the values of parameters are decoded, so that `%2F`
 * never splits a segment.
 */
import { Effect, identity } from "effect"
import { noQuery, queryOf } from "@data-import/api/Parameter"
import { MethodNotAllowed, NotAcceptable } from "@data-import/api/Refusal"
import { NotFound, type ServiceUnavailable } from "@data-import/domain/requests/Failure"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import { allowsJson } from "../http/Accept.ts"
import * as Answer from "../http/Answer.ts"
import type { LimitOrganisation } from "../limits/OrganisationLimit.ts"
import type { Authorize } from "../auth/Authorization.ts"
import type { Route } from "./Route.ts"
import type { Arrival } from "../http/Arrival.ts"

/** A path of the service, with its methods. */
interface Place {
  readonly template: string
  readonly segments: ReadonlyArray<string>
  readonly access: Route["access"]
  readonly routes: ReadonlyMap<string, Route>
  readonly allow: ReadonlyArray<string>
}

/** A request whose handler is found: the template for logs and metrics, and what is left to do. */
export interface Dispatched {
  readonly route: string
  readonly answer: Answer.Answered
}

export type Dispatch = (arrival: Arrival) => Dispatched

const place = (template: string, routes: ReadonlyArray<Route>): Place => {
  const methods = routes.map((route) => route.method)
  const accesses = new Set(routes.map((route) => route.access))
  const [access] = accesses
  if (access === undefined || accesses.size > 1) throw new Error(`${template}: one access a path`)
  return {
    template,
    segments: template.split("/"),
    access,
    routes: new Map(routes.map((route) => [route.method, route])),
    allow: methods.includes("GET") ? [...methods, "HEAD"] : methods
  }
}

const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

const paramsOf = (
  template: ReadonlyArray<string>,
  sent: ReadonlyArray<string>
): Record<string, string> | undefined => {
  if (template.length !== sent.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, expected] of template.entries()) {
    const given = sent[index] as string
    if (!expected.startsWith(":")) {
      if (given !== expected) return undefined
      continue
    }
    const value = decoded(given)
    if (value === undefined || value === "") return undefined
    params[expected.slice(1)] = value
  }
  return params
}

interface Found {
  readonly place: Place
  readonly params: Readonly<Record<string, string>>
}

type Find = (path: string) => Found | undefined

const finder = (routes: ReadonlyArray<Route>): Find => {
  const grouped = Map.groupBy(routes, (route) => route.path)
  const places = [...grouped].map(([template, group]) => place(template, group))
  const isFixed = ({ template }: Place) => !template.includes("/:")
  const noParams = {}
  const fixed = new Map(
    places.filter(isFixed).map((place) => [place.template, { place, params: noParams }])
  )
  const open = places.filter((place) => !isFixed(place))
  return (path) => {
    const exact = fixed.get(path)
    if (exact !== undefined || open.length === 0) return exact
    const sent = path.split("/")
    for (const place of open) {
      const params = paramsOf(place.segments, sent)
      if (params !== undefined) return { place, params }
    }
    return undefined
  }
}

const answerAt = (
  { params, place }: Found,
  arrival: Arrival,
  search: string,
  caller: Caller | undefined
): Answer.Answered => {
  const { request } = arrival
  const route = place.routes.get(request.method === "HEAD" ? "GET" : request.method)
  if (route === undefined) return Effect.fail(new MethodNotAllowed({ allow: place.allow }))
  if (route.answersJson && !allowsJson(request.headers["accept"])) {
    return Effect.fail(new NotAcceptable())
  }
  const query = search === "" ? noQuery : queryOf(search)
  const answer = route.run({ ...arrival, params, query }, caller)
  return route.method === "GET" ? Effect.interruptible(answer) : answer
}

/** Lets a request in, or refuses it at once because what it needs is too busy or away. */
export type Admit = <A, E, R>(
  request: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | ServiceUnavailable, R>

/** What is published to everybody is there whatever else is not. */
const isPublished = (access: Route["access"], method: string): boolean =>
  access === "public" && method !== "POST"

/**
 * Makes the dispatcher of these routes. `otherwise` is asked for a path that none of them has;
 * `admit` lets requests in, before anything of theirs is looked at but the path.
 * @throws when a path is protected and nobody authorizes, or when the methods of a path differ in
 * access.
 */
export const make = (
  routes: ReadonlyArray<Route>,
  authorize: Authorize | undefined,
  otherwise: (arrival: Arrival, path: string) => Dispatched | undefined,
  limitOrganisation: LimitOrganisation,
  admit: Admit = identity
): Dispatch => {
  const find = finder(routes)
  const guarded = routes.find((route) => route.access !== "public")
  if (guarded !== undefined && authorize === undefined) {
    throw new Error(`${guarded.path} needs a token, and nobody opens it`)
  }

  const visit = (found: Found, arrival: Arrival, search: string): Answer.Answered => {
    const { access } = found.place
    if (access === "public" || authorize === undefined) {
      return Effect.suspend(() => answerAt(found, arrival, search, undefined))
    }
    const header = arrival.request.headers["authorization"]
    return Effect.flatMap(
      Effect.interruptible(authorize(header, access, arrival.requestId)),
      (caller) => limitOrganisation(caller.organisation, answerAt(found, arrival, search, caller))
    )
  }

  return (arrival) => {
    const { method, url } = arrival.request
    const end = url.indexOf("?")
    const path = end === -1 ? url : url.slice(0, end)
    const search = end === -1 ? "" : url.slice(end)
    const found = find(path)
    if (found !== undefined) {
      const { access, template } = found.place
      const visited = visit(found, arrival, search)
      return { route: template, answer: isPublished(access, method) ? visited : admit(visited) }
    }
    const slashed = find(`${path}/`)
    if (slashed !== undefined) {
      const answer = Effect.succeed(Answer.redirect(`${path}/${search}`))
      return { route: slashed.place.template, answer }
    }
    return otherwise(arrival, path) ?? { route: "unknown", answer: Effect.fail(new NotFound()) }
  }
}
