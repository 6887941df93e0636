/**
 * SIGKILL under writers: of each service, of PostgreSQL, and of one of its backends. The scenario
 * restarts what it has killed, as an orchestrator would. The rest recovers without help.
 */
import { Duration, Effect, Schedule, Schema } from "effect"
import { rowsOf } from "@data-import/postgres/connection/Database"
import { gone } from "@data-import/testbed/PostgresProcess"
import type { Probe } from "../Probe.ts"
import {
  allAnswer,
  type Scenario,
  seconds,
  settle,
  type Sizes,
  startWorkload
} from "../Scenario.ts"
import { knownOf, sampleSummaries } from "../Summaries.ts"
import type { ServiceName } from "@data-import/testbed/Wiring"
import { System } from "@data-import/testbed/System"

/** Kills repeatedly, at random moments during work. */
const killing = Effect.fnUntraced(function* <E>(
  { kills }: Sizes,
  watched: ServiceName,
  strike: (probe: Probe) => Effect.Effect<number, E, System>
) {
  const { random } = yield* System
  const working = yield* startWorkload({})
  const { findings, tenant, traffic } = working
  const { probe } = traffic
  const samples = yield* sampleSummaries(tenant, findings, () => knownOf(traffic.writes.entries))
  const recoveries: Array<number> = []
  for (let kill = 0; kill < kills; kill++) {
    yield* probe.more(watched, random.between(10, 60))
    yield* Effect.sleep(Duration.millis(random.between(0, 20)))
    recoveries.push(yield* strike(probe))
  }
  yield* traffic.finish
  const figures = [
    { name: "sent again", value: traffic.repeats(), unit: "times" },
    { name: "summaries", value: samples(), unit: "", atLeast: 1 }
  ]
  return { ...(yield* settle(working)), recoveries, figures }
})

/** `watched` is the service whose work times the kills. */
const scenario = (
  name: string,
  victim: string,
  watched: ServiceName,
  strike: (probe: Probe) => Effect.Effect<number, Error, System>
): Scenario => ({
  name: `kill-${name}`,
  about: `SIGKILL of ${victim} under 16 writers`,
  short: { kills: 3, count: 0 },
  long: { kills: 20, count: 0 },
  run: (sizes) => killing(sizes, watched, strike)
})

const killService = (name: ServiceName): Scenario =>
  scenario(
    name,
    name,
    name,
    Effect.fnUntraced(function* (probe) {
      const { services } = yield* System
      yield* services[name].kill()
      return yield* seconds(Effect.andThen(services[name].start(), probe.more(name, 1)))
    })
  )

const killPostgres = scenario(
  "postgres",
  "the postmaster",
  "account-import",
  Effect.fnUntraced(function* (probe) {
    const { postgres } = yield* System
    yield* postgres.kill
    yield* postgres.start
    return yield* seconds(allAnswer(probe))
  })
)

const pause = Schedule.spaced(Duration.millis(10))
const pids = rowsOf(Schema.Struct({ pid: Schema.Int }))

/** The backends of the services. The server restarts all of them when one is killed. */
const backends = Effect.gen(function* () {
  const { database } = yield* System
  const { run, sql } = database
  return yield* run(
    pids(sql`
      select pid from pg_stat_activity
      where application_name = 'data-import' and pid <> pg_backend_pid() order by pid`)
  )
})

/** Waits until the server has ended all its backends and accepts connections again. */
const answersAgain = Effect.fnUntraced(function* (ended: ReadonlyArray<{ readonly pid: number }>) {
  const { database } = yield* System
  yield* Effect.forEach(ended, ({ pid }) => gone(pid), { discard: true })
  yield* Effect.retry(database.ready, { times: 3_000, schedule: pause })
})

const killBackend = scenario(
  "backend",
  "a PostgreSQL backend",
  "account-import",
  Effect.fnUntraced(function* (probe) {
    const { random } = yield* System
    const running = yield* backends
    const victim = running[random.between(0, running.length - 1)]
    if (victim !== undefined) process.kill(victim.pid, "SIGKILL")
    yield* answersAgain(running)
    return yield* seconds(allAnswer(probe))
  })
)

const services: ReadonlyArray<ServiceName> = [
  "account-import",
  "post-import",
  "query",
  "auth",
  "gateway"
]

export const kills: ReadonlyArray<Scenario> = [
  ...services.map(killService),
  killPostgres,
  killBackend
]
