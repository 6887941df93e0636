/**
 * Five times as many requests as a service can answer. The surplus is refused fast, with
 * Retry-After, and the throughput stays close to its peak, because no work is begun and then
 * abandoned. A slow network and few connections limit the service, so that the load does not
 * saturate this machine. How fast the service refuses is also read from its own metrics, which
 * exclude the client's scheduling delay. The service stays ready meanwhile.
 */
import { Duration, Effect } from "effect"
import { quantile } from "@data-import/testbed/Quantile"
import * as Client from "@data-import/testbed/Client"
import type { Findings } from "../Findings.ts"
import * as Load from "../Load.ts"
import { freePort } from "@data-import/testbed/Ports"
import type { Figure } from "../Report.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds, writers } from "../Scenario.ts"
import type { ServiceName } from "@data-import/testbed/Wiring"
import { begin, process, stage, type Work } from "../Work.ts"
import { reconfigured, System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"

const times = 5
const connections = 4
const slow = { _tag: "Slow", millis: 25 } as const
/** Enough to keep every connection busy without long waits. */
const sideBySide = 2 * connections
/** How many statements can be answered per second. */
const statementRate = (connections * 1_000) / (2 * slow.millis)
const pass = { _tag: "Pass" } as const

/** Enough accounts that notes rarely wait for the same account. */
const noted = 64

/** One kind of request, and what must be stored before it can be sent. */
interface Kind {
  readonly name: string
  readonly service: ServiceName
  /** The least number of statements that it takes in sequence. */
  readonly statements: number
  readonly prepare: (work: Work, from: number, to: number) => Effect.Effect<void, Client.Unanswered>
  readonly request: (tenant: Tenant, index: number) => Client.Request
}

const number = (index: number): string => `O-${index}`

const all = (
  work: Work,
  from: number,
  to: number,
  prepare: (work: Work, number: string) => Effect.Effect<unknown, Client.Unanswered>
) =>
  Effect.forEach(
    Array.from({ length: to - from }, (_, index) => number(from + index)),
    (each) => prepare(work, each),
    { concurrency: writers, discard: true }
  )

const stageAll: Kind["prepare"] = (work, from, to) =>
  all(work, from, to, (each, number) => stage(each, number))

const kinds: ReadonlyArray<Kind> = [
  {
    name: "status",
    service: "query",
    statements: 1,
    prepare: (work, from) => (from === 0 ? stageAll(work, 0, 1) : Effect.void),
    request: (tenant) => Requests.status(tenant, number(0))
  },
  {
    name: "stage",
    service: "account-import",
    statements: 2,
    prepare: () => Effect.void,
    request: (tenant, index) => Requests.stage(tenant, number(index), "overload")
  },
  {
    name: "process",
    service: "account-import",
    statements: 4,
    prepare: stageAll,
    request: (tenant, index) => Requests.process(tenant, number(index))
  },
  {
    name: "notes",
    service: "post-import",
    statements: 2,
    prepare: (work, from) =>
      from > 0
        ? Effect.void
        : Effect.andThen(stageAll(work, 0, noted), all(work, 0, noted, process)),
    request: (tenant, index) => Requests.note(tenant, number(index % noted), `note ${index}`)
  }
]

const isServed = ({ status }: Load.Sample): boolean => status === 200 || status === 201

/** How many requests per second succeeded between two instants of the load. */
const rateOf = (samples: ReadonlyArray<Load.Sample>, from: number, to: number): number =>
  samples.filter((it) => isServed(it) && it.at + it.millis >= from && it.at + it.millis < to)
    .length /
  ((to - from) / 1_000)

const check = (kind: Kind, samples: ReadonlyArray<Load.Sample>, findings: Findings) => {
  for (const sample of samples) {
    const { code, retryAfter, status } = sample
    if (isServed(sample) || (status === 503 && retryAfter !== null)) continue
    findings.add("wrong", `${kind.name}: ${status} ${code}, Retry-After ${retryAfter}`)
  }
}

const refusedSeries = /^http_server_request_duration_seconds_(bucket|count)\{([^}]*)\} (\d+)/gm

/** The share of refusals within 100 milliseconds, by the service's own metrics. */
const refusedFast = (metrics: string): number => {
  let fast = 0
  let all = 0
  for (const [, series, labels = "", count] of metrics.matchAll(refusedSeries)) {
    if (!labels.includes(`http_response_status_code="503"`)) continue
    if (series === "count") all += Number(count)
    else if (labels.includes(`le="0.1"`)) fast += Number(count)
  }
  return all === 0 ? 1 : fast / all
}

