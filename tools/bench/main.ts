/**
 * The benchmark: `npm run bench` measures one process of each service against one of the peer, in
 * turn: directly, with the documents in object storage, through the gateway and on one connection.
 * It also measures what bounds the services. With `--profile FOLDER` each service writes a CPU
 * profile, which Chrome DevTools and editors open.
 */
import { Console, Effect, Option, Struct } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import { type Comparison, type Metrics, inTurn } from "./Comparison.ts"
import * as Flags from "./Flags.ts"
import {
  install,
  type Installation,
  type Server,
  startProcess,
  startServer
} from "./Installation.ts"
import * as Limits from "./Limits.ts"
import type { WrongAnswer } from "./Load.ts"
import { publish, type Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { comparisons, percent, short, table } from "./Table.ts"
import {
  type Measured,
  type Part,
  partNames,
  parts,
  type Row,
  scatterOf,
  targetTable,
  withDocuments
} from "./Targets.ts"
import { addsToAccounts, type WorkloadName, workloadNames, workloads } from "./Workloads.ts"

interface Options {
  readonly workloads: ReadonlyArray<WorkloadName>
  readonly parts: ReadonlyArray<Part>
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
  readonly short: boolean
  readonly profiles: string | undefined
}

const report = (title: string, { other, ours, ratio, scatter }: Comparison) => {
  const of = ({ postgresCpu, rate, serviceCpu }: Metrics) =>
    `${short(rate)}/s (CPU s per 1,000: ${short(serviceCpu)} and ${short(postgresCpu)})`
  const against = `${of(ours)} against ${of(other)}, ratio ${ratio.toFixed(2)}`
  return Console.error(`${title}: ${against}, scatter ${percent(scatter)}`)
}

const against = Effect.fnUntraced(function* (
  subject: Subjects.Subject,
  peer: Subjects.Subject,
  options: Pick<Options, "connections" | "pairs" | "seconds">,
  chosen: ReadonlyArray<WorkloadName>
) {
  const rows: Array<Row> = []
  for (const workload of chosen) {
    const run = (one: Subjects.Subject) => Subjects.measure(one, workload, options)
    for (const one of [subject, peer]) {
      yield* Subjects.warmUp(one, workload, options.connections)
    }
    const comparison = yield* inTurn(options.pairs, run(subject), run(peer))
    const { title } = workloads[workload]
    yield* report(`${title}, ${subject.name}, ${options.connections} connections`, comparison)
    rows.push({ workload, title, comparison })
  }
  return rows
})

const bounds = Effect.fnUntraced(function* (ours: Subjects.Subject, options: Options) {
  const rows: Array<Row> = []
  const run = (subject: Subjects.Subject, workload: WorkloadName) =>
    Subjects.measure(subject, workload, options)
  const compared = Effect.fnUntraced(function* <E, R>(
    workload: WorkloadName,
    name: string,
    other: Effect.Effect<Metrics, E, R>
  ) {
    const comparison = yield* inTurn<E | WrongAnswer, R>(options.pairs, run(ours, workload), other)
    const title = `${workloads[workload].title}, against ${name}`
    yield* report(title, comparison)
    rows.push({ workload, title, comparison })
  })
  for (const workload of ["stage", "status"] as const) {
    if (!options.workloads.includes(workload)) continue
    const pgbench = Limits.pgbench(ours, workload, Math.ceil(options.seconds))
    yield* Subjects.warmUp(ours, workload, options.connections)
    yield* compared(workload, "pgbench", pgbench)
  }
  if (options.workloads.includes("stage")) {
    const bare = yield* startProcess("node:http", {}, { script: "tools/bench/bareServer.ts" })
    yield* compared("stage", "node:http", run({ ...ours, processesOf: () => [bare] }, "stage"))
  }
  return rows
})

/** Beyond its capacity a service may refuse requests. Such a run gives no figure. */
const refused = (message: string) => Console.error(`No measurement: ${message}`)

const concurrencies = [1, 2, 4, 8, 16, 32, 64, 128, 256]

const byConcurrency = Effect.fnUntraced(function* (
  subjects: ReadonlyArray<Subjects.Subject>,
  workload: WorkloadName,
  options: Options
) {
  const rows: Array<ReadonlyArray<string>> = []
  const seconds = options.seconds / 2
  for (const connections of options.short ? [1, 32, 256] : concurrencies) {
    const rates = yield* Effect.forEach(subjects, (subject) =>
      Subjects.measure(subject, workload, { connections, seconds }).pipe(
        Effect.tapError(({ message }) => refused(message)),
        Effect.option,
        Effect.map(Option.match({ onNone: () => "–", onSome: ({ rate }) => short(rate) }))
      )
    )
    rows.push([String(connections), ...rates])
  }
  yield* Console.error(`${workloads[workload].title}, by connections`)
  const title = `Requests/s of ${workloads[workload].title}, by connections`
  const text = table(["connections", ...subjects.map(({ name }) => name)], rows)
  return { title, text } satisfies Section
})

const scaled: ReadonlyArray<WorkloadName> = ["stage", "status"]
const throughGateway = workloadNames.filter((name) => name !== "list")
const onOneConnection: ReadonlyArray<WorkloadName> = ["stage", "process", "status"]

const chosen = ({ workloads: asked }: Options, among: ReadonlyArray<WorkloadName>) =>
  among.filter((workload) => asked.includes(workload))

/** The services and the peer, with a tenant each, and accounts where a workload adds to them. */
const subjectsOn = Effect.fnUntraced(function* (
  installation: Installation,
  among: ReadonlyArray<WorkloadName>
) {
  const ours = yield* Subjects.services(installation)
  const peer = yield* Subjects.startPeer(installation)
  if (among.some((workload) => addsToAccounts.has(workload))) {
    yield* Effect.forEach([ours, peer], Subjects.importAccounts)
  }
  return { ours, peer }
})

/** All that is measured with the documents in a folder. */
const withFolder = Effect.fnUntraced(function* (server: Server, options: Options) {
  const { profiles } = options
  const installation = yield* install(server, "folder", { documents: "folder", profiles })
  const { ours, peer } = yield* subjectsOn(installation, options.workloads)
  const gateway = Subjects.throughGateway(ours)
  const single = { ...options, connections: 1 }
  const measuring = {
    direct: against(ours, peer, options, options.workloads),
    gateway: against(gateway, peer, options, chosen(options, throughGateway)),
    single: against(ours, peer, single, chosen(options, onOneConnection)),
    bounds: bounds(ours, options)
  }
  const measured: Partial<Record<Part, ReadonlyArray<Row>>> = {}
  for (const part of Struct.keys(measuring)) {
    if (options.parts.includes(part)) measured[part] = yield* measuring[part]
  }
  const scaling = options.parts.includes("bounds") ? chosen(options, scaled) : []
  const byConnections = yield* Effect.forEach(scaling, (workload) =>
    byConcurrency([ours, peer], workload, options)
  )
  return { measured, byConnections }
}, Effect.scoped)

const withBucket = Effect.fnUntraced(function* (server: Server, options: Options) {
  const asked = chosen(options, withDocuments)
  if (asked.length === 0 || !options.parts.includes("bucket")) return {}
  const installation = yield* install(server, "bucket", { documents: "bucket" })
  const { ours, peer } = yield* subjectsOn(installation, asked)
  return { bucket: yield* against(ours, peer, options, asked) }
}, Effect.scoped)

const compare = Effect.fnUntraced(function* (options: Options) {
  const server = yield* startServer
  const { byConnections, measured: inFolder } = yield* withFolder(server, options)
  const measured: Measured = { ...inFolder, ...(yield* withBucket(server, options)) }
  const { bytes, perSecond } = yield* Limits.offline(options.seconds)
  const sections: ReadonlyArray<Section> = [
    { title: "Targets of the benchmark", text: targetTable(measured, perSecond) },
    { title: "How far to trust the figures", text: scatterOf(measured) },
    ...partNames.flatMap((part) => {
      const rows = measured[part]?.map(({ comparison, title }) => [title, comparison] as const)
      return rows === undefined ? [] : [{ title: parts[part], text: comparisons(rows) }]
    }),
    ...byConnections,
    {
      title: "The domain library by itself",
      text: table(
        ["accounts/s on one core", "bytes an account"],
        [[short(perSecond), short(bytes)]]
      )
    }
  ]
  return sections
}, Effect.scoped)

const flags = {
  workloads: Flags.workloads,
  parts: Flags.parts,
  pairs: Flags.pairs,
  seconds: Flags.positive("seconds").pipe(
    Flag.withDescription("How long each run takes"),
    Flag.optional
  ),
  connections: Flags.connections,
  short: Flags.short,
  profile: Flag.String("profile").pipe(
    Flag.withDescription("Write a CPU profile of each service into this folder"),
    Flag.optional
  ),
  write: Flags.write
}

const bench = Command.make(
  "bench",
  flags,
  Effect.fnUntraced(function* ({ profile, write, ...given }) {
    const options = {
      ...given,
      profiles: Option.getOrUndefined(profile),
      pairs: Option.getOrElse(given.pairs, () => (given.short ? 2 : 5)),
      seconds: Option.getOrElse(given.seconds, () => (given.short ? 1 : 3))
    }
    const sections = yield* compare(options)
    yield* publish("speed", "bench", "Throughput", sections, write)
  })
).pipe(Command.withDescription("Measures the services against a hand-written peer"))

runMain(bench, { messageOf: Flags.messageOf })
