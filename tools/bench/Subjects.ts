/**
 * The subjects of a measurement: the services as separate processes, the same behind the gateway,
 * and the peer on the same database. Each has its own tenant.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { vacuum } from "@data-import/postgres/testing/databases"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import * as Client from "@data-import/testbed/Client"
import type { Tenant } from "@data-import/testbed/Tenants"
import { tokenFor } from "@data-import/testbed/Tokens"
import { signIn } from "./BoardUser.ts"
import { type Installation, type Process, startProcess } from "./Installation.ts"
import type { LoadRequest, LoadResult } from "./Load.ts"
import { type Side, stageMany, stageOnce, untilNumbered } from "./Staging.ts"
import { cpuSeconds, othersCpuSeconds, postgresCpuSeconds } from "./Usage.ts"
import { listPrefix, listSupplier, type WorkloadName, workloads } from "./Workloads.ts"

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
  /** Requests per second of the fastest run of each workload. */
  readonly rates: Map<WorkloadName, number>
  /** The workloads for which the processes have been warmed up since their start. */
  readonly warm: Set<WorkloadName>
}

export const services = Effect.fnUntraced(function* (installation: Installation) {
  return {
    name: "service",
    side: "services",
    installation,
    tenant: yield* installation.freshTenant,
    processesOf: (workload) => [installation.services[workloads[workload].service]],
    next: new Map(),
    rates: new Map(),
    warm: new Set()
  } satisfies Subject
})

/** The same services and numbers behind the gateway. */
export const throughGateway = (subject: Subject): Subject => ({
  ...subject,
  name: "gateway",
  warm: new Set(),
  processesOf: (workload) => [
    subject.installation.services.gateway,
    ...subject.processesOf(workload)
  ]
})

export const startPeer = Effect.fnUntraced(function* (installation: Installation) {
  const { services, url } = installation
  const jwksFile = join(yield* temporaryFolder(), "jwks.json")
  const published = fetch(`${services.auth.url}/.well-known/jwks.json`)
  writeFileSync(jwksFile, yield* Effect.promise(async () => (await published).text()))
  const settings = {
    DATABASE_URL: Redacted.value(url),
    JWKS_FILE: jwksFile,
    ...installation.documents.settings
  }
  const peer = yield* startProcess("peer", settings, { script: "tools/bench/peer/main.ts" })
  return {
    name: "peer",
    side: "peer",
    installation,
    tenant: yield* installation.freshTenant,
    processesOf: () => [peer],
    next: new Map(),
    rates: new Map(),
    warm: new Set()
  } satisfies Subject
})

/** The result of one run of load. */
export interface Sample extends LoadResult {
  /** Requests per second. */
  readonly rate: number
  /** Processor seconds per 1,000 requests. */
  readonly serviceCpu: number
  readonly postgresCpu: number
  /** How many cores were kept busy by processes that have no part in the run. */
  readonly others: number
}

export type Amount = Pick<LoadRequest, "connections" | "rate" | "requests" | "seconds">

/** The accounts that `importAccounts` has made. */
const importedAccounts = Effect.fnUntraced(function* ({ query }: Installation, supplier: string) {
  const found = yield* query(
    `select account_number as number from import_processes
     where supplier = $1 and external_account_number like $2 and account_number is not null
     order by external_account_number`,
    [supplier, `${workloads.importing.staged.prefix}-%`]
  )
  return found.map(({ number }) => String(number))
})

/** The order of load for a subject, with a new token, because a token lives an hour. */
export const loadFor = Effect.fnUntraced(function* (
  { installation, next, processesOf, tenant }: Subject,
  workload: WorkloadName,
  amount: Amount
) {
  const client = yield* Client.make(installation.services.gateway.port)
  const token = yield* Effect.orDie(tokenFor(client, tenant.apiKey))
  const { url } = processesOf(workload)[0]
  const first = next.get(workload) ?? 0
  const { apiKey, supplier } = tenant
  const isOfBoard = workloads[workload].service === "board"
  const cookie = isOfBoard ? yield* Effect.orDie(signIn(installation)) : ""
  const accounts = workload === "account" ? yield* importedAccounts(installation, supplier) : []
  return {
    ...amount,
    ...{ workload, url, supplier, first },
    ...{ token, apiKey, cookie, accounts }
  } satisfies LoadRequest
}, Effect.scoped)

