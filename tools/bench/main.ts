/**
 * The benchmark: `npm run bench` measures one process of each service against one of the peer, in
 * turn, directly and through the gateway. It also measures what bounds the services.
 * `-- --workload stage,status` measures only these workloads. `--pairs 5`, `--seconds 2` and
 * `--connections 32` set the amount of load, and `--short` reduces it. `--write` writes the results
 * to tools/bench/results. `--profile` shows where the services spend their time instead, and with
 * `--gateway` where the gateway does.
 */
import { Console, Effect, Option } from "effect"
import { chart } from "./Chart.ts"
import { command, type Options } from "./Command.ts"
import { type Comparison, type Metrics, inTurn } from "./Comparison.ts"
import * as Database from "./Database.ts"
import * as Limits from "./Limits.ts"
import * as Load from "./Load.ts"
import { profiles } from "./Profile.ts"
import * as Program from "./Program.ts"
import { publish, type Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { comparisons, short, table } from "./Table.ts"
import * as Tenants from "./Tenants.ts"
import { type WorkloadName, workloads } from "./Workloads.ts"

type Row = readonly [title: string, comparison: Comparison]

interface BenchEnvironment extends Subjects.Environment {
  readonly ours: Subjects.Subject
  readonly peer: Subjects.Subject
  readonly gateway: Subjects.Subject
}

const prepare = Effect.gen(function* () {
  const server = yield* Database.startServer
  const database = yield* Database.make(server, "bench")
  const load = yield* Load.make
  const [one, two] = yield* Tenants.makeAll(database, ["ours", "peer"])
  if (one === undefined || two === undefined) return yield* Effect.die("There are two tenants")
  const services = yield* Subjects.startServices(database)
  const ours = Subjects.ourSubject(services, one)
  const peer = yield* Subjects.startPeer(database, two)
  const gateway = Subjects.throughGateway(ours, services)
  return { server, database, load, ours, peer, gateway } satisfies BenchEnvironment
})

const report = (title: string, { other, ours, ratio }: Comparison) => {
  const of = ({ postgresCpu, rate, serviceCpu }: Metrics) =>
    `${short(rate)}/s (CPU s per 1,000: ${short(serviceCpu)} and ${short(postgresCpu)})`
  return Console.error(`${title}: ${of(ours)} against ${of(other)}, ratio ${ratio.toFixed(2)}`)
}

const against = Effect.fnUntraced(function* (
  bench: BenchEnvironment,
  subject: Subjects.Subject,
  options: Options,
  chosen: ReadonlyArray<WorkloadName>
) {
  const rows: Array<Row> = []
  for (const workload of chosen) {
    const run = (one: Subjects.Subject) => Subjects.measure(bench, one, workload, options)
    for (const one of [subject, bench.peer]) {
      yield* Subjects.warmUp(bench, one, workload, options.connections)
    }
    const comparison = yield* inTurn(options.pairs, run(subject), run(bench.peer))
    yield* report(`${workloads[workload].title}, ${subject.name}`, comparison)
    rows.push([workloads[workload].title, comparison])
  }
  return rows
})

const bounds = Effect.fnUntraced(function* (bench: BenchEnvironment, options: Options) {
  const rows: Array<Row> = []
  for (const workload of ["stage", "status"] as const) {
    if (!options.workloads.includes(workload)) continue
    const service: Effect.Effect<Metrics, Load.WrongAnswer | Limits.CannotRun> = Subjects.measure(
      bench,
      bench.ours,
      workload,
      options
    )
    const pgbench = Limits.pgbench(bench, bench.ours, workload, Math.ceil(options.seconds))
    const comparison = yield* inTurn(options.pairs, service, pgbench)
    yield* report(`${workloads[workload].title} against pgbench`, comparison)
    rows.push([`${workloads[workload].title}, against pgbench`, comparison])
  }
  if (options.workloads.includes("stage")) {
    const bare = yield* Program.start({ script: "tools/bench/bareServer.ts", settings: {} })
    const nothing = { ...bench.ours, urlOf: () => bare.url, pidsOf: () => [bare.pid] }
    const run = (subject: Subjects.Subject) => Subjects.measure(bench, subject, "stage", options)
    const comparison = yield* inTurn(options.pairs, run(bench.ours), run(nothing))
    yield* report("stage against node:http", comparison)
    rows.push(["stage, new, against node:http", comparison])
  }
  return rows
})

const offline = Effect.fnUntraced(function* (seconds: number) {
  const { bytes, perSecond } = yield* Limits.offline(seconds)
  return table(["accounts/s on one core", "bytes an account"], [[short(perSecond), short(bytes)]])
})

/** Beyond its capacity a service may refuse requests. Such a run gives no point of the chart. */
const refused = (message: string) => Console.error(`No measurement: ${message}`)

const concurrencies = [1, 2, 4, 8, 16, 32, 64, 128, 256]

const byConcurrency = Effect.fnUntraced(function* (
  bench: BenchEnvironment,
  workload: WorkloadName,
  options: Options
) {
  const points = { ours: [] as Array<[number, number]>, peer: [] as Array<[number, number]> }
  const seconds = options.seconds / 2
  for (const connections of options.short ? [1, 32, 256] : concurrencies) {
    for (const subject of ["ours", "peer"] as const) {
      const run = Subjects.measure(bench, bench[subject], workload, { connections, seconds })
      const sample = yield* Effect.option(Effect.tapError(run, ({ message }) => refused(message)))
      if (Option.isSome(sample)) points[subject].push([connections, sample.value.rate])
    }
  }
  return chart({
    title: `Throughput of ${workloads[workload].title}, one process each`,
    xLabel: "connections",
    yLabel: "requests a second",
    series: [
      { name: "service", points: points.ours },
      { name: "peer", points: points.peer }
    ]
  })
})

const charted: ReadonlyArray<WorkloadName> = ["stage", "status"]
const throughGateway: ReadonlyArray<WorkloadName> = [
  "validate",
  "stage",
  "process",
  "status",
  "transactions"
]

const compare = Effect.fnUntraced(function* (options: Options) {
  const bench = yield* prepare
  if (options.workloads.includes("transactions")) {
    yield* Subjects.importAccounts(bench, bench.ours)
    yield* Subjects.importAccounts(bench, bench.peer)
  }
  const chosen = (among: ReadonlyArray<WorkloadName>) =>
    among.filter((workload) => options.workloads.includes(workload))
  const direct = yield* against(bench, bench.ours, options, options.workloads)
  const passed = yield* against(bench, bench.gateway, options, chosen(throughGateway))
  const bounding = yield* bounds(bench, options)
  const charts: Record<string, string> = {}
  for (const workload of chosen(charted)) {
    charts[`${workload}.svg`] = yield* byConcurrency(bench, workload, options)
  }
  const sections: ReadonlyArray<Section> = [
    { title: "One service process against the peer", text: comparisons(direct) },
    { title: "Through the gateway against the peer alone", text: comparisons(passed) },
    { title: "Against what bounds it", text: comparisons(bounding) },
    { title: "The domain library by itself", text: yield* offline(options.seconds) }
  ]
  yield* publish("speed", "bench", "Throughput", sections, charts, options.write)
})

command((options) =>
  Effect.gen(function* () {
    yield* options.profile ? profiles(options) : compare(options)
  })
)
