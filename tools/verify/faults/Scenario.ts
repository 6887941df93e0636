/**
 * What all scenarios have in common: they inject faults into a running system under a workload, and
 * report. The short and the long form run the same program with different sizes.
 */
import { Clock, Effect, type Scope } from "effect"
import { Findings } from "./Findings.ts"
import type { Probe, Stalled } from "./Probe.ts"
import * as Report from "./Report.ts"
import type { ServiceName } from "@data-import/testbed/Wiring"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"
import * as Traffic from "./Traffic.ts"
import { verify } from "./Verification.ts"

/** The size of a run. */
export interface Sizes {
  /** Faults in a row. */
  readonly kills: number
  /** Accounts, pairs or dry runs, as the scenario says. */
  readonly count: number
}

export interface Scenario {
  readonly name: string
  /** One sentence: what is done. */
  readonly about: string
  readonly short: Sizes
  readonly long: Sizes
  /** The services reach PostgreSQL through the proxy. */
  readonly proxied?: boolean
  /** How many instances of the gateway and of each service there are; one unless given. */
  readonly instances?: number
  /** The size of the file system of PostgreSQL's data, if it matters. */
  readonly diskMegabytes?: number
  readonly run: (sizes: Sizes) => Effect.Effect<Partial<Report.Report>, Error, System | Scope.Scope>
}

export const writers = 16

/** The context of a scenario with writers. */
export interface Workload {
  readonly tenant: Tenant
  readonly traffic: Traffic.Traffic
  readonly findings: Findings
}

export type WorkloadOptions = Partial<Traffic.Options>

/** Starts writers, for a new tenant unless one is given. */
export const startWorkload = Effect.fnUntraced(function* (options: WorkloadOptions) {
  const { random, freshTenant, port } = yield* System
  const tenant = options.tenant ?? (yield* freshTenant)
  const findings = options.findings ?? new Findings()
  const accounts = null
  const given = { random, writers, port, accounts, ...options }
  const traffic = yield* Traffic.start({ ...given, tenant, findings })
  return { tenant, traffic, findings } satisfies Workload
})

/** Compares everything acknowledged with what is stored. */
export const settle = Effect.fnUntraced(function* ({ findings, tenant, traffic }: Workload) {
  yield* verify(tenant, traffic.writes.entries, findings)
  return { acknowledged: traffic.writes.acknowledged, findings }
})

/** The services that use the database. */
const onDatabase: ReadonlyArray<ServiceName> = ["account-import", "post-import", "query", "auth"]

/** Succeeds when each service that uses the database has answered once more. */
export const allAnswer = (probe: Probe): Effect.Effect<void, Stalled> =>
  Effect.forEach(onDatabase, (service) => probe.more(service, 1), {
    concurrency: "unbounded",
    discard: true
  })

/** SIGKILL of the service, and another start. */
export const killService = Effect.fnUntraced(function* (name: ServiceName) {
  const { services } = yield* System
  yield* services[name].kill()
  yield* services[name].start()
})

/** SIGKILL of the postmaster, and another start. */
export const killPostgres = Effect.gen(function* () {
  const { postgres } = yield* System
  yield* postgres.kill
  yield* postgres.start
})

/** How long the effect takes, in seconds. */
export const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    yield* effect
    return ((yield* Clock.currentTimeMillis) - began) / 1_000
  })

/** Runs a scenario on the running system. A failure of the scenario is a finding, too. */
export const report = (
  { name, run }: Scenario,
  sizes: Sizes
): Effect.Effect<Report.Report, never, System> =>
  run(sizes).pipe(
    Effect.scoped,
    Effect.map((found) => ({ ...Report.empty(name), ...found })),
    Effect.catch((error) => {
      const findings = new Findings()
      findings.add("wrong", error.message)
      return Effect.succeed({ ...Report.empty(name), findings })
    })
  )
