/**
 * The cost of a large database: `npm run bench:growth` measures the services at 1,000, 100,000 and
 * 1,000,000 staged accounts, each in turn with a database that stays at the first size, and the
 * queries of imports, events and accounts. It reports sequential scans of large tables.
 */
import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import { type Comparison, inTurn } from "./Comparison.ts"
import * as Flags from "./Flags.ts"
import { install, startServer } from "./Installation.ts"
import * as Lists from "./Lists.ts"
import { publish } from "./Results.ts"
import * as Space from "./Space.ts"
import { failSome, stageMany, untilNumbered } from "./Staging.ts"
import * as Subjects from "./Subjects.ts"
import { comparisons, table } from "./Table.ts"
import {
  listPrefix,
  listSupplier,
  queriesOfMany,
  type WorkloadName,
  workloads
} from "./Workloads.ts"

interface Options {
  readonly sizes: ReadonlyArray<number>
  readonly pairs: number
  readonly connections: number
}

const fill = Effect.fnUntraced(function* (
  { installation, tenant }: Subjects.Subject,
  from: number,
  to: number
) {
  const supplier = listSupplier(tenant.supplier)
  yield* stageMany(installation, "services", { ...tenant, supplier, prefix: listPrefix, from, to })
  yield* failSome(installation, supplier)
  yield* untilNumbered(installation)
  yield* installation.query(`vacuum (analyze) ${grown.join(", ")}`)
})

const grown = ["import_processes", "import_attempts", "outbox", "audit_log", "audit_chains"]

const measured: ReadonlyArray<WorkloadName> = [
  "stage",
  "restage",
  "process",
  "status",
  ...queriesOfMany
]

const reads: ReadonlySet<WorkloadName> = new Set(["status", ...queriesOfMany])

/** Few where the runs add to the small database, which is to stay small. */
const requestsOf = (workload: WorkloadName): number => {
  if (workload === "status") return 10_000
  return reads.has(workload) ? 2_000 : 1_000
}

const compared = Effect.fnUntraced(function* (
  large: Subjects.Subject,
  small: Subjects.Subject,
  options: Options
) {
  const rows: Array<readonly [string, Comparison]> = []
  const { connections, pairs } = options
  for (const workload of measured) {
    const amount = { connections, seconds: 30, requests: requestsOf(workload) }
    const run = (subject: Subjects.Subject) => Subjects.measure(subject, workload, amount)
    for (const subject of [large, small]) {
      const warming = workload === "restage" || reads.has(workload) ? workload : "validate"
      yield* Subjects.warmUp(subject, warming, connections)
    }
    const comparison = yield* inTurn(pairs, run(large), run(small))
    yield* Console.error(`${workloads[workload].title}: ratio ${comparison.ratio.toFixed(2)}`)
    rows.push([workloads[workload].title, comparison])
  }
  return rows
})

const measureSize = Effect.fnUntraced(function* (
  size: number,
  large: Subjects.Subject,
  small: Subjects.Subject,
  options: Options
) {
  yield* Console.error(`${size.toLocaleString("en-GB")} accounts`)
  const scannedBefore = yield* Space.scans(large.installation)
  const rows = yield* compared(large, small, options)
  const list = yield* Lists.measure(large)
  const scanned = Space.newScans(scannedBefore, yield* Space.scans(large.installation))
  const space = yield* Space.of(large.installation)
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

const measureGrowth = Effect.fnUntraced(function* (options: Options) {
  const [first = 1_000] = options.sizes
  const server = yield* startServer
  const subjectOn = (name: string) => Effect.flatMap(install(server, name), Subjects.services)
  const small = yield* subjectOn("small")
  const large = yield* subjectOn("large")
  yield* fill(small, 0, first)
  for (const subject of [small, large]) yield* Subjects.importAccounts(subject)
  const measurements: Array<Measured> = []
  let present = 0
  for (const size of options.sizes) {
    yield* fill(large, present, size)
    present = size
    measurements.push(yield* measureSize(size, large, small, options))
  }
  return sectionsOf(measurements, first)
}, Effect.scoped)

const flags = {
  sizes: Flags.sizes,
  pairs: Flags.pairs,
  connections: Flags.connections,
  short: Flags.short,
  write: Flags.write
}

const growth = Command.make(
  "bench:growth",
  flags,
  Effect.fnUntraced(function* ({ connections, short, write, ...given }) {
    const options = {
      connections,
      pairs: Option.getOrElse(given.pairs, () => (short ? 2 : 5)),
      sizes: Option.getOrElse(given.sizes, () =>
        short ? [1_000, 10_000] : [1_000, 100_000, 1_000_000]
      )
    }
    const sections = yield* measureGrowth(options)
    yield* publish("growth", "bench:growth", "Growth", sections, write)
  })
).pipe(Command.withDescription("Measures the services on growing databases"))

runMain(growth, { messageOf: Flags.messageOf })
