/**
 * The measured installation: the services as they are deployed, on a separate migrated database.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Array, Context, Duration, Effect, Layer, Record, type Redacted } from "effect"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { Database } from "@data-import/postgres/connection/Database"
import * as DatabaseUsers from "@data-import/postgres/setup/DatabaseUsers"
import { migrate } from "@data-import/postgres/setup/migrate"
import { createDatabase, databaseUrl } from "@data-import/postgres/testing/databases"
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import * as ObjectStore from "@data-import/testbed/ObjectStore"
import { documentPaths } from "@data-import/testbed/SampleDocuments"
import * as ServiceProcess from "@data-import/testbed/ServiceProcess"
import * as Tenants from "@data-import/testbed/Tenants"
import { type ServiceName, wire } from "@data-import/testbed/Wiring"
import * as Load from "./Load.ts"
import { listSupplier } from "./Workloads.ts"

/** Where the services and the peer look documents up. */
interface DocumentStore {
  readonly settings: Readonly<Record<string, string>>
  /** Puts the documents of every sample under this root. */
  readonly fill: (root: string) => Effect.Effect<void>
  /** When each document under this root was looked up, if that is known. */
  readonly lookUps: (root: string) => ReadonlyArray<ReadonlyArray<number>>
}

/** A PostgreSQL with the settings that docs/operating.md recommends, and a generator of load. */
export interface Server {
  readonly pid: number
  readonly url: Redacted.Redacted
  readonly load: Load.Load
}

export type Process = ServiceProcess.ServiceProcess<string>
export type Services = Record.ReadonlyRecord<ServiceName, Process>

export interface Installation {
  readonly server: Server
  readonly url: Redacted.Redacted
  /** Runs a statement of the measurement itself. */
  readonly query: (
    text: string,
    values?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Record.ReadonlyRecord<string, unknown>>>
  readonly services: Services
  readonly workers: ReadonlyArray<Process>
  readonly documents: DocumentStore
  /** A tenant with another supplier, `listSupplier`, for the list. */
  readonly freshTenant: Effect.Effect<Tenants.Tenant>
}

const settings = {
  // Source: docs/operating.md#settings-of-postgresql.
  ...{ shared_buffers: "2GB", max_wal_size: "8GB", checkpoint_timeout: "15min" },
  // Enough for two installations at once, and for pgbench.
  max_connections: "200"
}

export const startServer = Effect.gen(function* () {
  const dataDir = join(yield* temporaryFolder(), "postgres")
  const { pid, url } = yield* EmbeddedPostgres.start({ dataDir, settings })
  return { pid, url, load: yield* Load.make } satisfies Server
})

/** Starts a process that takes load. Nothing reads its log, but it is written. */
export const startProcess = Effect.fnUntraced(function* (
  ...[name, settings, running]: Parameters<typeof ServiceProcess.make>
) {
  const logging = { LOG_LEVEL: "info", DRAIN_DELAY_SECONDS: "0", ...settings }
  const process = yield* ServiceProcess.make(name, logging, { discardsOutput: true, ...running })
  yield* process.start()
  return process
})

export const storeInFolder = (folder: string): DocumentStore => ({
  settings: { DOCUMENTS_DIR: folder },
  fill: (root) =>
    Effect.sync(() => {
      for (const path of documentPaths) {
        const file = join(folder, root, path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, "A document")
      }
    }),
  lookUps: () => []
})

export const storeInBucket = Effect.map(
  ObjectStore.make,
  ({ fill, lookUps, port }): DocumentStore => ({
    settings: ObjectStore.settingsFor(port),
    fill,
    lookUps
  })
)

/** As in docker/Dockerfile, and for the worker in docker/compose.yaml. */
const memoryArgs = (name: ServiceName) => [
  `--max-semi-space-size=${name === "batch-worker" ? 32 : 8}`
]

/** When Node ends, it writes a CPU profile to `<folder>/<name>.cpuprofile`. */
const profilingArgs = (name: string, folder: string) => [
  ...["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`]
]

interface Options {
  /** The folder to which the services write profiles, if any. */
  readonly profiles?: string | undefined
  /** How many workers of batches there are. */
  readonly workers?: number
  /** Where the documents of a payload are; if it is not given, they are not checked. */
  readonly documents?: "bucket" | "folder"
}

const startServices = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  documents: DocumentStore,
  { profiles, workers = 1 }: Options
) {
  const own = { TOKEN_KEYS_DIR: join(yield* temporaryFolder(), "keys"), ...documents.settings }
  const databaseUsers = yield* Effect.orDie(DatabaseUsers.temporary(url))
  const all = yield* wire(databaseUsers, (name, settings) => {
    const profiling = profiles === undefined ? [] : profilingArgs(name, profiles)
    const nodeArgs = [...memoryArgs(name), ...profiling]
    const start = startProcess(name, { ...own, ...settings }, { nodeArgs })
    const instances = name === "batch-worker" ? workers : 1
    return Effect.all(Array.replicate(start, instances))
  })
  const services: Services = Record.map(all, ([process]) => process)
  return { services, workers: all["batch-worker"] }
})

const freshTenant = Effect.fnUntraced(function* (documents: DocumentStore, check: boolean) {
  const tenant = yield* Tenants.freshTenant({ documentCheck: check })
  const setup = yield* Configuration
  const listed = Tenants.supplierOf(listSupplier(tenant.supplier), tenant.organisation)
  yield* Effect.orDie(setup.createSupplier(listed))
  yield* documents.fill(tenant.supplier)
  return tenant
})

/** Filling a large database takes minutes. */
const statementTimeout = Duration.minutes(10)

/** Creates a database of this name, with its own services. */
export const install = Effect.fnUntraced(function* (
  server: Server,
  name: string,
  options: Options = {}
) {
  const url = databaseUrl(server.url, name)
  yield* Effect.orDie(Effect.andThen(createDatabase(server.url, name), migrate(url)))
  const inFolder = Effect.map(temporaryFolder(), storeInFolder)
  const documents = yield* options.documents === "bucket" ? storeInBucket : inFolder
  const { services, workers } = yield* startServices(url, documents, options)
  const access = yield* Layer.build(
    Layer.fresh(DatabaseAccess.layer({ url, poolSize: 2, statementTimeout }))
  )
  const { run, sql } = Context.get(access, Database)
  return {
    server,
    url,
    query: (text, values = []) => Effect.orDie(run(sql.unsafe(text, values))),
    services,
    workers,
    documents,
    freshTenant: Effect.provideContext(
      freshTenant(documents, options.documents !== undefined),
      access
    )
  } satisfies Installation
})
