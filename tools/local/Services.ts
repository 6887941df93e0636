/**
 * The services of the local run, all in this process, each with the settings that a deployment
 * would give it. Only the gateway is on a port that is known beforehand.
 */
import * as AccountImport from "@data-import/account-import/AccountImport"
import * as Auth from "@data-import/auth/Auth"
import * as Gateway from "@data-import/gateway/Gateway"
import * as Query from "@data-import/query/Query"
import * as PostImport from "@data-import/post-import/PostImport"
import type { DatabaseUsers } from "@data-import/postgres/setup/DatabaseUsers"
import * as Log from "@data-import/server/observability/Log"
import { Listening } from "@data-import/server/lifecycle/Service"
import { ConfigProvider, Context, Effect, Layer, Record, Redacted } from "effect"
import * as VendorSimulator from "@data-import/vendor-simulator/VendorSimulator"
import { placesIn } from "@data-import/operator/DataDirectory"

export interface Settings {
  readonly databaseUsers: Omit<DatabaseUsers, "operator">
  readonly dataDir: string
}

/**
 * What the gateway knows a service by, and the service; auth is apart, since the others ask it for
 * keys.
 */
const behindGateway = {
  ACCOUNT_IMPORT_URL: { name: "account-import", layer: AccountImport.layer },
  POST_IMPORT_URL: { name: "post-import", layer: PostImport.layer },
  QUERY_URL: { name: "query", layer: Query.layer }
} as const

type Values = Readonly<Record<string, string>>

/**
 * Documents are on the file system here, whatever the environment says of object storage, and one
 * port for metrics would be one for all services.
 */
const environment = () => {
  const { METRICS_PORT: _, S3_BUCKET: __, ...env } = process.env
  return ConfigProvider.fromEnv({ env: env as Record<string, string> })
}

/** What is not said here comes from the environment. */
const settingsOf = (values: Values) =>
  ConfigProvider.fromUnknown({ HOST: "127.0.0.1", ...values }).pipe(
    ConfigProvider.orElse(environment()),
    ConfigProvider.orElse(ConfigProvider.fromUnknown({ LOG_LEVEL: "warn" }))
  )

const run = <E>(service: Layer.Layer<Listening, E>, values: Values) =>
  Layer.build(service).pipe(
    Effect.map((context) => Context.get(context, Listening)),
    Effect.provideService(ConfigProvider.ConfigProvider, settingsOf(values)),
    Effect.provideService(Log.Output, (lines) => void process.stderr.write(lines))
  )

/**
 * Starts the services, the gateway last and on `PORT` (8080); gives its address, and what succeeds
 * when every service and what it depends on answers. They stop with the scope, the gateway first.
 */
export const start = Effect.fnUntraced(function* ({ dataDir, databaseUsers }: Settings) {
  const places = placesIn(dataDir)
  const behind = (name: keyof Settings["databaseUsers"]) => ({
    PORT: "0",
    TRUST_PROXY: "1",
    DATABASE_URL: Redacted.value(databaseUsers[name])
  })
  const vendors = Context.get(
    yield* Layer.build(VendorSimulator.layer),
    VendorSimulator.VendorSimulator
  )
  const auth = yield* run(Auth.layer, { ...behind("auth"), TOKEN_KEYS_DIR: places.keys })
  const others = yield* Effect.all(
    Record.map(behindGateway, ({ layer, name }) =>
      run(layer, {
        ...behind(name),
        ...VendorSimulator.settingsFor(vendors.url),
        JWKS_URL: `${auth.url}/.well-known/jwks.json`,
        DOCUMENTS_DIR: places.documents
      })
    ),
    { concurrency: "unbounded" }
  )
  const urls = Record.map(others, ({ url }) => url)
  const gateway = yield* run(Gateway.layer, { AUTH_URL: auth.url, ...urls })
  const services = [gateway, auth, ...Object.values(others)]
  const check = Effect.all(
    services.map(({ checkDependencies }) => checkDependencies),
    { concurrency: "unbounded", discard: true }
  )
  return { baseUrl: gateway.url, check }
})
