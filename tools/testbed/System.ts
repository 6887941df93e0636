/**
 * The whole system as deployed, each part a separate process: PostgreSQL, the services on fixed
 * addresses, and proxies that can misbehave in front of PostgreSQL, the document store and the
 * payment vendors. The system and its data end with the layer.
 */
import { join } from "node:path"
import { Array, Context, Duration, Effect, Layer, Record, type Scope } from "effect"
import { type AuditVerification, verifyAudit } from "@data-import/domain/audit/AuditVerification"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Hashing } from "@data-import/domain/requests/Hashing"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { layer as hashing } from "@data-import/server/Hashing"
import * as Database from "@data-import/postgres/connection/Database"
import * as DatabaseUsers from "@data-import/postgres/schema/DatabaseUsers"
import { migrate } from "@data-import/postgres/schema/migrate"
import { databaseUsersTo } from "@data-import/postgres/testing/databases"
import { throughPort } from "@data-import/postgres/testing/DatabaseProxy"
import * as TcpProxy from "@data-import/postgres/testing/TcpProxy"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import * as Vendors from "@data-import/vendor-simulator/VendorSimulator"
import * as Balancer from "./Balancer.ts"
import * as DatabaseAccess from "./DatabaseAccess.ts"
import * as Disk from "./Disk.ts"
import * as Health from "./Health.ts"
import * as ObjectStore from "./ObjectStore.ts"
import { freePort } from "./Ports.ts"
import * as PostgresProcess from "./PostgresProcess.ts"
import { type RandomSource, randomSource } from "./RandomSource.ts"
import * as ServiceProcess from "./ServiceProcess.ts"
import * as Tenants from "./Tenants.ts"
import { type ServiceName, type ServiceUsers, type Settings, wire } from "./Wiring.ts"

/** How long an attempt of a dead process holds its import. */
const lease = Duration.seconds(3)

/**
 * Nine, which is one of each service. On two cores, starting twice as many at once is no faster
 * overall.
 */
const startedAtOnce = 9

/** A single instance stops fast; one of several drains by default until others are used. */
const stoppingOf = (instances: number): Settings => ({
  SHUTDOWN_GRACE_SECONDS: "5",
  ...(instances === 1 && { DRAIN_DELAY_SECONDS: "0" })
})

export interface Options {
  /** The size of the file system for PostgreSQL's data; unlimited unless given. */
  readonly diskMegabytes?: number | undefined
  /** False for a PostgreSQL that never waits for the disk; see EmbeddedPostgres. */
  readonly durable?: boolean | undefined
  /** Whether the services reach PostgreSQL through the proxy. */
  readonly proxied: boolean
  /** Of the gateway and each service; one unless given. */
  readonly instances?: number | undefined
  readonly seed: number
}

type Services = Record.ReadonlyRecord<ServiceName, ServiceProcess.ServiceProcess>

export class System extends Context.Service<
  System,
  {
    /** The first instance of each service. */
    readonly services: Services
    /** All instances of all services. */
    readonly instances: ReadonlyArray<ServiceProcess.ServiceProcess>
    /** Where clients connect: to the gateway, or to a balancer in front of several. */
    readonly port: number
    readonly postgres: PostgresProcess.PostgresProcess
    /** The folder of the keys that sign tokens. */
    readonly tokenKeys: string
    /** Connections that bypass the proxy, to read what is stored. */
    readonly database: Database.Database["Service"]
    /** Whether the audit log is as it was written. */
    readonly verifyAudit: Effect.Effect<AuditVerification, StorageUnavailable>
    /** Between the services and PostgreSQL, where the options say so. */
    readonly databaseProxy: TcpProxy.TcpProxy
    readonly storeProxy: TcpProxy.TcpProxy
    readonly vendorProxy: TcpProxy.TcpProxy
    /** The file system of PostgreSQL, where the options give its size. */
    readonly disk: Disk.Disk | undefined
    readonly random: RandomSource
    readonly freshTenant: Effect.Effect<Tenants.Tenant>
    /** The tenant with a key of an empty test organisation. */
    readonly sandboxOf: (tenant: Tenants.Tenant) => Effect.Effect<Tenants.Tenant>
    /** A tenant whose documents are in the store, and are looked up there. */
    readonly checkedTenant: Effect.Effect<Tenants.Tenant>
    /** Everything in the document store, to be copied, lost and put back. */
    readonly objects: ObjectStore.ObjectStore["objects"]
  }
>()("@data-import/testbed/System") {}

interface Addresses {
  /** The ports of the proxies. */
  readonly store: number
  readonly vendor: number
}

/** The only instance, or a balancer in front of several. */
const addressOf = (
  instances: readonly [
    ServiceProcess.ServiceProcess,
    ...ReadonlyArray<ServiceProcess.ServiceProcess>
  ]
) => (instances.length === 1 ? Effect.succeed(instances[0].port) : Balancer.make(instances))

