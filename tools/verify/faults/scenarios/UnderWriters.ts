/**
 * Faults under writers, one after the other at random moments: SIGKILL, a bad network, a full disk,
 * a rollout. Everything acknowledged is stored once and completely, requests that do not need the
 * failing part are not affected, and the system recovers without further help.
 */
import { Data, Duration, Effect, Schedule, Schema, type Scope } from "effect"
import { rowsOf } from "@data-import/postgres/connection/Database"
import * as TcpProxy from "@data-import/postgres/testing/TcpProxy"
import { codeOf } from "@data-import/testbed/Client"
import * as Health from "@data-import/testbed/Health"
import { gone } from "@data-import/testbed/PostgresProcess"
import type { ServiceProcess } from "@data-import/testbed/ServiceProcess"
import { reconfigured, System } from "@data-import/testbed/System"
import type { ServiceName } from "@data-import/testbed/Wiring"
import type { Probe, Stalled } from "../Probe.ts"
import type { Figure } from "../Report.ts"
import * as Requests from "../Requests.ts"
import {
  allAnswer,
  type Scenario,
  seconds,
  settle,
  startWorkload,
  type Workload,
  writers
} from "../Scenario.ts"
import * as Session from "../Session.ts"

/** Makes a fault and mends it. Returns the seconds until clients are answered again. */
type Strike = (working: Workload) => Effect.Effect<number, Error, System | Scope.Scope>

/** The writers, and others that do not need the part that fails. */
interface Workloads {
  readonly working: Workload
  readonly others?: Workload
}

interface Row extends Pick<Scenario, "about" | "diskMegabytes" | "instances" | "name" | "proxied"> {
  /** The service whose answers time the faults. */
  readonly watched: ServiceName
  /** They are made one after the other in each round. */
  readonly strikes: ReadonlyArray<Strike>
  /** How many rounds the short and the long form have. */
  readonly rounds: readonly [short: number, long: number]
  /** Starts the writers; sixteen for a new tenant unless given. */
  readonly begin?: Effect.Effect<Workloads, Error, System | Scope.Scope>
  readonly recoveryLimit?: number
  /** How many requests may fail; any number unless given. */
  readonly mostFailed?: number
}

const refusedTo = ({ traffic }: Workload): Figure => {
  const refused = traffic.refusals()
  const kinds = new Set(refused.map((answer) => `${answer.status} ${codeOf(answer)}`))
  const unit = ["times", ...kinds].join(" ")
  return { name: "refused to others", value: refused.length, unit, atMost: 0 }
}

const scenarioOf = ({
  begin = Effect.map(startWorkload({}), (working) => ({ working })),
  mostFailed = Infinity,
  recoveryLimit = 5,
  rounds: [short, long],
  strikes,
  watched,
  ...row
}: Row): Scenario => ({
  ...row,
  short: { kills: short, count: 0 },
  long: { kills: long, count: 0 },
  run: Effect.fnUntraced(function* ({ kills }) {
    const { random } = yield* System
    const { others, working } = yield* begin
    const { traffic } = working
    const recoveries: Array<number> = []
    for (const strike of Array.from({ length: kills }, () => strikes).flat()) {
      yield* traffic.probe.more(watched, random.between(10, 60))
      yield* Effect.sleep(Duration.millis(random.between(0, 20)))
      recoveries.push(yield* strike(working))
    }
    yield* traffic.finish
    const { acknowledged, findings } = yield* settle(working)
    const failed = { name: "sent again", value: traffic.repeats(), unit: "times" }
    const figures = [{ ...failed, ...(mostFailed < Infinity && { atMost: mostFailed }) }]
    if (others === undefined) return { acknowledged, findings, recoveries, recoveryLimit, figures }
    yield* others.traffic.finish
    const besides = yield* settle(others)
    return {
      acknowledged: acknowledged + besides.acknowledged,
      findings,
      recoveries,
      recoveryLimit,
      figures: [...figures, refusedTo(others)]
    }
  })
})

const killService =
  (name: ServiceName): Strike =>
  ({ traffic }) =>
    Effect.gen(function* () {
      const { services } = yield* System
      yield* services[name].kill()
      return yield* seconds(Effect.andThen(services[name].start(), traffic.probe.more(name, 1)))
    })

const killPostgres: Strike = Effect.fnUntraced(function* ({ traffic }) {
  const { postgres } = yield* System
  yield* postgres.kill
  yield* postgres.start
  return yield* seconds(allAnswer(traffic.probe))
})

const pids = rowsOf(Schema.Struct({ pid: Schema.Int }))

