/**
 * How people come to a session: by OpenID Connect, or on this machine by a link that works once.
 * Whoever signs in gets a new session id, whatever cookie the browser has sent.
 * Source: docs/contract/board.md#signing-in.
 */
import { Effect, Option, type Scope } from "effect"
import { HttpServerResponse } from "effect/http"
import type * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import type { Route } from "@data-import/server/routing/Route"
import * as Cookies from "./Cookies.ts"
import type { Premises } from "./Guard.ts"
import { isLoopback, isOwn, type Place, placeOf } from "./Place.ts"
import * as Pages from "./SignInPages.ts"

export const signInPath = "/board/sign-in/"

const home = "/board/"

/** After a POST too, the browser asks with GET. */
export const seeOther = (location: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({
    status: 303,
    headers: { ...Pages.pageHeaders, "cache-control": "no-store", location, "content-length": "0" }
  })

/** The way to the first page, signed in. */
export const signedIn = (id: string, place: Place, location = home) =>
  Cookies.set(seeOther(location), "board", id, place)

const followLink = Effect.fnUntraced(function* (call: Call, premises: Premises) {
  const place = placeOf(call, premises.publicUrl)
  yield* call.readBody(1_024, undefined)
  if (!isOwn(call, place)) return Pages.foreign()
  if (!isLoopback(call.clientAddress)) return Pages.linkElsewhere()
  const id = yield* premises.access.follow(call.params["secret"] ?? "")
  return Option.isNone(id) ? Pages.linkRefused() : signedIn(id.value, place)
})

type Run = (call: Call) => Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Answer.Refused,
  Scope.Scope
>

const page = (method: "GET" | "POST", path: Route["path"], run: Run): Route => ({
  method,
  path,
  access: "public",
  answersJson: false,
  run
})

/** The routes of signing in. */
export const routes = (premises: Premises): ReadonlyArray<Route> => [
  page("GET", signInPath, () => Effect.succeed(Pages.signIn(null))),
  page("GET", `${signInPath}:secret/`, (call) =>
    Effect.sync(() => (isLoopback(call.clientAddress) ? Pages.useLink() : Pages.linkElsewhere()))
  ),
  page("POST", `${signInPath}:secret/`, (call) => premises.admit(followLink(call, premises)))
]
