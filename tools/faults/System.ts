/**
 * The whole system as it is deployed, each part a process of its own: PostgreSQL, the five services
 * on fixed addresses, and proxies that can misbehave before PostgreSQL, the document store and the
 * payment vendors. It is up for as long as the layer, and its data lie in a folder that goes with
 * it.
 */
import { randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Array, Context, DateTime, Duration, Effect, Layer, Redacted, type Scope } from "effect"
import { utc } from "@data-import/domain/organisation/BusinessDay"
import { OrganisationName } from "@data-import/domain/organisation/Organisation"
import { AuditLog } from "@data-import/domain/ports/AuditLog"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { issueKey } from "@data-import/domain/auth/ServiceToken"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import * as Database from "@data-import/postgres/connection/Database"
import * as DatabaseUsers from "@data-import/postgres/setup/DatabaseUsers"
import { migrate } from "@data-import/postgres/setup/migrate"
import * as Storage from "@data-import/postgres/Storage"
import { databaseUsersTo } from "@data-import/postgres/testing/databases"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import * as Vendors from "@data-import/vendor-simulator/VendorSimulator"
import { Chance } from "./Chance.ts"
import * as Disk from "./Disk.ts"
import * as Health from "./Health.ts"
import * as PostgresProcess from "./PostgresProcess.ts"
import * as Proxy from "./Proxy.ts"
import * as ServiceProcess from "./ServiceProcess.ts"
import * as Store from "./Store.ts"

/** How long an attempt that died holds its import here. */
const lease = Duration.seconds(3)

/** One service alone is stopped fast; of several instances each lets others take over. */
const stoppingOf = (instances: number): ServiceProcess.Settings => ({
  SHUTDOWN_GRACE_SECONDS: "5",
  DRAIN_DELAY_SECONDS: instances > 1 ? "3" : "0"
})

export interface Options {
  /** So many megabytes there are for the data of PostgreSQL; as many as it takes unless given. */
  readonly diskMegabytes?: number | undefined
  /** Whether the services reach PostgreSQL through the proxy. */
  readonly proxied: boolean
  /** Of each service behind the gateway; one unless given. */
  readonly instances?: number | undefined
  readonly seed: number
}

/** A client of the platform with a supplier that nobody else uses. */
export interface Tenant {
  readonly supplier: string
  readonly apiKey: string
  readonly team: string
}

type Services = Readonly<Record<ServiceProcess.ServiceName, ServiceProcess.ServiceProcess>>

export class System extends Context.Service<
  System,
  {
    /** The first instance of each service. */
    readonly services: Services
    /** All instances of the services behind the gateway. */
    readonly instances: ReadonlyArray<ServiceProcess.ServiceProcess>
    readonly postgres: PostgresProcess.PostgresProcess
    /** Connections past the proxy, to look at what is stored. */
    readonly database: Database.Database["Service"]
    /** Whether the audit log is as it was written. */
    readonly verifyAudit: AuditLog["Service"]["verifyAudit"]
    /** Between the services and PostgreSQL, where the options say so. */
    readonly databaseProxy: Proxy.Proxy
    readonly storeProxy: Proxy.Proxy
    readonly vendorProxy: Proxy.Proxy
    /** Of PostgreSQL, where the options say how large it is. */
    readonly disk: Disk.Disk | undefined
    readonly chance: Chance
    readonly freshTenant: Effect.Effect<Tenant>
    /** One whose documents are in the store, and looked up there. */
    readonly checkedTenant: Effect.Effect<Tenant>
  }
>()("@data-import/faults/System") {}

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "data-import-faults-"))
    chmodSync(folder, 0o755)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const throughPort = (url: Redacted.Redacted, port: number): Redacted.Redacted => {
  const moved = new URL(Redacted.value(url))
  moved.port = String(port)
  return Redacted.make(moved.href)
}

/** As the gateway takes the addresses of several instances. */
const urlsOf = (instances: ReadonlyArray<ServiceProcess.ServiceProcess>): string =>
  instances.map(({ url }) => url).join(",")

const startServices = Effect.fnUntraced(function* (
  databaseUsers: DatabaseUsers.DatabaseUsers,
  { store, vendor }: { readonly store: number; readonly vendor: number },
  folder: string,
  instances: number
) {
  const stopping = stoppingOf(instances)
  const make = (name: ServiceProcess.ServiceName, settings: ServiceProcess.Settings) =>
    Effect.all(Array.makeBy(instances, () => ServiceProcess.make(name, settings)))
  const behind = (name: DatabaseUsers.Worker) => ({
    DATABASE_URL: Redacted.value(databaseUsers[name]),
    TRUST_PROXY: "1",
    ...stopping
  })
  const auth = yield* make("auth", {
    ...behind("auth"),
    TOKEN_KEYS_DIR: join(folder, "keys")
  })
  const checking = (name: DatabaseUsers.Worker) => ({
    ...behind(name),
    JWKS_URL: `${auth[0].url}/.well-known/jwks.json`,
    ...Store.settingsFor(store)
  })
  const leased = { LEASE: `${Duration.toSeconds(lease)} seconds` }
  const query = yield* make("query", checking("query"))
  const accountImport = yield* make("account-import", {
    ...checking("account-import"),
    ...leased
  })
  const postImport = yield* make("post-import", {
    ...checking("post-import"),
    ...leased,
    ...Vendors.settingsFor(`http://127.0.0.1:${vendor}`)
  })
  const gateway = yield* ServiceProcess.make("gateway", {
    ...stopping,
    AUTH_URL: urlsOf(auth),
    QUERY_URL: urlsOf(query),
    ACCOUNT_IMPORT_URL: urlsOf(accountImport),
    POST_IMPORT_URL: urlsOf(postImport)
  })
  const behindGateway = [auth, query, accountImport, postImport].flat()
  yield* Effect.forEach([...behindGateway, gateway], (service) => service.start(), {
    concurrency: "unbounded"
  })
  yield* Health.ready(gateway.port)
  const services: Services = {
    auth: auth[0],
    query: query[0],
    "account-import": accountImport[0],
    "post-import": postImport[0],
    gateway
  }
  return { services, instances: behindGateway }
})