/** Kills a backend of the services. The server ends all backends then, and restarts. */
const killBackend: Strike = Effect.fnUntraced(function* ({ traffic }) {
  const { database, random } = yield* System
  const { run, sql } = database
  const running = yield* run(
    pids(sql`
      select pid from pg_stat_activity
      where application_name = 'data-import' and pid <> pg_backend_pid() order by pid`)
  )
  const victim = running[random.between(0, running.length - 1)]
  if (victim !== undefined) process.kill(victim.pid, "SIGKILL")
  yield* Effect.forEach(running, ({ pid }) => gone(pid), { discard: true })
  const schedule = Schedule.spaced(Duration.millis(10))
  yield* Effect.retry(database.ready, { times: 3_000, schedule })
  return yield* seconds(allAnswer(traffic.probe))
})

/** The ways in which a network fails, and how long each lasts. */
const networkFaults: ReadonlyArray<
  readonly [
    mode: TcpProxy.Mode,
    lasts: (probe: Probe, service: ServiceName) => Effect.Effect<void, Stalled, System>
  ]
> = [
  [{ _tag: "Slow", millis: 20 }, (probe, service) => probe.more(service, 2 * writers)],
  [{ _tag: "Reset" }, (probe) => probe.more("refusal", 2 * writers)],
  [
    { _tag: "Silent" },
    () =>
      Effect.flatMap(System, ({ random }) =>
        Effect.sleep(Duration.millis(random.between(500, 4_000)))
      )
  ],
  [{ _tag: "Refuse" }, (probe) => probe.more("refusal", 2 * writers)]
]

/** Each fault of the network behind a proxy, which the service uses. */
const disturb = (
  to: "databaseProxy" | "storeProxy" | "vendorProxy",
  service: ServiceName,
  recovered = (probe: Probe) => probe.more(service, 1)
): ReadonlyArray<Strike> =>
  networkFaults.map(([mode, lasts]) =>
    Effect.fnUntraced(function* ({ traffic: { probe } }) {
      const proxy = (yield* System)[to]
      const disturbed = Effect.andThen(TcpProxy.inMode(proxy, mode), lasts(probe, service))
      yield* Effect.scoped(disturbed)
      return yield* seconds(recovered(probe))
    })
  )

/** Fewer than the writers that need the network, so that most of the work is theirs. */
const fewWriters = 4

const withDocuments = Effect.gen(function* () {
  const working = yield* startWorkload({ tenant: yield* (yield* System).checkedTenant })
  const { findings } = working
  return { working, others: yield* startWorkload({ findings, writers: fewWriters }) }
})

const withInstructions = Effect.gen(function* () {
  // Shorter than the silence, so that the timeout is reached.
  yield* reconfigured("post-import", { PAYMENT_STRIPE_TIMEOUT: "1 second" })
  const working = yield* startWorkload({ additions: ["instruction"] })
  const additions = ["notes", "transactions", "statements"] as const
  const { findings } = working
  return { working, others: yield* startWorkload({ findings, additions, writers: fewWriters }) }
})

/** A new cluster takes 40 MB; the rows of a long run and their log take more than 200 MB. */
const diskMegabytes = 512

/** The system has no disk that can be filled. */
class NoDisk extends Data.TaggedError("NoDisk") {}

/** Starts PostgreSQL whenever it does not run. A start fails while the disk is full. */
const supervised = Effect.gen(function* () {
  const { disk, postgres } = yield* System
  if (disk === undefined) return yield* new NoDisk()
  const supervise = Effect.andThen(Effect.ignore(postgres.start), Effect.sleep("100 millis"))
  yield* Effect.forkScoped(Effect.forever(supervise))
  yield* Effect.addFinalizer(() => disk.free)
  return { working: yield* startWorkload({}) }
})

/**
 * Fills the disk. First there is no room for rows: writes are refused, and reads are answered. Then
 * there is no room for the write-ahead log either, which ends the server.
 */
const fillDisk: Strike = Effect.fnUntraced(function* ({ findings, tenant, traffic }) {
  const { database, disk, random } = yield* System
  if (disk === undefined) return yield* new NoDisk()
  const session = yield* Session.open(tenant, 1)
  yield* disk.fill
  yield* traffic.probe.more("refusal", 2 * writers)
  const number = traffic.writes.entries[0]?.number ?? ""
  const { status } = yield* session.send(Requests.status(tenant, number))
  if (status !== 200) findings.add("wrong", `${number} is answered ${status} on a full disk`)
  const { run, sql } = database
  const write = run(
    sql`select pg_logical_emit_message(false, 'faults', repeat('x', 1000000))::text`
  )
  yield* Effect.ignore(Effect.forever(write))
  yield* Effect.sleep(Duration.millis(random.between(500, 2_000)))
  yield* disk.free
  return yield* seconds(allAnswer(traffic.probe))
})

