/**
 * The one address of the system: finds the service by path and forwards, both ways as a stream,
 * without looking into a body and without holding a key. Every answer is the service's own; the
 * gateway itself answers unknown paths, its documents, its health, and for a service that does not
 * answer.
 *
 * Settings: those of the server, ACCOUNT_IMPORT_URL, QUERY_URL, AUTH_URL, POST_IMPORT_URL (unset:
 * its paths answer 503), UPSTREAM_TIMEOUT_SECONDS (30). TRUST_PROXY says that a proxy of ours
 * stands before it; without it the client is whoever opened the connection, and services behind the
 * gateway need it set.
 */
import { Config, Effect, Option } from "effect"
import type { Arrival, Dispatched } from "@data-import/server/Dispatch"
import * as Service from "@data-import/server/Service"
import * as Upstream from "@data-import/server/Upstream"
import * as Documentation from "./Documentation.ts"
import { find, type ServiceName } from "./Table.ts"

const settings = Config.all({
  accountImport: Config.URL("ACCOUNT_IMPORT_URL"),
  postImport: Config.option(Config.URL("POST_IMPORT_URL")),
  query: Config.URL("QUERY_URL"),
  auth: Config.URL("AUTH_URL"),
  seconds: Config.withDefault(Config.Int("UPSTREAM_TIMEOUT_SECONDS"), 30)
})

const serving = Effect.gen(function* () {
  const { accountImport, auth, postImport, query, seconds } = yield* settings
  const connect = (url: URL) => Upstream.make(url, { connect: 2_000, answer: seconds * 1_000 })
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
    const [prefix, service] = entry
    return { route: prefix, answer: upstreams[service].forward(arrival) }
  }
  return {
    routes: yield* Documentation.routes,
    otherwise,
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
