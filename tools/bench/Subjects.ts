/**
 * The subjects of a measurement: the services as separate processes, the same behind the gateway,
 * and the peer on the same database. Each has its own tenant.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted, Schedule } from "effect"
import { vacuum } from "@data-import/postgres/testing/databases"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import * as Client from "@data-import/testbed/Client"
import type { Tenant } from "@data-import/testbed/Tenants"
import { tokenFor } from "@data-import/testbed/Tokens"
import { allocationArgs, withAllocations } from "./Allocations.ts"
import {
  install,
  type Installation,
  type Process,
  startProcess,
  startServer
} from "./Installation.ts"
import type { LoadRequest } from "./Load.ts"
import { type Owner, type Side, stage } from "./Staging.ts"
import { cpuSeconds, postgresCpuSeconds } from "./Usage.ts"
import { type WorkloadName, workloads } from "./Workloads.ts"

/** A system that answers the workloads. */
export interface Subject {
  readonly name: string
  /** The side whose tables it works on. */
  readonly side: Side
  readonly installation: Installation
  readonly tenant: Tenant
  /** The processes that take part in a workload; requests go to the first. */
  readonly processesOf: (workload: WorkloadName) => readonly [Process, ...ReadonlyArray<Process>]
  /** The next unused number of each workload. */
  readonly next: Map<WorkloadName, number>
  /** The prefixes of the accounts that have been staged for all runs. */
  readonly staged: Set<string>
}

export const services = Effect.fnUntraced(function* (installation: Installation) {
  return {
    name: "service",
    side: "services",
    installation,
    tenant: yield* installation.freshTenant,
    processesOf: (workload) => [installation.services[workloads[workload].service]],
    next: new Map(),
    staged: new Set()
  } satisfies Subject
})

/** The same services and numbers behind the gateway. */
export const throughGateway = (subject: Subject): Subject => ({
  ...subject,
  name: "gateway",
  processesOf: (workload) => [
    subject.installation.services.gateway,
    ...subject.processesOf(workload)
  ]
})

const startPeer = Effect.fnUntraced(function* (installation: Installation) {
  const { allocations, documents, services, url } = installation
  const jwksFile = join(yield* temporaryFolder(), "jwks.json")
  const published = fetch(`${services.auth.url}/.well-known/jwks.json`)
  writeFileSync(jwksFile, yield* Effect.promise(async () => (await published).text()))
  const settings = {
    DATABASE_URL: Redacted.value(url),
    JWKS_FILE: jwksFile,
    DOCUMENTS_DIR: documents,
    ALLOCATIONS_DIR: allocations
  }
  const program = { script: "tools/bench/peer/main.ts", nodeArgs: allocationArgs }
  const peer = yield* startProcess("peer", settings, program)
  return {
    name: "peer",
    side: "peer",
    installation,
    tenant: yield* installation.freshTenant,
    processesOf: () => [peer],
    next: new Map(),
    staged: new Set()
  } satisfies Subject
})

export type Amount = Pick<LoadRequest, "connections" | "requests" | "seconds">

/** The order of load for a subject, with a new token, because a token lives an hour. */
const loadFor = Effect.fnUntraced(function* (
  { installation, next, processesOf, tenant }: Subject,
  workload: WorkloadName,
  amount: Amount
) {
  const client = yield* Client.make(installation.services.gateway.port)
  const token = yield* Effect.orDie(tokenFor(client, tenant.apiKey))
  const { url } = processesOf(workload)[0]
  const first = next.get(workload) ?? 0
  const { supplier } = tenant
  return { ...amount, workload, url, supplier, first, token } satisfies LoadRequest
}, Effect.scoped)

/** More than any side processes in a second. */
const processedPerSecond = 2_000

/** Assigning positions to the events of the services loads PostgreSQL, so a run waits for it. */
const untilNumbered = ({ query }: Installation) =>
  Effect.repeat(query("select from outbox where position is null limit 1"), {
    schedule: Schedule.spaced("100 millis"),
    while: ({ length }) => length > 0
  })

/** Stages what a run of this workload needs; returns the maximum number of its requests. */
const prepare = Effect.fnUntraced(function* (
  { installation, next, side, staged: done, tenant }: Subject,
  workload: WorkloadName,
  { requests, seconds }: Amount
) {
  const { staged } = workloads[workload]
  const owner: Owner = { supplier: tenant.supplier, organisation: tenant.organisation }
  if (workload === "process") {
    const from = next.get(workload) ?? 0
    const count = requests ?? Math.ceil(seconds * processedPerSecond)
    yield* stage(installation, side, owner, { prefix: "P", from, to: from + count })
    yield* untilNumbered(installation)
    return count
  }
  if (staged !== null && !done.has(staged.prefix)) {
    const { count: to, prefix } = staged
    yield* stage(installation, side, owner, { prefix, from: 0, to })
    done.add(prefix)
  }
  return requests
})

/** One run of load on one subject. */
export const measure = Effect.fnUntraced(function* (
  subject: Subject,
  workload: WorkloadName,
  amount: Amount
) {
  const { installation, next, processesOf } = subject
  const requests = yield* prepare(subject, workload, amount)
  const limited = { ...amount, ...(requests !== undefined && { requests }) }
  const load = yield* loadFor(subject, workload, limited)
  const used = () => ({
    service: processesOf(workload).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    postgres: postgresCpuSeconds(installation.server.pid)
  })
  const before = used()
  const { p50, p99, requests: sent, seconds } = yield* installation.server.load.run(load)
  const after = used()
  next.set(workload, load.first + (requests ?? sent))
  const millis = (spent: number) => (1_000 * spent) / Math.max(sent, 1)
  return {
    rate: sent / seconds,
    p50,
    p99,
    serviceCpu: millis(after.service - before.service),
    postgresCpu: millis(after.postgres - before.postgres)
  }
})

/** Requests whose allocations are counted. */
const sampledRequests = 1_000

/** The bytes that the processes of a subject allocate for a request. */
export const allocated = Effect.fnUntraced(function* (
  subject: Subject,
  workload: WorkloadName,
  amount: Amount
) {
  const load = { ...amount, seconds: 300, requests: sampledRequests }
  const { bytes } = yield* withAllocations(
    subject.installation.allocations,
    subject.processesOf(workload),
    measure(subject, workload, load)
  )
  return bytes / sampledRequests
})

/** Rates rise during so many runs after a start, while Node compiles the hot code, and then little. */
const runsAfterStart = 8

/**
 * Load that is not measured. The subjects take turns: after some seconds of waiting, a service
 * takes twice the time for its next requests.
 */
export const warmUp = (subjects: ReadonlyArray<Subject>, workload: WorkloadName, amount: Amount) =>
  Effect.repeat(
    Effect.forEach(subjects, (one) => measure(one, workload, amount)),
    { times: runsAfterStart - 1 }
  )

/**
 * Processes the imports to which transactions are added, through the subject's own process. Then
 * it analyzes the tables: plans would change when autovacuum does so first, while load runs.
 */
export const importAccounts = Effect.fnUntraced(function* (subject: Subject) {
  const requests = workloads.importing.staged.count
  yield* measure(subject, "importing", { connections: 8, seconds: 300, requests })
  yield* Effect.orDie(vacuum(subject.installation.url))
})

/** The services and the peer on one database, with a tenant each. */
export const start = Effect.fnUntraced(function* (profiles?: string) {
  const installation = yield* install(yield* startServer, "bench", {
    documentCheck: true,
    profiles
  })
  const ours = yield* services(installation)
  const peer = yield* startPeer(installation)
  yield* Effect.forEach([ours, peer], importAccounts)
  return { ours, peer }
})
