/**
 * The measured installation: the services as they are deployed, on a separate migrated database.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Array, Context, Duration, Effect, Layer, Record, type Redacted } from "effect"
import { Database } from "@data-import/postgres/connection/Database"
import * as DatabaseUsers from "@data-import/postgres/schema/DatabaseUsers"
import { migrate } from "@data-import/postgres/schema/migrate"
import { createDatabase, databaseUrl } from "@data-import/postgres/testing/databases"
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { documentPaths } from "@data-import/testbed/SampleDocuments"
import * as ServiceProcess from "@data-import/testbed/ServiceProcess"
import * as Tenants from "@data-import/testbed/Tenants"
import { type ServiceName, wire } from "@data-import/testbed/Wiring"
import { allocationArgs } from "./Allocations.ts"
import * as Load from "./Load.ts"

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
  /** The folder in which the services and the peer look documents up. */
  readonly documents: string
  /** Where its processes and the peer write what they allocated. */
  readonly allocations: string
  readonly freshTenant: Effect.Effect<Tenants.Tenant>
}

const settings = {
  // Source: docs/operating.md#settings-of-postgresql.
  ...{ shared_buffers: "2GB", max_wal_size: "8GB", checkpoint_timeout: "15min" },
  // Enough for the services and the peer.
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

/** Puts the documents of every sample under this root. */
const fill = (folder: string, root: string) =>
  Effect.sync(() => {
    for (const path of documentPaths) {
      const file = join(folder, root, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, "A document")
    }
  })

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
  /** Whether the documents that a payload names are looked up. */
  readonly documentCheck?: boolean
}

const startServices = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  documents: string,
  allocations: string,
  { profiles, workers = 1 }: Options
) {
  const keys = join(yield* temporaryFolder(), "keys")
  const certificateKeys = join(yield* temporaryFolder(), "certificate-keys")
  const ofWorker = { CERTIFICATE_KEYS_DIR: certificateKeys }
  const own = { TOKEN_KEYS_DIR: keys, DOCUMENTS_DIR: documents, ALLOCATIONS_DIR: allocations }
  const databaseUsers = yield* Effect.orDie(DatabaseUsers.temporary(url))
  const all = yield* wire(databaseUsers, (name, settings) => {
    const profiling = profiles === undefined ? [] : profilingArgs(name, profiles)
    const nodeArgs = [...memoryArgs(name), ...profiling, ...allocationArgs]
    const given = { ...own, ...(name === "batch-worker" && ofWorker), ...settings }
    const start = startProcess(name, given, { nodeArgs })
    const instances = name === "batch-worker" ? workers : 1
    return Effect.all(Array.replicate(start, instances))
  })
  const services: Services = Record.map(all, ([process]) => process)
  return { services, workers: all["batch-worker"] }
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
  const documents = yield* temporaryFolder()
  const allocations = yield* temporaryFolder()
  const { services, workers } = yield* startServices(url, documents, allocations, options)
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
    allocations,
    freshTenant: Tenants.freshTenant({ documentCheck: options.documentCheck ?? false }).pipe(
      Effect.tap(({ supplier }) => fill(documents, supplier)),
      Effect.provideContext(access)
    )
  } satisfies Installation
})