/** Asks a service whether it is ready, ten times a second. */
const readiness = Effect.fnUntraced(function* (service: ServiceName, lasts: Duration.Duration) {
  const { services } = yield* System
  const client = yield* Client.make(services[service].port)
  const probe = { method: "GET", path: "/health/ready" } as const
  const side = { sideBySide: 1, pause: Duration.millis(100), lasts }
  return yield* Load.closed(client, () => probe, side)
})

const checkReadiness = (kind: Kind, samples: ReadonlyArray<Load.Sample>, findings: Findings) => {
  for (const { status } of samples) {
    if (status !== 200) findings.add("wrong", `${kind.name}: not ready while it works: ${status}`)
  }
}

/** Measures one kind of request. */
const overload = Effect.fnUntraced(function* (kind: Kind, lastsSeconds: number) {
  const { databaseProxy } = yield* System
  const work = yield* begin(Infinity)
  const { findings, session, tenant } = work
  const set = (mode: typeof slow | typeof pass) => Effect.promise(() => databaseProxy.set(mode))
  yield* Effect.addFinalizer(() => set(pass))
  const metricsPort = yield* freePort
  const settings = { DATABASE_POOL_SIZE: connections, METRICS_PORT: metricsPort }
  yield* reconfigured(
    kind.service,
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
  )
  const lasts = Duration.seconds(lastsSeconds)
  let index = 0
  const next = () => kind.request(tenant, index++)

  const refusedRate = sideBySide * (1_000 / Duration.toMillis(Load.afterRefusal))
  const mostRate = (1.2 * statementRate) / kind.statements + refusedRate
  const mostAtPeak = Math.ceil(mostRate * (lastsSeconds + 1))
  yield* kind.prepare(work, 0, mostAtPeak)
  yield* set(slow)
  const side = { sideBySide, pause: Duration.zero }
  yield* Load.closed(session, next, { ...side, lasts: Duration.seconds(1) })
  const calm = yield* Load.closed(session, next, { ...side, lasts })
  const peak = rateOf(calm, 0, lastsSeconds * 1_000)
  const rate = times * peak

  yield* set(pass)
  yield* kind.prepare(work, mostAtPeak, index + Math.ceil(rate * lastsSeconds) + 1)
  yield* set(slow)
  const [crowd, probes] = yield* Effect.all(
    [Effect.scoped(Load.open(session, next, { rate, lasts })), readiness(kind.service, lasts)],
    { concurrency: "unbounded" }
  )
  const recovery = yield* seconds(Effect.asVoid(session.settle(next())))
  const metrics = yield* Effect.promise(async () =>
    (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  )
  check(kind, [...calm, ...crowd], findings)
  checkReadiness(kind, probes, findings)
  const goodput = rateOf(crowd, lastsSeconds * 250, lastsSeconds * 1_000) / peak
  const refused = crowd.filter(({ status }) => status === 503).map(({ millis }) => millis)
  const served = crowd.filter(isServed).map(({ millis }) => millis)
  const figures: ReadonlyArray<Figure> = [
    { name: `${kind.name} at the peak`, value: peak, unit: "a second" },
    { name: "goodput", value: goodput, unit: "of it", atLeast: 0.9 },
    { name: "refused", value: refused.length, unit: `of ${crowd.length}` },
    { name: "p99 of refusals", value: quantile(refused, 0.99), unit: "ms", atMost: 100 },
    {
      name: "within 100 ms in the service",
      value: refusedFast(metrics),
      unit: "of them",
      atLeast: 0.99
    },
    { name: "p99 of answers", value: quantile(served, 0.99), unit: "ms" }
  ]
  const acknowledged = crowd.filter(isServed).length
  return { acknowledged, findings, figures, recoveries: [recovery] }
}, Effect.scoped)

const scenarioOf = (kind: Kind): Scenario => ({
  name: `overload-${kind.name}`,
  about: `${times} times as many requests for ${kind.name} as can be answered`,
  short: { kills: 0, count: 4 },
  long: { kills: 0, count: 15 },
  proxied: true,
  run: ({ count }) => overload(kind, count)
})

export const overloads: ReadonlyArray<Scenario> = kinds.map(scenarioOf)