/**
 * Restarts these with SIGTERM at the same moment. A service keeps answering for the drain delay.
 * The gateway asks each instance once a second, and sends nothing to one that is not ready.
 */
const restart = Effect.fnUntraced(function* (instances: ReadonlyArray<ServiceProcess>) {
  yield* Effect.forEach(
    instances,
    (instance) =>
      Effect.andThen(
        Effect.andThen(instance.stop(), instance.start()),
        Health.instanceReady(instance.port)
      ),
    { concurrency: "unbounded", discard: true }
  )
  yield* Effect.sleep(Duration.seconds(2))
})

/** Restarts all instances in groups, one group after the other. */
const rollOut =
  (
    groupsOf: (
      instances: ReadonlyArray<ServiceProcess>
    ) => ReadonlyArray<ReadonlyArray<ServiceProcess>>
  ): Strike =>
  ({ traffic: { probe } }) =>
    Effect.gen(function* () {
      const { instances } = yield* System
      for (const group of groupsOf(instances)) {
        yield* restart(group)
        yield* probe.more("gateway", 10)
        yield* allAnswer(probe)
      }
      return 0
    })

/** The first instance of each service, and then the second of each. */
const waves = (instances: ReadonlyArray<ServiceProcess>) => {
  const byName = [...Map.groupBy(instances, ({ name }) => name).values()]
  return [0, 1].map((index) => byName.flatMap((all) => all.slice(index, index + 1)))
}

const services = ["account-import", "post-import", "query", "auth", "gateway"] as const
const kinds = "slow, silent, reset and refused"

const rows: ReadonlyArray<Row> = [
  ...services.map((name) => ({
    name: `kill-${name}`,
    about: `SIGKILL of ${name} under ${writers} writers`,
    watched: name,
    strikes: [killService(name)],
    rounds: [3, 20] as const
  })),
  {
    name: "kill-postgres",
    about: `SIGKILL of the postmaster under ${writers} writers`,
    watched: "account-import",
    strikes: [killPostgres],
    rounds: [3, 20]
  },
  {
    name: "kill-backend",
    about: `SIGKILL of a PostgreSQL backend under ${writers} writers`,
    watched: "account-import",
    strikes: [killBackend],
    rounds: [3, 20]
  },
  {
    name: "database-network",
    about: `the network to PostgreSQL is ${kinds}, under ${writers} writers`,
    proxied: true,
    watched: "account-import",
    strikes: disturb("databaseProxy", "account-import", allAnswer),
    rounds: [1, 20]
  },
  {
    name: "store-network",
    about: `the network to the document store is ${kinds}, under ${writers} writers with documents`,
    begin: withDocuments,
    watched: "account-import",
    strikes: disturb("storeProxy", "account-import"),
    rounds: [1, 20]
  },
  {
    name: "vendor-network",
    about: `the network to the vendors is ${kinds}, under ${writers} writers with instructions`,
    begin: withInstructions,
    watched: "post-import",
    strikes: disturb("vendorProxy", "post-import"),
    rounds: [1, 10],
    // The circuit breaker is open for ten seconds, and then lets one probe through.
    recoveryLimit: 12
  },
  {
    name: "disk-full",
    about: `a disk of ${diskMegabytes} MB is full under ${writers} writers, for rows and the log`,
    diskMegabytes,
    begin: supervised,
    watched: "account-import",
    strikes: [fillDisk],
    rounds: [1, 20]
  },
  {
    name: "rolling-restart",
    about: `two instances of each service are restarted in turn, under ${writers} writers`,
    instances: 2,
    watched: "gateway",
    strikes: [rollOut((instances) => instances.map((instance) => [instance]))],
    rounds: [1, 5],
    mostFailed: 0
  },
  {
    name: "rollout-at-once",
    about: "of two instances, one of every service is restarted at the same moment, then the other",
    instances: 2,
    // So few that no request is refused for overload while processes start beside the others.
    begin: Effect.map(startWorkload({ writers: fewWriters }), (working) => ({ working })),
    watched: "gateway",
    strikes: [rollOut(waves)],
    rounds: [1, 5],
    mostFailed: 0
  }
]

export const underWriters: ReadonlyArray<Scenario> = rows.map(scenarioOf)
