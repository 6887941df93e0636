/**
 * The benchmark: `npm run bench` measures one process of each service against one of the peer, in
 * turn: directly, with the documents in object storage, through the gateway and on one connection.
 * It also measures the upper bounds of the services, and the services on many accounts and beside a
 * batch. With `--profile FOLDER` each service writes a CPU profile, which Chrome DevTools opens.
 */
import { Console, Effect, Option, Struct } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as Beside from "./Beside.ts"
import { type Comparison, exactly, type Metrics, inTurn, type PairLimits } from "./Comparison.ts"
import * as Flags from "./Flags.ts"
import * as ManyAccounts from "./ManyAccounts.ts"
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
import { mostWithin } from "./Statistics.ts"
import * as Subjects from "./Subjects.ts"
import { comparisons, short, table } from "./Table.ts"
import {
  growing,
  judge,
  type Judged,
  type Measured,
  type Part,
  partNames,
  parts,
  precisionOf,
  type Row,
  targetTable,
  withDocuments
} from "./Targets.ts"
import { addsToAccounts, type WorkloadName, workloadNames, workloads } from "./Workloads.ts"

interface Options {
  readonly workloads: ReadonlyArray<WorkloadName>
  readonly parts: ReadonlyArray<Part>
  readonly pairs: PairLimits
  readonly seconds: number
  readonly connections: number
  readonly short: boolean
  readonly profiles: string | undefined
}

const report = (title: string, { interval, other, ours, pairs, ratio }: Comparison) => {
  const of = ({ postgresCpu, rate, serviceCpu }: Metrics) =>
    `${short(rate)}/s (CPU s per 1,000: ${short(serviceCpu)} and ${short(postgresCpu)})`
  const against = `${of(ours)} against ${of(other)}, ratio ${ratio.toFixed(2)}`
  const [low, high] = interval.map((end) => end.toFixed(2))
  return Console.error(`${title}: ${against} (${low} to ${high}, ${pairs} pairs)`)
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

/** Beyond its capacity a service may refuse requests. Such a run has no result. */
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

/** The services and the peer, with a tenant each, and accounts if a workload adds to them. */
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

const inFolder: ReadonlyArray<Part> = ["direct", "gateway", "single", "bounds"]

/** The measurements with the documents in a folder. */
const withFolder = Effect.fnUntraced(function* (server: Server, options: Options) {
  const { profiles } = options
  if (!options.parts.some((part) => inFolder.includes(part))) {
    return { measured: {}, byConnections: [] }
  }
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

const minute = 60_000

const withBucket = Effect.fnUntraced(function* (server: Server, options: Options) {
  const asked = chosen(options, withDocuments)
  if (asked.length === 0 || !options.parts.includes("bucket")) return null
  const installation = yield* install(server, "bucket", { documents: "bucket" })
  const { ours, peer } = yield* subjectsOn(installation, asked)
  const rows = yield* against(ours, peer, options, asked)
  const lookUps = installation.documents.lookUps(ours.tenant.supplier)
  const most = Math.max(0, ...lookUps.map((times) => mostWithin(times, minute)))
  const what = "look-ups of a document in object storage within a minute, by one process"
  return { rows, judged: { what, goal: { most: 1 }, value: most } satisfies Judged }
}, Effect.scoped)

const many = 1_000_000
const few = 1_000

/** The services on many accounts against few, and a list of them by a process that is warm. */
const onManyAccounts = Effect.fnUntraced(function* (options: Options) {
  const asked = chosen(options, growing)
  if (asked.length === 0 || !options.parts.includes("growth")) return null
  const [measured] = yield* ManyAccounts.measure({
    connections: options.connections,
    // Each pair adds to the small database, so there are few.
    pairs: exactly(options.pairs.least),
    workloads: asked,
    first: few,
    sizes: [many]
  })
  return measured ?? null
})

const besideBatches = Effect.fnUntraced(function* (options: Options) {
  if (!options.workloads.includes("status") || !options.parts.includes("beside")) return []
  const server = yield* startServer
  return yield* Effect.forEach([1, 2], (workers) =>
    Effect.scoped(Effect.flatMap(Beside.start(server, workers), Beside.measure))
  )
}, Effect.scoped)

const listGoals = (list: ManyAccounts.Measured["list"]): ReadonlyArray<Judged> => [
  {
    what: "list of 1,000,000: RSS of the process, MB",
    goal: { most: 250 },
    value: list.residentBytes / 2 ** 20
  },
  {
    what: "list of 1,000,000: ms to the first byte",
    goal: { most: 200 },
    value: list.firstByteMillis
  },
  { what: "list of 1,000,000: s", goal: { most: 12 }, value: list.seconds }
]

const onOneServer = Effect.fnUntraced(function* (options: Options) {
  const server = yield* startServer
  const ofBucket = yield* withBucket(server, options)
  return { ofBucket, ofFolder: yield* withFolder(server, options) }
}, Effect.scoped)

const compare = Effect.fnUntraced(function* (options: Options) {
  const beside = yield* besideBatches(options)
  const grown = yield* onManyAccounts(options)
  const { ofBucket, ofFolder } = yield* onOneServer(options)
  const { bytes, perSecond } = yield* Limits.offline(options.seconds)
  const measured: Measured = {
    ...ofFolder.measured,
    ...(ofBucket && { bucket: ofBucket.rows }),
    ...(grown && { growth: grown.rows })
  }
  const what = "offline validation: accounts a core and second"
  const judged: ReadonlyArray<Judged> = [
    ...judge(measured),
    ...(ofBucket ? [ofBucket.judged] : []),
    ...(grown ? listGoals(grown.list) : []),
    ...beside.map(Beside.judge),
    { what, goal: { least: 15_000 }, value: perSecond }
  ]
  const sections: ReadonlyArray<Section> = [
    { title: "Targets of the benchmark", text: targetTable(judged) },
    { title: "How far to trust the figures", text: precisionOf(measured) },
    ...partNames.flatMap((part) => {
      const rows = measured[part]?.map(({ comparison, title }) => [title, comparison] as const)
      return rows === undefined ? [] : [{ title: parts[part], text: comparisons(rows) }]
    }),
    ...(beside.length > 0 ? [Beside.section(beside)] : []),
    ...ofFolder.byConnections,
    {
      title: "The domain library by itself",
      text: table(
        ["accounts/s on one core", "bytes an account"],
        [[short(perSecond), short(bytes)]]
      )
    }
  ]
  return sections
})

const flags = {
  workloads: Flags.workloads,
  parts: Flags.parts,
  pairs: Flags.pairs,
  seconds: Flags.positive("seconds").pipe(
    Flag.withDescription("How long each run takes"),
    Flag.withDefault(1)
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
      pairs: Option.getOrElse(given.pairs, () =>
        given.short ? exactly(2) : { least: 6, most: 20 }
      )
    }
    const sections = yield* compare(options)
    yield* publish("speed", "bench", "Throughput", sections, write)
  })
).pipe(Command.withDescription("Measures the services against a hand-written peer"))

runMain(bench, { messageOf: Flags.messageOf })
