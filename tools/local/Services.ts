/**
 * The services of the local run, all in this process, each with the settings of a deployment. Only
 * the gateway listens on a fixed port.
 */
import { placesIn } from "@data-import/operator/DataDirectory"
import { serviceLayers, startService } from "@data-import/testbed/InProcess"
import { type ServiceName, type ServiceUsers, wire } from "@data-import/testbed/Wiring"
import * as VendorSimulator from "@data-import/vendor-simulator/VendorSimulator"
import { ConfigProvider, Context, Effect, Layer } from "effect"

export interface Settings {
  readonly databaseUsers: ServiceUsers
  readonly dataDir: string
}

type Values = Readonly<Record<string, string>>

/**
 * The local run keeps documents on the file system, so settings of object storage are ignored. Five
 * services in one process cannot share one metrics port.
 */
const environment = () => {
  const { METRICS_PORT: _, S3_BUCKET: __, ...env } = process.env
  return ConfigProvider.fromEnv({ env: env as Record<string, string> })
}

/** Falls back to the environment. */
const settingsOf = (values: Values) =>
  ConfigProvider.fromUnknown({ HOST: "127.0.0.1", ...values }).pipe(
    ConfigProvider.orElse(environment()),
    ConfigProvider.orElse(ConfigProvider.fromUnknown({ LOG_LEVEL: "warn" }))
  )

/**
 * Starts the services, the gateway last and on `PORT` (8080). Returns its address, and a check that
 * succeeds when every service and what it depends on answers. The services stop with the scope, the
 * gateway first.
 */
export const start = Effect.fnUntraced(function* ({ dataDir, databaseUsers }: Settings) {
  const places = placesIn(dataDir)
  const vendors = Context.get(
    yield* Layer.build(VendorSimulator.layer),
    VendorSimulator.VendorSimulator
  )
  const behindGateway = { PORT: "0", DOCUMENTS_DIR: places.documents }
  const own: Readonly<Record<ServiceName, Values>> = {
    auth: { PORT: "0", TOKEN_KEYS_DIR: places.keys },
    query: behindGateway,
    "account-import": behindGateway,
    "post-import": { ...behindGateway, ...VendorSimulator.settingsFor(vendors.url) },
    gateway: {}
  }
  const services = yield* wire(databaseUsers, (name, settings) => {
    const started = startService<unknown>(serviceLayers[name], {
      settings: settingsOf({ ...own[name], ...settings }),
      output: (lines) => void process.stderr.write(lines)
    })
    return Effect.map(started, (service) => [service] as const)
  })
  const check = Effect.all(
    Object.values(services).map(([{ checkDependencies }]) => checkDependencies),
    { concurrency: "unbounded", discard: true }
  )
  return { baseUrl: services.gateway[0].url, check }
})
