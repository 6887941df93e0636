/**
 * The documentation of the interface, for machines (`/openapi.json`) and for people (`/docs`): a
 * guide, the contract and a reference. Its content security policies forbid loading anything from
 * elsewhere, so it works without a network.
 */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import type { Route } from "@data-import/server/routing/Route"
import { guideFiles } from "./documentation/Guide.ts"
import { bar } from "./documentation/Layout.ts"
import { type File, forEver, hashOf, published } from "@data-import/server/routing/PublishedFile"
import { referenceFiles } from "./documentation/Reference.ts"

const openapiFile = new URL("../openapi.json", import.meta.resolve("@data-import/api/Limits"))
const stylesheetFile = new URL("../assets/guide.css", import.meta.url)

const stylesheetOf = (text: string): File => ({
  path: `/docs/assets/guide.${hashOf(text)}.css`,
  text,
  contentType: "text/css; charset=utf-8",
  headers: forEver
})

const made = async (): Promise<ReadonlyArray<Route>> => {
  const openapi = await readFile(openapiFile, "utf8")
  const stylesheet = stylesheetOf(await readFile(stylesheetFile, "utf8"))
  const frame = { stylesheet: stylesheet.path, bar: bar("/docs/reference") }
  const files = [
    { path: "/openapi.json", text: openapi, contentType: "application/json" } as const,
    stylesheet,
    ...(await guideFiles(stylesheet.path)),
    ...(await referenceFiles(frame))
  ]
  return Promise.all(files.map(published))
}

/** Made once per process, because the tests start many gateways in one process. */
let routesOnce: Promise<ReadonlyArray<Route>> | undefined

/** `/openapi.json` and everything below `/docs`, which are read once. */
export const routes: Effect.Effect<ReadonlyArray<Route>> = Effect.promise(
  () => (routesOnce ??= made())
)
