/**
 * The built web part, read once from `web/dist`. Files with a hash in their names are cached for
 * ever. Any other path below `/board/` is a page, which the web part renders; without a session it
 * redirects to signing in.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { extname } from "node:path"
import { Effect, Option } from "effect"
import { noQuery } from "@data-import/api/Parameter"
import { MethodNotAllowed } from "@data-import/api/Refusal"
import type { IncomingRequest } from "@data-import/server/http/IncomingRequest"
import { forEver, published } from "@data-import/server/routing/PublishedFile"
import type { Route } from "@data-import/server/routing/Route"
import type { Routed } from "@data-import/server/routing/Router"
import { type GuardDependencies, sessionOf } from "./Guard.ts"
import { publicOriginOf } from "./PublicOrigin.ts"
import { seeOther, signInPath } from "./SignIn.ts"
import { pageHeaders, stylesheet } from "./SignInPages.ts"

const root = "/board/"

const folder = new URL("../web/dist/", import.meta.url)

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2"
}

const index = "index.html"

/** Shown if the web part is not built, as may be the case in development. */
const unbuilt = "<!doctype html><title>Migration board</title><p>The web part is not built.</p>"

/** The paths of the built files in the folder; none if nothing was built. */
const built = (): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .map((name) => name.replaceAll("\\", "/"))
        .filter((name) => statSync(new URL(name, folder)).isFile())
    : []

const isHashed = (name: string): boolean => name.startsWith("assets/")

const asset = (name: string) =>
  published({
    path: `${root}${name}`,
    text: readFileSync(new URL(name, folder)),
    contentType: contentTypes[extname(name)] ?? "application/octet-stream",
    headers: {
      "cross-origin-resource-policy": "same-origin",
      ...(isHashed(name) && forEver)
    }
  })

/** The page names the files of one build, so caches must revalidate it each time. */
const pageOf = (names: ReadonlyArray<string>) =>
  published({
    path: root,
    text: names.includes(index) ? readFileSync(new URL(index, folder)) : unbuilt,
    contentType: "text/html; charset=utf-8",
    headers: { ...pageHeaders, "cache-control": "private, no-cache" }
  })

const isPage = (path: string): boolean =>
  path.startsWith(root) && !/^\/board\/(?:api|assets|sign-in)\//.test(path)

const signInFrom = (url: string): string =>
  url === root ? signInPath : `${signInPath}?${new URLSearchParams({ to: url }).toString()}`

export interface Web {
  readonly routes: ReadonlyArray<Route>
  /** Answers paths that match no route: with the page. */
  readonly otherwise: (incoming: IncomingRequest, path: string) => Routed | undefined
}

/** Reads and compresses everything once. */
export const make = Effect.fnUntraced(function* (premises: GuardDependencies) {
  const names = built()
  const page = yield* Effect.promise(() => pageOf(names))
  const files = names.filter((name) => name !== index)
  const routes = yield* Effect.promise(() =>
    Promise.all([published(stylesheet), ...files.map(asset)])
  )

  const show: Route["run"] = (call, caller) => {
    const place = publicOriginOf(call, premises.publicUrl)
    return Effect.flatMap(premises.admit(sessionOf(call, place, premises)), (session) =>
      Option.isNone(session)
        ? Effect.succeed(seeOther(signInFrom(call.request.url)))
        : page.run(call, caller)
    )
  }

  const otherwise: Web["otherwise"] = (incoming, path) => {
    if (!isPage(path)) return undefined
    const isRead = ["GET", "HEAD"].includes(incoming.request.method)
    const answer = isRead
      ? show({ ...incoming, params: {}, query: noQuery }, undefined)
      : Effect.fail(new MethodNotAllowed({ allow: ["GET", "HEAD"] }))
    return { route: `${root}*`, answer: Effect.interruptible(answer) }
  }
  const web: Web = { routes: [...routes, { ...page, run: show }], otherwise }
  return web
})
