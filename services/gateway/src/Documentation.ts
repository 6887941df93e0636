/**
 * The documentation of the interface, for machines (`/openapi.json`) and for people (`/docs`). The
 * page contains its scripts and styles, and its policy forbids to load anything else, so it works
 * without a network.
 */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiSwagger } from "effect/http-api"
import type { Route } from "@data-import/server/routing/Route"

const openapiFile = new URL("../openapi.json", import.meta.resolve("@data-import/api/Limits"))

const pagePolicy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
  "font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page that Effect makes for an API, with an embedded document. */
const emptyPage = Effect.promise(async () => {
  const { dispose, handler } = HttpRouter.toWebHandler(
    HttpApiSwagger.layer(HttpApi.make("data-import")),
    { disableLogger: true }
  )
  const answer = await handler(new Request("http://localhost/docs"))
  const page = await answer.text()
  await dispose()
  return page
})

const embedded = /(<script id="swagger-spec" type="application\/json">)[^<]*(<\/script>)/

/** @throws if the page embeds no document. */
const pageOf = (page: string, openapi: string): string => {
  if (!embedded.test(page)) throw new Error("The documentation page holds no document to replace")
  const json = openapi.replaceAll("<", "\\u003c")
  return page.replace(embedded, (_all, open: string, close: string) => open + json + close)
}

const headers = { "cache-control": "public, max-age=300", "x-content-type-options": "nosniff" }

/**
 * The text is encoded once, so that all connections send the same bytes. Otherwise a page of
 * megabytes would be encoded and held in memory for each connection.
 */
const published = (
  path: Route["path"],
  text: string,
  contentType: string,
  more?: Readonly<Record<string, string>>
): Route => {
  const answer = HttpServerResponse.uint8Array(Buffer.from(text), {
    contentType,
    headers: { ...headers, ...more }
  })
  return {
    method: "GET",
    path,
    access: "public",
    answersJson: false,
    run: () => Effect.succeed(answer)
  }
}

/** `/openapi.json` and `/docs`, both read once. */
export const routes: Effect.Effect<ReadonlyArray<Route>> = Effect.gen(function* () {
  const openapi = yield* Effect.promise(() => readFile(openapiFile, "utf8"))
  const page = pageOf(yield* emptyPage, openapi)
  return [
    published("/openapi.json", openapi, "application/json"),
    published("/docs", page, "text/html; charset=utf-8", { "content-security-policy": pagePolicy })
  ]
})