const team = "Migration Team"

/** A database without the team is one that nobody has set up yet. */
const tenantWith = Effect.fnUntraced(function* (documentCheck: boolean) {
  const setup = yield* Configuration
  const name = randomBytes(6).toString("hex")
  const organisation = OrganisationName.make(`org-${name}`)
  const code = SupplierCode.make(`FAULTS_${name}`)
  if (!(yield* setup.hasTeam(team))) yield* setup.createTeam(team)
  yield* setup.createOrganisation(organisation, yield* DateTime.now)
  yield* setup.createSupplier({
    code,
    organisation,
    status: "Ongoing",
    documentRoot: code,
    documentCheck,
    customerEmails: false,
    concurrencyLimit: null,
    timeZone: utc
  })
  const { secret } = yield* issueKey({
    organisation,
    label: "faults",
    scopes: ["import:read", "import:write"],
    expiresAt: null
  })
  return { supplier: code, apiKey: secret, team } satisfies Tenant
}, Effect.orDie)

const portOf = (url: string): number => Number(new URL(url).port)

const start = Effect.fnUntraced(function* (options: Options) {
  const { diskMegabytes, instances = 1, proxied, seed } = options
  const chance = new Chance(seed)
  const folder = yield* temporaryFolder
  const disk = diskMegabytes === undefined ? undefined : yield* Disk.make(diskMegabytes)
  const postgres = yield* PostgresProcess.make(join(disk?.folder ?? folder, "postgres"))
  yield* migrate(postgres.url)
  const databaseProxy = yield* Proxy.make(postgres.port, chance)
  const { url: vendors } = yield* Vendors.VendorSimulator
  const vendorProxy = yield* Proxy.make(portOf(vendors), chance)
  const databaseUrl = throughPort(postgres.url, proxied ? databaseProxy.port : postgres.port)
  const databaseUsers = databaseUsersTo(databaseUrl, yield* DatabaseUsers.temporary(postgres.url))
  const store = yield* Store.make
  const storeProxy = yield* Proxy.make(store.port, chance)
  const proxies = { store: storeProxy.port, vendor: vendorProxy.port }
  const running = yield* startServices(databaseUsers, proxies, folder, instances)
  const context = yield* Layer.build(
    Layer.provideMerge(
      Storage.layerPorts,
      Database.layerWith({
        url: postgres.url,
        poolSize: 6,
        statementTimeout: Duration.seconds(60)
      })
    ).pipe(Layer.merge(TokenSecrets.layer))
  )
  return System.of({
    ...running,
    postgres,
    database: Context.get(context, Database.Database),
    verifyAudit: Context.get(context, AuditLog).verifyAudit,
    databaseProxy,
    storeProxy,
    vendorProxy,
    disk,
    chance,
    freshTenant: Effect.provideContext(tenantWith(false), context),
    checkedTenant: Effect.tap(Effect.provideContext(tenantWith(true), context), (tenant) =>
      store.fill(tenant.supplier)
    )
  })
})

/** The system, started now. What else keeps it from starting is a defect. */
export const layer = (options: Options): Layer.Layer<System, Disk.CannotMount> =>
  Layer.effect(
    System,
    Effect.catch(start(options), (error) =>
      error._tag === "CannotMount" ? Effect.fail(error) : Effect.die(error)
    )
  ).pipe(Layer.provide(Layer.orDie(Vendors.layer)))

/**
 * A service with other settings until the scope ends; then it has its own again, and everybody is
 * ready.
 */
export const reconfigured = (
  name: ServiceProcess.ServiceName,
  settings: ServiceProcess.Settings
): Effect.Effect<void, never, System | Scope.Scope> =>
  Effect.gen(function* () {
    const { services } = yield* System
    const restart = (own: ServiceProcess.Settings) =>
      services[name]
        .stop()
        .pipe(
          Effect.andThen(services[name].start(own)),
          Effect.andThen(Health.ready(services.gateway.port)),
          Effect.orDie
        )
    yield* Effect.acquireRelease(restart(settings), () => restart({}))
  })
