/**
 * The one address of the system: finds the service by path and forwards, without looking into a body
 * and without holding a key. Every answer is the service's own; the gateway itself answers unknown
 * paths, its documents, its health, what is no sound HTTP or too large, and for a service that does
 * not answer.
 *
 * Settings: those of the server, ACCOUNT_IMPORT_URL, QUERY_URL, AUTH_URL, POST_IMPORT_URL (unset:
 * its paths answer 503), UPSTREAM_TIMEOUT_SECONDS (30), MAX_REQUESTS_PER_ADDRESS (500). Each URL is
 * `http://host:port`, or several of them with commas between, one for each instance. TRUST_PROXY
 * says that a proxy of ours stands before it; without it the client is whoever opened the
 * connection, and services behind the gateway need it set.
 */
import { Config, Effect, Option, Schema } from "effect"
import type { Arrival, Dispatched } from "@data-import/server/Dispatch"
import * as Service from "@data-import/server/Service"
import * as Upstream from "@data-import/server/Upstream"
import * as Documentation from "./Documentation.ts"
import { find, type ServiceName } from "./Table.ts"

const isPlainHttp = (url: URL): boolean =>
  url.protocol === "http:" && url.pathname === "/" && url.search === "" && url.username === ""

const urlsIn = (text: string): ReadonlyArray<URL | null> =>
  text.split(",").map((one) => URL.parse(one.trim()))

/** The instances of a service. Only what is sent in plain text is supported, so nothing else is. */
const InstanceUrls = Schema.String.check(
  Schema.makeFilter((text) =>
    urlsIn(text).every((url) => url !== null && isPlainHttp(url))
      ? undefined
      : "must be http://host:port, or several of these with commas between"
  )
)

const instances = (name: string) =>
  Config.map(Config.schema(InstanceUrls, name), (text) =>
    urlsIn(text).filter((url) => url !== null)
  )

const settings = Config.all({
  accountImport: instances("ACCOUNT_IMPORT_URL"),
  postImport: Config.option(instances("POST_IMPORT_URL")),
  query: instances("QUERY_URL"),
  auth: instances("AUTH_URL"),
  seconds: Config.withDefault(Config.Int("UPSTREAM_TIMEOUT_SECONDS"), 30),
  maxRequestsPerAddress: Config.withDefault(Config.Int("MAX_REQUESTS_PER_ADDRESS"), 500)
})

const serving = Effect.gen(function* () {
  const { accountImport, auth, maxRequestsPerAddress, postImport, query, seconds } = yield* settings
  const connect = (urls: ReadonlyArray<URL>) =>
    Upstream.make(urls, { connect: 2_000, answer: seconds * 1_000 })
  const upstreams: Readonly<Record<ServiceName, Upstream.Upstream>> = yield* Effect.all({
    accountImport: connect(accountImport),
    postImport: Option.match(postImport, {
      onNone: () => Effect.succeed(Upstream.absent),
      onSome: connect
    }),
    query: connect(query),
    auth: connect(auth)
  })
  const otherwise = (arrival: Arrival, path: string): Dispatched | undefined => {
    const entry = find(path)
    if (entry === undefined) return undefined
    const { bodyBytes, prefix, service } = entry
    return { route: prefix, answer: upstreams[service].forward(arrival, bodyBytes) }
  }
  return {
    routes: yield* Documentation.routes,
    otherwise,
    maxRequestsPerAddress,
    ready: Effect.forEach(
      Object.entries(upstreams),
      ([service, { ready }]) =>
        Effect.tapError(ready, () =>
          Effect.annotateLogs(Effect.logWarning("service not ready"), { upstream: service })
        ),
      { concurrency: "unbounded", discard: true }
    )
  }
})

export const layer = Service.layer("gateway", serving)
