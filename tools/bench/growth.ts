/**
 * The cost of a large database: `npm run bench:growth` measures the services at 1,000, 100,000 and
 * 1,000,000 staged accounts, each in turn with a database that stays at the first size. It reports
 * sequential scans of large tables. `-- --sizes 1000,50000` takes other sizes; `--pairs`,
 * `--connections`, `--short` and `--write` are those of `npm run bench`.
 */
import { Console, Effect } from "effect"
import { chart } from "./Chart.ts"
import { command, type Options } from "./Command.ts"
import { type Comparison, inTurn } from "./Comparison.ts"
import * as Database from "./Database.ts"
import * as Lists from "./Lists.ts"
import * as Load from "./Load.ts"
import { publish } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import * as Space from "./Space.ts"
import { comparisons, table } from "./Table.ts"
import * as Tenants from "./Tenants.ts"
import { type WorkloadName, workloads } from "./Workloads.ts"

interface Installation extends Subjects.Environment {
  readonly subject: Subjects.Subject
}

/** A database with services of its own, and so many staged accounts. */
const install = Effect.fnUntraced(function* (
  server: Database.Server,
  load: Load.Load,
  name: string,
  size: number
) {
  const database = yield* Database.make(server, name)
  const [tenant] = yield* Tenants.makeAll(database, ["ours"])
  if (tenant === undefined) return yield* Effect.die("There is one tenant")
  yield* fill(database, tenant, 0, size)
  const subject = Subjects.ourSubject(yield* Subjects.startServices(database), tenant)
  return { server, database, load, subject } satisfies Installation
})

const fill = Effect.fnUntraced(function* (
  database: Database.Database,
  tenant: Tenants.Tenant,
  from: number,
  to: number
) {
  const supplier = `${tenant.supplier}_L`
  yield* Database.stageMany(database, { ...tenant, supplier, prefix: "L", from, to })
  yield* database.query("vacuum (analyze) import_processes, outbox, audit_log, audit_chains")
})

const measured: ReadonlyArray<WorkloadName> = ["stage", "restage", "process", "status"]

/** Few where the runs add to the small database, which is to stay small. */
const requestsOf = (workload: WorkloadName): number => (workload === "status" ? 10_000 : 1_000)

const compared = Effect.fnUntraced(function* (
  large: Installation,
  small: Installation,
  options: Options
) {
  const rows: Array<readonly [string, Comparison]> = []
  const { connections, pairs } = options
  for (const workload of measured) {
    const amount = { connections, seconds: 30, requests: requestsOf(workload) }
    const run = ({ subject, ...environment }: Installation) =>
      Subjects.measure(environment, subject, workload, amount)
    for (const { subject, ...environment } of [large, small]) {
      const warming = workload === "restage" || workload === "status" ? workload : "validate"
      yield* Subjects.warmUp(environment, subject, warming, connections)
    }
    const comparison = yield* inTurn(pairs, run(large), run(small))
    yield* Console.error(`${workloads[workload].title}: ratio ${comparison.ratio.toFixed(2)}`)
    rows.push([workloads[workload].title, comparison])
  }
  return rows
})

const measureSize = Effect.fnUntraced(function* (
  size: number,
  large: Installation,
  small: Installation,
  options: Options
) {
  yield* Console.error(`${size.toLocaleString("en-GB")} accounts`)
  const scannedBefore = yield* Space.scans(large.database)
  const rows = yield* compared(large, small, options)
  const list = yield* Lists.measure(large)
  const scanned = Space.newScans(scannedBefore, yield* Space.scans(large.database))
  const space = yield* Space.of(large.database)
  return { size, rows, list, scanned, space }
})

type Measured = Effect.Success<ReturnType<typeof measureSize>>

const sectionsOf = (measurements: ReadonlyArray<Measured>, first: number) => [
  ...measurements.map(({ rows, size }) => ({
    title: `${size.toLocaleString("en-GB")} accounts against ${first.toLocaleString("en-GB")}`,
    text: comparisons(rows)
  })),
  {
    title: "The whole list",
    text: Lists.asTable(measurements.map(({ list, size }) => [size, list] as const))
  },
  {
    title: "Space",
    text: Space.asTable(measurements.map(({ size, space }) => [size, space] as const))
  },
  {
    title: "Large tables read from end to end",
    text: table(
      ["accounts", "tables"],
      measurements.map(({ scanned, size }) => [
        size.toLocaleString("en-GB"),
        scanned.length === 0 ? "none" : scanned.join(", ")
      ])
    )
  }
]

const chartOf = (measurements: ReadonlyArray<Measured>) =>
  chart({
    title: "Throughput by the number of staged accounts, to that of the first size",
    xLabel: "staged accounts",
    yLabel: "per cent",
    series: measured.map((workload, index) => ({
      name: workloads[workload].title,
      points: measurements.map(({ rows, size }) => [
        size,
        Math.round(100 * (rows[index]?.[1].ratio ?? 0))
      ])
    }))
  })

const measureGrowth = Effect.fnUntraced(function* (options: Options) {
  const [first = 1_000] = options.sizes
  const server = yield* Database.startServer
  const load = yield* Load.make
  const small = yield* install(server, load, "small", first)
  const large = yield* install(server, load, "large", first)
  const measurements: Array<Measured> = []
  let present = first
  for (const size of options.sizes) {
    yield* fill(large.database, large.subject.tenant, present, size)
    present = size
    measurements.push(yield* measureSize(size, large, small, options))
  }
  const charts = { "growth.svg": chartOf(measurements) }
  const sections = sectionsOf(measurements, first)
  yield* publish("growth", "bench:growth", "Growth", sections, charts, options.write)
})

command(measureGrowth)