const startServices = Effect.fnUntraced(function* (
  databaseUsers: ServiceUsers,
  { store, vendor }: Addresses,
  tokenKeys: string,
  instances: number
) {
  const stopping = stoppingOf(instances)
  const documents = ObjectStore.settingsFor(store)
  const leased = { LEASE: `${Duration.toSeconds(lease)} seconds` }
  const withVendors = { ...documents, ...Vendors.settingsFor(`http://127.0.0.1:${vendor}`) }
  const own: Record.ReadonlyRecord<ServiceName, Settings> = {
    auth: { TOKEN_KEYS_DIR: tokenKeys },
    query: documents,
    "account-import": { ...documents, ...leased },
    "post-import": { ...withVendors, ...leased },
    batches: leased,
    "batch-worker": withVendors,
    events: {},
    board: {},
    gateway: {}
  }
  const all = yield* wire(
    databaseUsers,
    (name, settings) =>
      Effect.all(
        Array.makeBy(instances, () =>
          ServiceProcess.make(name, { ...stopping, ...own[name], ...settings })
        )
      ),
    (auth) => Effect.map(addressOf(auth), (port) => `http://127.0.0.1:${port}`)
  )
  yield* Effect.forEach(Object.values(all).flat(), (service) => service.start(), {
    concurrency: startedAtOnce
  })
  const services: Services = Record.map(all, ([first]) => first)
  const port = yield* addressOf(all.gateway)
  yield* Health.ready(port)
  return { services, instances: Object.values(all).flat(), port }
})

const portOf = (url: string): number => Number(new URL(url).port)

/** Seals what is written first, so that the end of the log is verified too. */
const sealedAndVerified = (log: SealedAuditLog["Service"]) =>
  Effect.gen(function* () {
    while ((yield* log.seal(10_000)) > 0) continue
    return yield* verifyAudit(log, yield* Hashing)
  }).pipe(Effect.provide(hashing))

const start = Effect.fnUntraced(function* (options: Options) {
  const { diskMegabytes, durable, instances = 1, proxied, seed } = options
  const random = randomSource(seed)
  const proxyTo = (target: number) =>
    Effect.flatMap(freePort, (port) => TcpProxy.make({ port, target, random: random.next }))
  const folder = yield* temporaryFolder()
  const disk = diskMegabytes === undefined ? undefined : yield* Disk.make(diskMegabytes)
  const postgres = yield* PostgresProcess.make(join(disk?.folder ?? folder, "postgres"), durable)
  yield* migrate(postgres.url)
  const databaseProxy = yield* proxyTo(postgres.port)
  const { url: vendors } = yield* Vendors.VendorSimulator
  const vendorProxy = yield* proxyTo(portOf(vendors))
  const databaseUrl = throughPort(postgres.url, proxied ? databaseProxy.port : postgres.port)
  const databaseUsers = databaseUsersTo(databaseUrl, yield* DatabaseUsers.temporary(postgres.url))
  const store = yield* ObjectStore.make
  const storeProxy = yield* proxyTo(store.port)
  const proxies = { store: storeProxy.port, vendor: vendorProxy.port }
  const tokenKeys = join(folder, "keys")
  const running = yield* startServices(databaseUsers, proxies, tokenKeys, instances)
  const context = yield* Layer.build(
    DatabaseAccess.layer({ url: postgres.url, poolSize: 6, statementTimeout: Duration.seconds(60) })
  )
  return System.of({
    ...running,
    postgres,
    tokenKeys,
    database: Context.get(context, Database.Database),
    verifyAudit: sealedAndVerified(Context.get(context, SealedAuditLog)),
    databaseProxy,
    storeProxy,
    vendorProxy,
    disk,
    random,
    freshTenant: Effect.provideContext(Tenants.freshTenant({}), context),
    sandboxOf: (tenant) => Effect.provideContext(Tenants.sandboxOf(tenant), context),
    checkedTenant: Effect.tap(
      Effect.provideContext(Tenants.freshTenant({ documentCheck: true }), context),
      (tenant) => store.fill(tenant.supplier)
    ),
    objects: store.objects
  })
})

/** The system, started now. Every failure to start but that of mounting the disk is a defect. */
export const layer = (options: Options): Layer.Layer<System, Disk.CannotMount> =>
  Layer.effect(
    System,
    Effect.catch(start(options), (error) =>
      error._tag === "CannotMount" ? Effect.fail(error) : Effect.die(error)
    )
  ).pipe(Layer.provide(Layer.orDie(Vendors.layer)))

/**
 * Restarts a service with other settings until the scope ends, and then with its own. All services
 * are ready after both restarts.
 */
export const reconfigured = (
  name: ServiceName,
  settings: Settings
): Effect.Effect<void, never, System | Scope.Scope> =>
  Effect.gen(function* () {
    const { port, services } = yield* System
    const restart = (own: Settings) =>
      services[name]
        .stop()
        .pipe(
          Effect.andThen(services[name].start(own)),
          Effect.andThen(Health.ready(port)),
          Effect.orDie
        )
    yield* Effect.acquireRelease(restart(settings), () => restart({}))
  })