/** An upper estimate of one process's rate, until it has been measured. */
const processedPerSecond = 2_000

/** The factor by which more is staged than the fastest run used, so that no run lacks accounts. */
const spare = 1.5

/** Stages what a run of this workload needs; returns the maximum number of its requests. */
const prepare = Effect.fnUntraced(function* (
  { installation, next, rates, side, tenant }: Subject,
  workload: WorkloadName,
  { requests, seconds }: Amount
) {
  const { staged } = workloads[workload]
  const { organisation, supplier } = tenant
  if (workload === "process") {
    const from = next.get(workload) ?? 0
    const rate = rates.get(workload)
    const perSecond = rate === undefined ? processedPerSecond : spare * rate
    const count = requests ?? Math.ceil(seconds * perSecond)
    const to = from + count
    yield* stageMany(installation, side, { supplier, organisation, prefix: "P", from, to })
    yield* untilNumbered(installation)
    return count
  }
  if (staged !== null) {
    const of = staged.prefix === listPrefix ? listSupplier(supplier) : supplier
    yield* stageOnce(installation, side, { supplier: of, organisation, ...staged })
  }
  return requests
})

/** A failed run has used an unknown count of numbers, so these are skipped. */
const beyondAnyRun = 1_000_000

/** One run of load on one subject. */
export const measure = Effect.fnUntraced(function* (
  subject: Subject,
  workload: WorkloadName,
  amount: Amount
) {
  const { installation, next, processesOf, rates } = subject
  const requests = yield* prepare(subject, workload, amount)
  const limited = { ...amount, ...(requests !== undefined && { requests }) }
  const load = yield* loadFor(subject, workload, limited)
  const used = () => ({
    service: processesOf(workload).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    postgres: postgresCpuSeconds(installation.server.pid),
    others: othersCpuSeconds(installation.server.pid)
  })
  const before = used()
  const leave = Effect.sync(() => next.set(workload, load.first + beyondAnyRun))
  const result = yield* Effect.tapError(installation.server.load.run(load), () => leave)
  const after = used()
  next.set(workload, load.first + (requests ?? result.requests))
  const rate = result.requests / result.seconds
  rates.set(workload, Math.max(rate, rates.get(workload) ?? 0))
  const thousands = Math.max(result.requests, 1) / 1_000
  return {
    ...result,
    rate,
    serviceCpu: (after.service - before.service) / thousands,
    postgresCpu: (after.postgres - before.postgres) / thousands,
    others: (after.others - before.others) / result.seconds
  } satisfies Sample
})

/** Rates rise during so many runs after a start, while Node compiles the hot code, and then little. */
const runsAfterStart = 8

/**
 * Load that is not measured: many runs the first time after a start, and later one. The subjects
 * take turns: after some seconds of waiting, a service takes twice the time for its next requests.
 */
export const warmUp = Effect.fnUntraced(function* (
  subjects: ReadonlyArray<Subject>,
  workload: WorkloadName,
  amount: Amount
) {
  const isWarm = subjects.every(({ warm }) => warm.has(workload))
  for (const { warm } of subjects) warm.add(workload)
  const runs = Effect.forEach(subjects, (one) => measure(one, workload, amount))
  yield* Effect.repeat(runs, { times: isWarm ? 0 : runsAfterStart - 1 })
})

/**
 * Processes the imports to which transactions are added, through the subject's own process. Then
 * it analyzes the tables: plans would change when autovacuum does so first, while load runs.
 */
export const importAccounts = Effect.fnUntraced(function* (subject: Subject) {
  const requests = workloads.importing.staged.count
  yield* measure(subject, "importing", { connections: 8, seconds: 300, requests })
  yield* Effect.orDie(vacuum(subject.installation.url))
})

/** Restarts the processes that take part in these workloads, the gateway last. */
export const restart = Effect.fnUntraced(function* (
  { processesOf, warm }: Subject,
  among: ReadonlyArray<WorkloadName>
) {
  for (const process of [...new Set(among.flatMap(processesOf))].toReversed()) {
    // Nobody needs the drain delay, which SIGINT skips.
    yield* process.stop("SIGINT")
    yield* process.start()
  }
  warm.clear()
})
