/**
 * How people get a session: by OpenID Connect, on this machine by a link that works once, or as
 * people of a supplier by an invitation. Every
 * sign-in makes a new session id, whatever cookie the browser has sent, and ends the session that
 * the browser had.
 * Source: docs/contract/board.md#signing-in.
 */
import { Duration, Effect, Option, type Scope } from "effect"
import { HttpServerResponse } from "effect/http"
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import type * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import type { Route } from "@data-import/server/routing/Route"
import * as Cookies from "./Cookies.ts"
import { type GuardDependencies, sessionOf } from "./Guard.ts"
import { callbackPath, type OpenIdConnect } from "./OpenIdConnect.ts"
import { isOnThisMachine, isSameOrigin, type PublicOrigin, publicOriginOf } from "./PublicOrigin.ts"
import * as Pages from "./SignInPages.ts"

export const signInPath = "/board/sign-in/"

/** Its link has a secret below it. */
export const invitationPath = `${signInPath}invitation/` as const

const startPath = `${signInPath}start/` as const

const home = "/board/"

/** The time limit for signing in at the identity provider. */
const patience = Duration.minutes(10)

type Response = HttpServerResponse.HttpServerResponse

type Run = (call: Call) => Effect.Effect<Response, Answer.Refused, Scope.Scope>

/** The browser follows with GET, also after a POST. */
export const seeOther = (location: string): Response =>
  HttpServerResponse.empty({
    status: 303,
    headers: { ...Pages.pageHeaders, "cache-control": "no-store", location, "content-length": "0" }
  })

/** Ends the browser's old session, sets the cookie of the new one and redirects to a page. */
const enter = Effect.fnUntraced(function* (
  call: Call,
  place: PublicOrigin,
  { id, location }: { readonly id: string; readonly location: string },
  premises: GuardDependencies
) {
  const former = yield* sessionOf(call, place, premises)
  if (Option.isSome(former)) yield* premises.access.end(former.value.hash)
  return Cookies.set(seeOther(location), "board", id, place)
})

/** The public address is https, and nothing leaves this machine on the way to it. */
const isReachable = (call: Call, { publicUrl }: GuardDependencies): boolean =>
  publicUrl !== null || isOnThisMachine(call)

const followLink = Effect.fnUntraced(function* (call: Call, premises: GuardDependencies) {
  const place = publicOriginOf(call, premises.publicUrl)
  yield* call.readBody(1_024, undefined)
  if (!isSameOrigin(call, place)) return Pages.foreign()
  if (!isOnThisMachine(call)) return Pages.linkElsewhere()
  const id = yield* premises.access.follow(call.params["secret"] ?? "", call.requestId)
  if (Option.isNone(id)) return Pages.linkRefused()
  return yield* enter(call, place, { id: id.value, location: home }, premises)
})

const acceptInvitation = Effect.fnUntraced(function* (call: Call, premises: GuardDependencies) {
  const place = publicOriginOf(call, premises.publicUrl)
  yield* call.readBody(1_024, undefined)
  if (!isSameOrigin(call, place)) return Pages.foreign()
  if (!isReachable(call, premises)) return Pages.invitationWithoutHttps()
  const id = yield* premises.access.accept(call.params["secret"] ?? "", call.requestId)
  if (Option.isNone(id)) return Pages.invitationRefused()
  return yield* enter(call, place, { id: id.value, location: home }, premises)
})

const page = (method: "GET" | "POST", path: Route["path"], run: Run): Route => ({
  method,
  path,
  access: "public",
  answersJson: false,
  run
})

