/**
 * The services of the local run, each with the settings of a deployment: all in this process,
 * except the batch worker. Only the gateway listens on a fixed port.
 */
import { randomBytes } from "node:crypto"
import * as FileSystemUploads from "@data-import/documents/FileSystemUploads"
import { placesIn } from "@data-import/operator/DataDirectory"
import { serviceLayers, startService } from "@data-import/testbed/InProcess"
import { type ServiceName, type ServiceUsers, wire } from "@data-import/testbed/Wiring"
import * as VendorSimulator from "@data-import/vendor-simulator/VendorSimulator"
import { ConfigProvider, Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as BatchWorkerProcess from "./BatchWorkerProcess.ts"
import * as MetricsTargets from "./MetricsTargets.ts"

export interface Settings {
  readonly databaseUsers: ServiceUsers
  readonly dataDir: string
}

type Values = Readonly<Record<string, string>>

interface Running {
  readonly url: string
  /** Succeeds if all dependencies of the service answer. */
  readonly checkDependencies: Effect.Effect<void, unknown>
}

/**
 * The local run keeps documents on the file system, so settings of object storage are ignored. The
 * services in one process cannot share one metrics port, so each takes a free one.
 */
const environment = (): Values => {
  const { METRICS_PORT: _, S3_BUCKET: __, ...env } = process.env
  return env as Record<string, string>
}

const usual = { LOG_LEVEL: "warn" }

type Starting = Effect.Effect<readonly [Running], unknown, Scope.Scope>

/** Falls back to the environment. */
const settingsOf = (values: Values) =>
  ConfigProvider.fromUnknown({ HOST: "127.0.0.1", ...values }).pipe(
    ConfigProvider.orElse(ConfigProvider.fromEnv({ env: environment() })),
    ConfigProvider.orElse(ConfigProvider.fromUnknown(usual))
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
  const uploadKey = Redacted.make(randomBytes(32).toString("hex"))
  const uploadUrl = yield* FileSystemUploads.serve(places.documents, uploadKey)
  const takingUploads = {
    ...behindGateway,
    DOCUMENTS_UPLOAD_URL: uploadUrl.href,
    DOCUMENTS_UPLOAD_KEY: Redacted.value(uploadKey)
  }
  const withVendors = { ...behindGateway, ...VendorSimulator.settingsFor(vendors.url) }
  const noteMetrics = MetricsTargets.make(places.metrics)
  const own: Readonly<Record<ServiceName, Values>> = {
    auth: { PORT: "0", TOKEN_KEYS_DIR: places.keys },
    query: behindGateway,
    "account-import": takingUploads,
    "post-import": withVendors,
    batches: behindGateway,
    events: behindGateway,
    board: behindGateway,
    "batch-worker": {
      ...withVendors,
      CERTIFICATE_KEYS_DIR: places.certificateKeys,
      DRAIN_DELAY_SECONDS: "0"
    },
    gateway: {}
  }
  const services = yield* wire(databaseUsers, (name, settings): Starting => {
    if (name === "batch-worker") {
      const env = { ...usual, ...environment(), HOST: "127.0.0.1", ...own[name], ...settings }
      const worker = BatchWorkerProcess.start(env, (told) => noteMetrics(name, told.metricsPort))
      return Effect.map(worker, (started) => [started] as const)
    }
    const started = startService<unknown>(serviceLayers[name], {
      settings: settingsOf({ ...own[name], ...settings }),
      output: (lines) => void process.stderr.write(lines)
    })
    return Effect.map(started, (service) => {
      noteMetrics(name, service.metricsPort)
      return [service] as const
    })
  })
  const check = Effect.all(
    Object.values(services).map(([{ checkDependencies }]) => checkDependencies),
    { concurrency: "unbounded", discard: true }
  )
  return { baseUrl: services.gateway[0].url, check }
})
