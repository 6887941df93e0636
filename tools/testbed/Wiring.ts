/**
 * The connections between the services. Every system of the tools is wired here, whether its
 * services are processes or layers of this process.
 */
import { Effect, Redacted } from "effect"
import type { DatabaseUsers } from "@data-import/postgres/schema/DatabaseUsers"

/** The database users of the deployed services, without the operator's. */
export type ServiceUsers = Omit<DatabaseUsers, "operator">

type Behind = keyof ServiceUsers

export type ServiceName = Behind | "gateway"

export type Settings = Readonly<Record<string, string>>

/** The started instances of a service: one or several. */
type Instances<S> = readonly [S, ...ReadonlyArray<S>]

/** Starts the instances of a service with these settings and those that it needs besides. */
export type Start<S, E, R> = (
  name: ServiceName,
  settings: Settings
) => Effect.Effect<Instances<S>, E, R>

/** As the gateway takes the addresses of several instances. */
const urlsOf = (instances: ReadonlyArray<{ readonly url: string }>): string =>
  instances.map(({ url }) => url).join(",")

/**
 * Starts auth, then the other services and the batch worker, and the gateway last. Each service
 * behind the gateway connects as the database user that it is deployed with. The others reach auth
 * at `authUrl`; at its first instance unless given.
 */
export const wire = Effect.fnUntraced(function* <
  S extends { readonly url: string },
  E,
  R,
  RA = never
>(
  databaseUsers: ServiceUsers,
  start: Start<S, E, R>,
  authUrl: (instances: Instances<S>) => Effect.Effect<string, never, RA> = ([{ url }]) =>
    Effect.succeed(url)
) {
  const behindGateway = (name: Behind, settings: Settings = {}) =>
    start(name, {
      TRUST_PROXY: "1",
      DATABASE_URL: Redacted.value(databaseUsers[name]),
      ...settings
    })
  const auth = yield* behindGateway("auth")
  const keys = { JWKS_URL: `${yield* authUrl(auth)}/.well-known/jwks.json` }
  const verifying = yield* Effect.all(
    {
      "account-import": behindGateway("account-import", keys),
      "post-import": behindGateway("post-import", keys),
      query: behindGateway("query", keys),
      batches: behindGateway("batches", keys),
      events: behindGateway("events", keys),
      board: behindGateway("board"),
      "batch-worker": behindGateway("batch-worker")
    },
    { concurrency: "unbounded" }
  )
  const gateway = yield* start("gateway", {
    AUTH_URL: urlsOf(auth),
    ACCOUNT_IMPORT_URL: urlsOf(verifying["account-import"]),
    POST_IMPORT_URL: urlsOf(verifying["post-import"]),
    QUERY_URL: urlsOf(verifying.query),
    BATCHES_URL: urlsOf(verifying.batches),
    EVENTS_URL: urlsOf(verifying.events),
    BOARD_URL: urlsOf(verifying.board)
  })
  return { auth, ...verifying, gateway }
})
