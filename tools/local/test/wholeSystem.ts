/**
 * All services in this process, wired as they are deployed. The test controls what surrounds them:
 * the connection to the database, the payment vendors, the object store and the collector of
 * traces. All output of the services is kept.
 */
import { readdirSync, readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { ConfigProvider, Context, Duration, Effect, Layer, Redacted, type Scope } from "effect"
import { send } from "@data-import/api/testing/Client"
import {
  type OrganisationName,
  Scope as KeyScope
} from "@data-import/domain/suppliers/Organisation"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { Database } from "@data-import/postgres/connection/Database"
import { databaseUsersTo } from "@data-import/postgres/testing/databases"
import { behindProxy } from "@data-import/postgres/testing/DatabaseProxy"
import { freshUrl, databaseUsersAt } from "@data-import/postgres/testing/TestDatabase"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import type { Listening } from "@data-import/server/lifecycle/Service"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { serviceLayers, startService } from "@data-import/testbed/InProcess"
import { tokenRequest, tokensOf } from "@data-import/testbed/Tokens"
import { type ServiceName, type Settings, wire } from "@data-import/testbed/Wiring"
import { vi } from "vitest"

type Answer = (incoming: IncomingMessage, response: ServerResponse) => void

const listening = (answer: Answer) =>
  Effect.callback<ReturnType<typeof createServer>>((resume) => {
    const server = createServer(answer)
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  })

/** An HTTP server that answers as the test says. It ends with the scope. */
export const serverOf = (answer: Answer): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(listening(answer), (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

/** The body of a request, as text. */
export const collected = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** The private keys in a folder, as `TOKEN_KEYS_DIR` has them. */
export const privateKeysIn = (folder: string) =>
  readdirSync(folder).map((file) => ({
    ...(JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      readonly kty: string
      readonly crv: string
      readonly x: string
      readonly d: string
    }),
    kid: file.replace(/\.json$/, "")
  }))

export interface World {
  /** What the payment vendors and the object store answer. */
  readonly vendor: Answer
  readonly store: Answer
  /** The key id and the secret that the object store knows the services by. */
  readonly storeCredentials: readonly [id: string, secret: string]
  /** Settings of every service, which take precedence over those that the world needs. */
  readonly settings: Settings
}

/** Where the standard chain of the AWS tools looks first. */
const credentialsInEnvironment = ([id, secret]: World["storeCredentials"]) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      vi.stubEnv("AWS_ACCESS_KEY_ID", id)
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", secret)
    }),
    () => Effect.sync(() => vi.unstubAllEnvs())
  )

const passwordOf = (databaseUser: Redacted.Redacted) =>
  new URL(Redacted.value(databaseUser)).password

/** Everything is logged, and every port is a free one. */
const usual: Settings = {
  PORT: "0",
  METRICS_PORT: "0",
  LOG_LEVEL: "all",
  SHUTDOWN_GRACE_SECONDS: "5",
  TRUST_PROXY: "1",
  CONFIGURATION_MAX_AGE: "0 millis",
  S3_BUCKET: "bucket"
}

/** The services reach the database of the owner at this address. */
const make = Effect.fnUntraced(function* (
  world: World,
  owner: Redacted.Redacted,
  database: Redacted.Redacted
) {
  const { settings, store, vendor } = world
  yield* credentialsInEnvironment(world.storeCredentials)
  const folder = yield* temporaryFolder(0o700)
  const users = databaseUsersAt(owner)
  const log: Array<string> = []
  const traces: Array<string> = []
  const collector = yield* serverOf((incoming, response) => {
    void collected(incoming).then((body) => {
      traces.push(body)
      response.end("{}")
    })
  })
  const vendorUrl = yield* serverOf(vendor)
  const around = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    S3_ENDPOINT: yield* serverOf(store),
    PAYMENT_STRIPE_URL: vendorUrl,
    PAYMENT_GOCARDLESS_URL: vendorUrl
  }
  const metricsPorts: Array<number> = []

  /** Starts a service with the settings that all services have and its own; returns its address. */
  const start = <E>(service: Layer.Layer<Listening, E>, own: Settings) =>
    startService(service, {
      settings: ConfigProvider.fromUnknown({ ...usual, ...around, ...own, ...settings }),
      output: (lines) => void log.push(lines)
    }).pipe(
      Effect.map(({ metricsPort, url }) => {
        if (metricsPort !== null) metricsPorts.push(metricsPort)
        return url
      }),
      Effect.orDie
    )

  const keysFolder = join(folder, "keys")
  const own: Partial<Record<ServiceName, Settings>> = {
    auth: { TOKEN_KEYS_DIR: keysFolder },
    "batch-worker": { CERTIFICATE_KEYS_DIR: join(folder, "certificate-keys") },
    gateway: { TRUST_PROXY: "0" }
  }
  const services = yield* wire(databaseUsersTo(database, users), (name, settings) =>
    Effect.map(
      start<unknown>(serviceLayers[name], { ...settings, ...own[name] }),
      (url) => [{ url }] as const
    )
  )
  const gatewayUrl = services.gateway[0].url
  const passwords = Object.values(users).map(passwordOf)
  return {
    gatewayUrl,
    keysFolder,
    log,
    metricsPorts,
    owner,
    passwords,
    start,
    traces
  }
})

/** The running system, and what it has put out so far. */
export class WholeSystem extends Context.Service<
  WholeSystem,
  Effect.Success<ReturnType<typeof make>>
>()("test/WholeSystem") {}

/** The ports of the test, as the owner of the database. */
const besides = Layer.unwrap(
  Effect.map(WholeSystem, ({ owner }) =>
    Layer.fresh(
      DatabaseAccess.layer({ url: owner, poolSize: 2, statementTimeout: Duration.seconds(20) })
    )
  )
)

const systemAt = (world: World, owner: Redacted.Redacted, database: Redacted.Redacted) =>
  besides.pipe(
    Layer.provideMerge(Layer.effect(WholeSystem, make(world, owner, database))),
    Layer.orDie
  )

/** The whole system in this world. */
export const wholeSystem = (world: World) =>
  Layer.unwrap(Effect.map(freshUrl, (owner) => systemAt(world, owner, owner)))

/** The whole system, whose connections to the database a test can cut. */
export const wholeSystemBehindProxy = (world: World) =>
  Layer.unwrap(
    Effect.map(freshUrl, (owner) =>
      behindProxy(owner, (proxied) => systemAt(world, owner, proxied))
    )
  )

/** Runs a statement of the test's own. */
export const run = (
  statement: (sql: Database["Service"]["sql"]) => Effect.Effect<unknown, unknown>
) => Effect.flatMap(Database, (database) => Effect.orDie(database.run(statement(database.sql))))

/** A token with every scope, obtained with a new key of the organisation. */
export const tokenFor = Effect.fnUntraced(function* (organisation: OrganisationName) {
  const { gatewayUrl } = yield* WholeSystem
  const scopes = KeyScope.literals
  const { secret } = yield* issueKey({ organisation, label: "test", scopes, expiresAt: null })
  const { body, path } = tokenRequest({ APIKey: secret })
  const reply = yield* send(gatewayUrl, {
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  return tokensOf(reply).token
})
