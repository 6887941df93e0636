/**
 * Who may call what: every route of the board's API goes through here, so no handler checks
 * anything itself. Everything needs a session. Every change needs its CSRF token and must come from
 * a page of the board. Every change but signing out and of one's own alerts needs the role of a
 * manager. The role `supplier` may call only what is named for it.
 * Source: docs/contract/board.md#sessions.
 */
import { hash, timingSafeEqual } from "node:crypto"
import { Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ForgeryRefused, RoleRefused, SignInRequired } from "@data-import/api/Refusal"
import { forSuppliers } from "@data-import/api/board/ForSuppliers"
import { isOfSupplier } from "@data-import/domain/access/BoardUser"
import type { BoardAccess, OpenSession } from "@data-import/domain/access/BoardAccess"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import type { BoardCaller } from "@data-import/domain/board/BoardCaller"
import type { Call, IncomingRequest } from "@data-import/server/http/IncomingRequest"
import * as Route from "@data-import/server/routing/Route"
import type { Admit } from "@data-import/server/routing/Router"
import * as Cookies from "./Cookies.ts"
import { isSameOrigin, type PublicOrigin, publicOriginOf } from "./PublicOrigin.ts"

/** What the checks need. */
export interface GuardDependencies {
  readonly access: BoardAccess["Service"]
  readonly admit: Admit
  /** Null if the board is reached on this machine only. */
  readonly publicUrl: URL | null
}

/** What a handler of the board gets in addition to the call. */
export interface Signed {
  readonly session: OpenSession
  readonly place: PublicOrigin
}

/** Who may call an endpoint. */
export interface Needs {
  /** Who may, if it is no GET. */
  readonly changes: "manager" | "anyone"
  /** Whether the role `supplier` may. */
  readonly forSuppliers: boolean
}

/** Background requests of a page have this header, and do not renew the session. */
const isOfPage = ({ headers }: IncomingRequest["request"]): boolean =>
  headers["x-background"] === "1"

/** The session of a request, if it has one. By default only requests of the user renew it. */
export const sessionOf = (
  { request }: IncomingRequest,
  place: PublicOrigin,
  { access }: GuardDependencies,
  renews = !isOfPage(request)
): Effect.Effect<Option.Option<OpenSession>, StorageUnavailable> => {
  const id = Cookies.valueOf(request.headers["cookie"], "board", place)
  return id === undefined || id === "" ? Effect.succeedNone : access.open(id, renews)
}

/** Compares in constant time. */
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"))

const safe: ReadonlySet<string> = new Set(["GET", "HEAD"])

/** The session of a request that passes all checks; refuses any other. */
export const checked = Effect.fnUntraced(function* (
  call: Call,
  needs: Needs,
  premises: GuardDependencies,
  renews?: boolean
) {
  const place = publicOriginOf(call, premises.publicUrl)
  const { headers, method } = call.request
  const isChange = !safe.has(method)
  if (isChange && !isSameOrigin(call, place)) return yield* new ForgeryRefused()
  const found = yield* sessionOf(call, place, premises, renews)
  if (Option.isNone(found)) return yield* new SignInRequired()
  const session = found.value
  const { organisations, subject } = session.user
  const [organisation, ...others] = organisations ?? []
  const isOfOne = organisation !== undefined && others.length === 0
  yield* RequestFacts.note({
    stillAllowed: premises.access.goesOn(session.hash),
    ...(isOfOne ? { organisation } : { holder: `user ${subject}` })
  })
  if (isChange && !isSame(headers["x-csrf-token"] ?? "", session.csrfToken)) {
    return yield* new ForgeryRefused()
  }
  const isTooLow = isChange && needs.changes === "manager" && session.user.role !== "manager"
  const isClosed = isOfSupplier(session.user) && !needs.forSuppliers
  if (isTooLow || isClosed) return yield* new RoleRefused()
  return { session, place }
})

/** Added to the headers of every answer. */
const isolated = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

/** The route, for users who are signed in and have the role that it needs. */
const guarded = (route: Route.Route, premises: GuardDependencies, needs: Needs): Route.Route => ({
  ...route,
  run: (call) =>
    premises.admit(
      checked(call, needs, premises).pipe(
        // The load of a user is known once the user is.
        Effect.flatMap((signed) => premises.admit(route.run({ ...call, ...signed }, undefined))),
        Effect.map((response) => HttpServerResponse.setHeaders(response, isolated))
      )
    )
})

type Handled<H> = H extends (call: infer C) => infer A ? (call: C & Signed) => A : H

/** A handler for every endpoint of a group, which gets the session too. */
export type Handlers<Endpoints extends HttpApiEndpoint.Constraint> = {
  readonly [Id in keyof Route.Handlers<Endpoints>]: Handled<Route.Handlers<Endpoints>[Id]>
}

/** The routes of a group of the board's API. */
export const handle = <Group extends HttpApiGroup.Constraint>(
  group: Group,
  handlers: Handlers<HttpApiGroup.Endpoints<Group>>,
  premises: GuardDependencies,
  changes: Needs["changes"] = "manager"
): ReadonlyArray<Route.Route> => {
  const routes = Route.handle(group, handlers as never)
  return Object.values<HttpApiEndpoint.Top>(group.endpoints as never).flatMap(
    ({ identifier }, index) => {
      const route = routes[index]
      const needs = { changes, forSuppliers: forSuppliers.has(identifier) }
      return route === undefined ? [] : [guarded(route, premises, needs)]
    }
  )
}

/** The user of a request, for programs that record who asked. */
export const callerOf = ({
  requestId,
  session
}: Pick<Call, "requestId"> & Pick<Signed, "session">): BoardCaller => ({
  user: session.user,
  requestId
})
