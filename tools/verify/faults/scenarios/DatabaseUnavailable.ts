/**
 * A database that is down, silent, read-only or locked. As soon as one request has noticed it, the
 * others are refused fast, with Retry-After. Once the database is back, the system recovers without
 * help.
 */
import { Duration, Effect } from "effect"
import type { Findings } from "../Findings.ts"
import { quantile } from "@data-import/testbed/Quantile"
import * as Load from "../Load.ts"
import { hold } from "../DatabaseLock.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds } from "../Scenario.ts"
import { begin } from "../Work.ts"
import { reconfigured, System } from "@data-import/testbed/System"

/** A short statement timeout, so that a silent database is noticed soon. */
const statementTimeout = "4 seconds"

/**
 * Seconds: the wait for a connection, then the statement, which is given up a second after its
 * timeout.
 */
const longestWait = 8 + 4 + 1

/** Seconds: for a statement. Requests that wait for a connection are refused before that. */
const longestSilence = 4 + 1 + 1

/** Seconds without a refusal, while requests wait for an answer. */
const unnoticed = 4

/** Requests of each kind per second: more than may wait, but no load for this machine. */
const rate = 100

/** How long the load runs before the fault, so that busy services lose their database. */
const warming = Duration.seconds(1)

type Fault = Effect.Effect<Effect.Effect<void>, Error, System>

/** Sets the proxy, and returns the effect that resets it. */
const network = (mode: { readonly _tag: "Refuse" | "Silent" }): Fault =>
  Effect.gen(function* () {
    const { databaseProxy } = yield* System
    yield* Effect.promise(() => databaseProxy.set(mode))
    return Effect.promise(() => databaseProxy.set({ _tag: "Pass" }))
  })

/** Holds a lock that blocks every statement of the services. */
const lock: Fault = hold(
  (sql) => sql`lock table suppliers, import_processes in access exclusive mode`
)

/** The server answers and refuses writes, like a former primary after a failover. */
const readOnly: Fault = Effect.gen(function* () {
  const { run, sql } = (yield* System).database
  const set = (wanted: "on" | "off") =>
    run(sql.unsafe(`alter system set default_transaction_read_only = ${wanted}`)).pipe(
      Effect.andThen(run(sql`select pg_reload_conf()`))
    )
  yield* set("on")
  return Effect.asVoid(Effect.orDie(set("off")))
})

/** When the first refusal was answered. Requests that begin later can be refused at once. */
const knownAt = (samples: ReadonlyArray<Load.Sample>): number => {
  const refused = samples.filter(({ status }) => status === 503)
  return Math.min(...refused.map(({ at, millis }) => at + millis))
}

const lateOf = (samples: ReadonlyArray<Load.Sample>): ReadonlyArray<Load.Sample> => {
  const known = knownAt(samples)
  return samples.filter(({ at, status }) => status === 503 && at > known)
}

const check = (samples: ReadonlyArray<Load.Sample>, findings: Findings) => {
  for (const { retryAfter, status } of samples) {
    const isRefusal = status === 503 && retryAfter !== null
    if (isRefusal || status === 200) continue
    findings.add("wrong", `${status}, Retry-After ${retryAfter}`)
  }
}

interface Absence {
  readonly fault: Fault
  /** Seconds. */
  readonly longestAnswer: number
}

const away = Effect.fnUntraced(function* ({ fault, longestAnswer }: Absence, lastsSeconds: number) {
  yield* reconfigured("query", { DATABASE_STATEMENT_TIMEOUT: statementTimeout })
  yield* reconfigured("account-import", { DATABASE_STATEMENT_TIMEOUT: statementTimeout })
  const { findings, session, tenant } = yield* begin(Infinity)
  const requests = [Requests.status(tenant, "A-1"), Requests.stage(tenant, "A-1", "away")]
  const works = Effect.forEach(requests.toReversed(), session.settle, { discard: true })
  yield* works
  const busy = { sideBySide: 8, lasts: warming, pause: Duration.zero }
  yield* Effect.forEach(requests, (request) => Load.closed(session, () => request, busy))
  const restore = yield* Effect.acquireRelease(fault, (restore) => restore)
  const load = { rate, lasts: Duration.seconds(lastsSeconds) }
  const loads = yield* Effect.forEach(
    requests,
    (request) => Load.open(session, () => request, load),
    { concurrency: "unbounded" }
  )
  yield* restore
  const recovery = yield* seconds(works)
  const samples = loads.flat()
  check(samples, findings)
  const late = loads.flatMap(lateOf).map(({ millis }) => millis)
  const firstRefusal = Math.max(...loads.map(knownAt)) / 1_000
  const slowest = Math.max(...samples.map(({ millis }) => millis)) / 1_000
  return {
    acknowledged: 0,
    findings,
    recoveries: [recovery],
    figures: [
      { name: "refused", value: late.length, unit: `of ${samples.length}`, atLeast: 1 },
      { name: "p99 of refusals", value: quantile(late, 0.99), unit: "ms", atMost: 100 },
      { name: "first refusal", value: firstRefusal, unit: "s", atMost: unnoticed },
      { name: "slowest answer", value: slowest, unit: "s", atMost: longestAnswer }
    ]
  }
}, Effect.scoped)

const scenarioOf = (
  name: string,
  about: string,
  fault: Fault,
  longestAnswer = longestWait
): Scenario => ({
  name,
  about,
  short: { kills: 0, count: 3 },
  long: { kills: 0, count: 15 },
  proxied: true,
  run: ({ count }) => away({ fault, longestAnswer }, count)
})

export const absences: ReadonlyArray<Scenario> = [
  scenarioOf("away-refused", "nobody listens where PostgreSQL was", network({ _tag: "Refuse" })),
  scenarioOf(
    "away-silent",
    "PostgreSQL does not answer",
    network({ _tag: "Silent" }),
    longestSilence
  ),
  scenarioOf("away-locked", "every connection waits for a lock", lock),
  scenarioOf("away-read-only", "PostgreSQL answers, and takes no writes", readOnly)
]
