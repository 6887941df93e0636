/**
 * The subjects of a measurement: the services as separate processes, the same behind the gateway,
 * and the peer. All use one database, and each has a tenant of its own.
 */
import { join } from "node:path"
import { Effect } from "effect"
import { TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { type Database, type Server, stageMany, temporaryFolder } from "./Database.ts"
import type { Load, LoadRequest, LoadResult } from "./Load.ts"
import * as Program from "./Program.ts"
import type { Tenant } from "./Tenants.ts"
import { cpuSeconds, postgresCpuSeconds } from "./Usage.ts"
import { listLength, type Workload, type WorkloadName, workloads } from "./Workloads.ts"

/** A system that answers the workloads. */
export interface Subject {
  readonly name: string
  readonly tenant: Tenant
  /** Where the requests of a workload go. */
  readonly urlOf: (workload: WorkloadName) => string
  /** The processes that take part in a workload. */
  readonly pidsOf: (workload: WorkloadName) => ReadonlyArray<number>
  /** The next unused number of each workload. */
  readonly next: Map<WorkloadName, number>
}

export type Services = Readonly<Record<Workload["service"] | "gateway", Program.Program>>

/** Connections of one process to the database; the same for the services and the peer. */
const poolSize = "10"

const settingsFor = Effect.fnUntraced(function* (database: Database) {
  const { jwksFile } = yield* TokenIssuer
  return {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: poolSize,
    JWKS_FILE: jwksFile,
    DOCUMENTS_DIR: join(yield* temporaryFolder, "documents")
  }
})

/** As in docker/Dockerfile. */
const memoryArgs = ["--max-semi-space-size=8"]

/** Starts one process of each service, and a gateway; the rest is for all of them. */
export const startServices = Effect.fnUntraced(function* (
  database: Database,
  nodeArgs: ReadonlyArray<string> = [],
  more: Program.Options["settings"] = {}
) {
  const settings = { ...(yield* settingsFor(database)), ...more }
  const args = [...memoryArgs, ...nodeArgs]
  const start = (name: string) =>
    Program.start({ script: `services/${name}/src/main.ts`, settings, nodeArgs: args })
  const services = {
    "account-import": yield* start("account-import"),
    "post-import": yield* start("post-import"),
    query: yield* start("query")
  }
  const gateway = yield* Program.start({
    script: "services/gateway/src/main.ts",
    settings: {
      ACCOUNT_IMPORT_URL: services["account-import"].url,
      POST_IMPORT_URL: services["post-import"].url,
      QUERY_URL: services.query.url,
      // The measured workloads do not pass it.
      AUTH_URL: services.query.url,
      ...more
    },
    nodeArgs: args
  })
  return { ...services, gateway } satisfies Services
})

export const ourSubject = (services: Services, tenant: Tenant): Subject => ({
  name: "service",
  tenant,
  urlOf: (workload) => services[workloads[workload].service].url,
  pidsOf: (workload) => [services[workloads[workload].service].pid],
  next: new Map()
})

/** The same services and numbers behind the gateway. */
export const throughGateway = (subject: Subject, { gateway }: Services): Subject => ({
  ...subject,
  name: "gateway",
  urlOf: () => gateway.url,
  pidsOf: (workload) => [gateway.pid, ...subject.pidsOf(workload)]
})

export const startPeer = Effect.fnUntraced(function* (database: Database, tenant: Tenant) {
  const settings = yield* settingsFor(database)
  const { pid, url } = yield* Program.start({ script: "tools/bench/peer/main.ts", settings })
  return {
    name: "peer",
    tenant,
    urlOf: () => url,
    pidsOf: () => [pid],
    next: new Map()
  } satisfies Subject
})

/** What one run of load gave. */
export interface Sample extends LoadResult {
  /** Requests a second. */
  readonly rate: number
  /** Processor seconds per 1,000 requests. */
  readonly serviceCpu: number
  readonly postgresCpu: number
}

export type Amount = Pick<LoadRequest, "connections" | "rate" | "requests" | "seconds">

/** An upper bound of what one process answers, so that a run never lacks accounts. */
const processedPerSecond = 1_000

const prefixes: Partial<Record<WorkloadName, string>> = {
  restage: "S",
  status: "S",
  process: "P",
  importing: "T"
}

/** Stages what a run of this workload needs; gives the most requests that it can then have. */
const prepare = Effect.fnUntraced(function* (
  database: Database,
  { next, tenant }: Subject,
  workload: WorkloadName,
  { requests, seconds }: Amount
) {
  const { numbers } = workloads[workload]
  const prefix = prefixes[workload]
  if (workload === "process") {
    const from = next.get(workload) ?? 0
    const count = requests ?? Math.ceil(seconds * processedPerSecond)
    yield* stageMany(database, { ...tenant, prefix: "P", from, to: from + count })
    return count
  }
  if (prefix !== undefined && numbers !== null) {
    const external = `${prefix}-000000000`
    const there =
      "select from import_processes where supplier = $1 and external_account_number = $2"
    const found = yield* database.query(there, [tenant.supplier, external])
    if (found.length === 0) {
      yield* stageMany(database, { ...tenant, prefix, from: 0, to: numbers })
    }
  }
  if (workload === "list") {
    const supplier = `${tenant.supplier}_L`
    const there = "select from import_processes where supplier = $1 limit 1"
    if ((yield* database.query(there, [supplier])).length === 0) {
      yield* stageMany(database, { ...tenant, supplier, prefix: "L", from: 0, to: listLength })
    }
  }
  return requests
})

/** A failed run has used an unknown number of numbers. */
const beyondAnyRun = 1_000_000

/** One run of load on one subject. */
export const measure = Effect.fnUntraced(function* (
  { database, load, server }: Environment,
  subject: Subject,
  workload: WorkloadName,
  amount: Amount
) {
  const requests = yield* prepare(database, subject, workload, amount)
  const first = subject.next.get(workload) ?? 0
  const pids = subject.pidsOf(workload)
  const used = () => ({
    service: pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    postgres: postgresCpuSeconds(server.pid)
  })
  const before = used()
  const order = {
    workload,
    url: subject.urlOf(workload),
    token: subject.tenant.token,
    supplier: subject.tenant.supplier,
    first,
    ...amount,
    ...(requests !== undefined && { requests })
  }
  const leave = Effect.sync(() => subject.next.set(workload, first + beyondAnyRun))
  const outcome = yield* Effect.tapError(load.run(order), () => leave)
  const after = used()
  subject.next.set(workload, first + (requests ?? outcome.requests))
  const thousands = Math.max(outcome.requests, 1) / 1_000
  return {
    ...outcome,
    rate: outcome.requests / outcome.seconds,
    serviceCpu: (after.service - before.service) / thousands,
    postgresCpu: (after.postgres - before.postgres) / thousands
  } satisfies Sample
})

/** Enough for Node to compile the hot code; the seconds limit it on a slow machine. */
const warmingUp = { requests: 3_000, seconds: 10 }

/** Load that is not measured, because a process is slower before its code is compiled. */
export const warmUp = (
  environment: Environment,
  subject: Subject,
  workload: WorkloadName,
  connections: number
) => measure(environment, subject, workload, { connections, ...warmingUp })

/** What all subjects share. */
export interface Environment {
  readonly server: Server
  readonly database: Database
  readonly load: Load
}

/** Makes accounts of what is staged for the transactions, through the subject's own process. */
export const importAccounts = (environment: Environment, subject: Subject) =>
  measure(environment, subject, "importing", {
    connections: 8,
    seconds: 300,
    requests: workloads.importing.numbers
  })
