/**
 * Five times as many requests as a service can answer. What is too much must be refused fast and
 * with a word on when to come again, and what is answered must be nearly as much as at the peak:
 * nobody's work is begun and then thrown away. The service is made slow by a network that is, and
 * by few connections, so that not the load itself is what this machine is busy with.
 */
import { Duration, Effect } from "effect"
import type * as Client from "../Client.ts"
import { Findings } from "../Findings.ts"
import * as Load from "../Load.ts"
import type { Figure } from "../Report.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds, writers } from "../Scenario.ts"
import type { ServiceName } from "../ServiceProcess.ts"
import * as Session from "../Session.ts"
import { reconfigured, System, type Tenant } from "../System.ts"

const times = 5
const connections = 4
const slow = { _tag: "Slow", millis: 10 } as const
const pass = { _tag: "Pass" } as const

/** Enough accounts for notes that nobody has to wait for another's account. */
const noted = 64

/** One kind of request, and what must be there before so many of it can be sent. */
interface Kind {
  readonly name: string
  readonly service: ServiceName
  readonly prepare: (
    session: Session.Session,
    tenant: Tenant,
    from: number,
    to: number
  ) => Effect.Effect<void, Client.Unanswered>
  readonly request: (tenant: Tenant, index: number) => Client.Request
}

const number = (index: number): string => `O-${index}`

const stageAll: Kind["prepare"] = (session, tenant, from, to) =>
  Effect.forEach(
    Array.from({ length: to - from }, (_, index) => from + index),
    (index) => session.settle(Requests.stage(tenant, number(index), "overload")),
    { concurrency: writers, discard: true }
  )

const kinds: ReadonlyArray<Kind> = [
  {
    name: "status",
    service: "query",
    prepare: (session, tenant, from) =>
      from === 0 ? stageAll(session, tenant, 0, 1) : Effect.void,
    request: (tenant) => Requests.status(tenant, number(0))
  },
  {
    name: "stage",
    service: "account-import",
    prepare: () => Effect.void,
    request: (tenant, index) => Requests.stage(tenant, number(index), "overload")
  },
  {
    name: "process",
    service: "account-import",
    prepare: stageAll,
    request: (tenant, index) => Requests.process(tenant, number(index))
  },
  {
    name: "notes",
    service: "post-import",
    prepare: Effect.fnUntraced(function* (session, tenant, from) {
      if (from > 0) return
      yield* stageAll(session, tenant, 0, noted)
      yield* Effect.forEach(
        Array.from({ length: noted }, (_, index) => number(index)),
        (one) => session.settle(Requests.process(tenant, one)),
        { concurrency: writers, discard: true }
      )
    }),
    request: (tenant, index) => Requests.note(tenant, number(index % noted), `note ${index}`)
  }
]

const isServed = ({ status }: Load.Sample): boolean => status === 200 || status === 201

/** How many a second were answered well between two instants of the load. */
const rateOf = (samples: ReadonlyArray<Load.Sample>, from: number, to: number): number =>
  samples.filter((it) => isServed(it) && it.at + it.millis >= from && it.at + it.millis < to)
    .length /
  ((to - from) / 1_000)

const check = (kind: Kind, samples: ReadonlyArray<Load.Sample>, findings: Findings) => {
  for (const sample of samples) {
    const { retryAfter, status } = sample
    if (isServed(sample) || (status === 503 && retryAfter !== null)) continue
    findings.add("wrong", `${kind.name}: ${status}, Retry-After ${retryAfter}`)
  }
}

/** What is measured of one kind. */
const overload = Effect.fnUntraced(function* (kind: Kind, lastsSeconds: number) {
  const { databaseProxy, freshTenant } = yield* System
  const findings = new Findings()
  const tenant = yield* freshTenant
  const session = yield* Session.open(tenant, Infinity)
  const set = (mode: typeof slow | typeof pass) => Effect.promise(() => databaseProxy.set(mode))
  yield* Effect.addFinalizer(() => set(pass))
  yield* reconfigured(kind.service, { DATABASE_POOL_SIZE: String(connections) })
  const lasts = Duration.seconds(lastsSeconds)
  let index = 0
  const next = () => kind.request(tenant, index++)

  const mostAtPeak = lastsSeconds * 200
  yield* kind.prepare(session, tenant, 0, mostAtPeak)
  yield* set(slow)
  const side = { sideBySide: writers, pause: Duration.zero }
  yield* Load.closed(session, next, { ...side, lasts: Duration.seconds(1) })
  const calm = yield* Load.closed(session, next, { ...side, lasts })
  const peak = rateOf(calm, 0, lastsSeconds * 1_000)
  const rate = times * peak

  yield* set(pass)
  yield* kind.prepare(session, tenant, mostAtPeak, index + Math.ceil(rate * lastsSeconds) + 1)
  yield* set(slow)
  const crowd = yield* Effect.scoped(Load.open(session, next, { rate, lasts }))
  const recovery = yield* seconds(Effect.asVoid(session.settle(next())))
  check(kind, [...calm, ...crowd], findings)
  const goodput = rateOf(crowd, lastsSeconds * 250, lastsSeconds * 1_000) / peak
  const refused = crowd.filter(({ status }) => status === 503).map(({ millis }) => millis)
  const figures: ReadonlyArray<Figure> = [
    { name: `${kind.name} at the peak`, value: peak, unit: "a second" },
    { name: "goodput", value: goodput, unit: "of it", atLeast: 0.9 },
    { name: "refused", value: refused.length, unit: `of ${crowd.length}` },
    { name: "p99 of refusals", value: Load.quantile(refused, 0.99), unit: "ms", atMost: 100 }
  ]
  const acknowledged = crowd.filter(isServed).length
  return { acknowledged, findings, figures, recoveries: [recovery] }
}, Effect.scoped)

const scenarioOf = (kind: Kind): Scenario => ({
  name: `overload-${kind.name}`,
  about: `${times} times as many requests for ${kind.name} as can be answered`,
  short: { kills: 0, count: 1 },
  long: { kills: 0, count: 8 },
  proxied: true,
  run: ({ count }) => overload(kind, count)
})

export const overloads: ReadonlyArray<Scenario> = kinds.map(scenarioOf)