const links = (premises: GuardDependencies): ReadonlyArray<Route> => [
  page("GET", `${signInPath}:secret/`, (call) =>
    Effect.sync(() => (isOnThisMachine(call) ? Pages.useLink() : Pages.linkElsewhere()))
  ),
  page("POST", `${signInPath}:secret/`, (call) => premises.admit(followLink(call, premises))),
  page("GET", `${invitationPath}:secret/`, (call) =>
    Effect.sync(() =>
      isReachable(call, premises) ? Pages.useInvitation() : Pages.invitationWithoutHttps()
    )
  ),
  page("POST", `${invitationPath}:secret/`, (call) =>
    premises.admit(acceptInvitation(call, premises))
  )
]

const searchOf = (url: string): string => {
  const begin = url.indexOf("?")
  return begin === -1 ? "" : url.slice(begin)
}

/** Browsers keep cookies of up to 4,096 bytes, and this one holds the address in base64. */
const longestAddress = 1_024

/** The address if it is a page of the board, otherwise the home page. */
const pageAt = (address: string): string =>
  address.length <= longestAddress && /^\/board\/[\w.~%/?&=+,:;@$!'()*-]*$/.test(address)
    ? address
    : home

/** The page that was requested before signing in. */
const wantedBy = (call: Call): string =>
  pageAt(new URLSearchParams(searchOf(call.request.url)).get("to") ?? "")

/** The sign-in cookie: the values that the provider's answer must match, and the page. */
const cookieOf = (pending: string, location: string): string =>
  `${pending}.${Buffer.from(location).toString("base64url")}`

const partsOf = (cookie: string) => {
  const end = cookie.lastIndexOf(".")
  // The cookie is not trusted: without https another site on this machine can set it.
  const location = pageAt(Buffer.from(cookie.slice(end + 1), "base64url").toString())
  return { pending: cookie.slice(0, Math.max(end, 0)), location }
}

const wantedQuery = (call: Call): string => {
  const to = wantedBy(call)
  return to === home ? "" : `?${new URLSearchParams({ to }).toString()}`
}

const start =
  (provider: OpenIdConnect, premises: GuardDependencies): Run =>
  (call) =>
    provider.begin.pipe(
      Effect.map(({ location, pending }) => {
        const place = publicOriginOf(call, premises.publicUrl)
        const cookie = cookieOf(pending, wantedBy(call))
        return Cookies.set(seeOther(location), "board-sign-in", cookie, place, patience)
      }),
      Effect.catchTag("ProviderAway", () => Effect.succeed(Pages.signInAway()))
    )

const finish = (provider: OpenIdConnect, premises: GuardDependencies): Run =>
  Effect.fnUntraced(function* (call) {
    const place = publicOriginOf(call, premises.publicUrl)
    const { headers, url } = call.request
    const cookie = Cookies.valueOf(headers["cookie"], "board-sign-in", place) ?? ""
    const { location, pending } = partsOf(cookie)
    const admitted = (user: BoardUser) =>
      premises.admit(
        Effect.flatMap(premises.access.begin(user, call.requestId), (id) =>
          enter(call, place, { id, location }, premises)
        )
      )
    const answer = yield* Effect.matchEffect(provider.finish(searchOf(url), pending), {
      onSuccess: admitted,
      onFailure: ({ _tag }) => Effect.sync(() => failurePages[_tag]())
    })
    return Cookies.clear(answer, "board-sign-in", place)
  })

const failurePages = {
  ProviderAway: Pages.signInAway,
  SignInRefused: Pages.signInFailed,
  WithoutRole: Pages.withoutRole
}

/** The routes of signing in; `provider` is null if only sign-in links work. */
export const routes = (
  premises: GuardDependencies,
  provider: OpenIdConnect | null
): ReadonlyArray<Route> => {
  const beginning = provider === null ? null : startPath
  return [
    page("GET", signInPath, (call) =>
      Effect.sync(() => Pages.signIn(beginning && `${beginning}${wantedQuery(call)}`))
    ),
    ...links(premises),
    ...(provider === null
      ? []
      : [
          page("GET", startPath, start(provider, premises)),
          page("GET", callbackPath, finish(provider, premises))
        ])
  ]
}
