/**
 * The benchmark: `npm run bench` measures one process of each service against one of the peer, in
 * turn: directly, with the documents in object storage, through the gateway and on one connection.
 * It also measures the upper bounds of the services, and the services on many accounts and beside a
 * batch. With `--profile FOLDER` each service writes a CPU profile of its last start, which Chrome
 * DevTools opens.
 */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as Beside from "./Beside.ts"
import { type Comparison, type Group, inRounds, type Metrics, type Sides } from "./Comparison.ts"
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
import { publish, type Section } from "./Results.ts"
import { mostWithin } from "./Statistics.ts"
import * as Subjects from "./Subjects.ts"
import { asInterval, asRatio, comparisons, short, table } from "./Table.ts"
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
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
  readonly short: boolean
  readonly profiles: string | undefined
}

type CannotMeasure = Effect.Error<typeof Beside.start> | Limits.CannotRun

/** What a row of a table is of. */
interface Label {
  readonly part: Part
  readonly workload: WorkloadName
  readonly title: string
}

/** A row of a table, before it is measured. */
type Compared = Label & Sides<CannotMeasure>

type Amount = Pick<Options, "connections" | "seconds">

const against = (
  part: Part,
  [subject, peer]: readonly [Subjects.Subject, Subjects.Subject],
  amount: Amount,
  chosen: ReadonlyArray<WorkloadName>
): ReadonlyArray<Compared> =>
  chosen.map((workload) => ({
    part,
    workload,
    title: workloads[workload].title,
    warmUp: Subjects.warmUp([subject, peer], workload, amount),
    ours: Subjects.measure(subject, workload, amount),
    other: Subjects.measure(peer, workload, amount)
  }))

const bounds = Effect.fnUntraced(function* (ours: Subjects.Subject, options: Options) {
  const bare = yield* startProcess("node:http", {}, { script: "tools/bench/bareServer.ts" })
  const compared = (
    workload: "stage" | "status",
    name: string,
    other: Effect.Effect<Metrics, CannotMeasure>
  ): Compared => ({
    part: "bounds",
    workload,
    title: `${workloads[workload].title}, against ${name}`,
    warmUp: Subjects.warmUp([ours], workload, options),
    ours: Subjects.measure(ours, workload, options),
    other
  })
  const pgbench = (workload: "stage" | "status") =>
    compared(workload, "pgbench", Limits.pgbench(ours, workload, Math.ceil(options.seconds)))
  const bareOne = { ...ours, processesOf: () => [bare] as const }
  return [
    pgbench("stage"),
    pgbench("status"),
    compared("stage", "node:http", Subjects.measure(bareOne, "stage", options))
  ].filter(({ workload }) => options.workloads.includes(workload))
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
  yield* Subjects.warmUp(subjects, workload, options)
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

/** What is compared with the documents in a folder. */
const withFolder = Effect.fnUntraced(function* (server: Server, options: Options) {
  const { profiles } = options
  if (!options.parts.some((part) => inFolder.includes(part))) return []
  const installation = yield* install(server, "folder", { documents: "folder", profiles })
  const { ours, peer } = yield* subjectsOn(installation, options.workloads)
  const gateway = Subjects.throughGateway(ours)
  const single = { ...options, connections: 1 }
  return [
    ...against("direct", [ours, peer], options, options.workloads),
    ...against("gateway", [gateway, peer], options, chosen(options, throughGateway)),
    ...against("single", [ours, peer], single, chosen(options, onOneConnection)),
    ...(options.parts.includes("bounds") ? yield* bounds(ours, options) : [])
  ].filter(({ part }) => options.parts.includes(part))
})

/** What is compared with the documents in object storage. */
const withBucket = Effect.fnUntraced(function* (server: Server, options: Options) {
  const asked = chosen(options, withDocuments)
  if (asked.length === 0 || !options.parts.includes("bucket")) {
    return { compared: [], lookUps: () => [] }
  }
  const installation = yield* install(server, "bucket", { documents: "bucket" })
  const { ours, peer } = yield* subjectsOn(installation, asked)
  return {
    compared: against("bucket", [ours, peer], options, asked),
    /** When each document was looked up. */
    lookUps: () => installation.documents.lookUps(ours.tenant.supplier)
  }
})

const scalingOf = Effect.fnUntraced(function* (options: Options) {
  const asked = options.parts.includes("bounds") ? chosen(options, scaled) : []
  if (asked.length === 0) return []
  const installation = yield* install(yield* startServer, "folder", { documents: "folder" })
  const { ours, peer } = yield* subjectsOn(installation, asked)
  return yield* Effect.forEach(asked, (workload) => byConcurrency([ours, peer], workload, options))
}, Effect.scoped)

const many = 1_000_000
const few = 1_000

/** The services on many accounts against few, and a list of them by a process that is warm. */
const onManyAccounts = Effect.fnUntraced(function* (options: Options) {
  const asked = chosen(options, growing)
  if (asked.length === 0 || !options.parts.includes("growth")) return null
  const [measured] = yield* ManyAccounts.measure({
    ...options,
    workloads: asked,
    first: few,
    sizes: [many]
  })
  return measured ?? null
})

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

const minute = 60_000

const besideBatch = ({ pairs }: Options): Group<Label, CannotMeasure> => ({
  pairs: Math.min(pairs, Beside.pairs),
  start: Effect.map(Beside.start, (sides) => [
    { part: "beside", workload: "status", title: "status", ...sides }
  ])
})

const report = ({ part, title }: Label, { ratioOf: { p99, rate } }: Comparison) => {
  const [name, ratio] = part === "beside" ? ["p99", p99] : ["requests/s", rate]
  return Console.error(`${title}, ${part}: ${name} ${asRatio(ratio)} (${asInterval(ratio)})`)
}

/** The comparisons with the peer, with the bounds, and of requests beside a batch without. */
const compareInRounds = Effect.fnUntraced(function* (options: Options) {
  const lookUpsOfRounds: Array<ReadonlyArray<ReadonlyArray<number>>> = []
  const start = Effect.gen(function* () {
    const server = yield* startServer
    const bucket = yield* withBucket(server, options)
    const folder = yield* withFolder(server, options)
    yield* Effect.addFinalizer(() => Effect.sync(() => lookUpsOfRounds.push(bucket.lookUps())))
    return [...folder, ...bucket.compared]
  })
  const { pairs, parts: asked } = options
  const isBesideAsked = asked.includes("beside") && options.workloads.includes("status")
  const isPeerAsked = asked.some((part) => part === "bucket" || inFolder.includes(part))
  const results = yield* inRounds([
    ...(isBesideAsked ? [besideBatch(options)] : []),
    ...(isPeerAsked ? [{ pairs, start }] : [])
  ])
  const measured: Partial<Record<Part, ReadonlyArray<Row>>> = {}
  for (const { comparison, sides } of results) {
    const { part, title, workload } = sides
    yield* report(sides, comparison)
    measured[part] = [...(measured[part] ?? []), { workload, title, comparison }]
  }
  const what = "look-ups of a document in object storage within a minute, by one process"
  const perMinute = lookUpsOfRounds.flat().map((times) => mostWithin(times, minute))
  const judged: ReadonlyArray<Judged> =
    perMinute.length === 0 ? [] : [{ what, goal: { most: 1 }, value: Math.max(...perMinute) }]
  return { measured, judged }
})

const compare = Effect.fnUntraced(function* (options: Options) {
  const first = yield* Limits.offline
  const grown = yield* onManyAccounts(options)
  const second = yield* Limits.offline
  const compared = yield* compareInRounds(options)
  const byConnections = yield* scalingOf(options)
  const last = yield* Limits.offline
  const perSecond = Math.max(first.perSecond, second.perSecond, last.perSecond)
  const { beside: [beside] = [], ...others } = compared.measured
  const measured: Measured = { ...others, ...(grown && { growth: grown.rows }) }
  const what = "offline validation: accounts a core and second"
  const judged: ReadonlyArray<Judged> = [
    ...judge(measured),
    ...compared.judged,
    ...(grown ? listGoals(grown.list) : []),
    ...(beside ? [Beside.judge(beside.comparison)] : []),
    { what, goal: { least: 15_000 }, value: perSecond }
  ]
  const sections: ReadonlyArray<Section> = [
    { title: "Targets of the benchmark", text: targetTable(judged) },
    ...(Object.keys(measured).length > 0
      ? [{ title: "How far to trust the figures", text: precisionOf(measured) }]
      : []),
    ...partNames.flatMap((part) => {
      const rows = measured[part]?.map(({ comparison, title }) => [title, comparison] as const)
      return rows === undefined ? [] : [{ title: parts[part], text: comparisons(rows) }]
    }),
    ...(beside ? [Beside.section(beside.comparison)] : []),
    ...byConnections,
    {
      title: "The domain library by itself",
      text: table(
        ["accounts/s on one core", "bytes an account"],
        [[short(perSecond), short(first.bytes)]]
      )
    }
  ]
  return sections
})

const flags = {
  workloads: Flags.workloads,
  parts: Flags.parts,
  pairs: Flags.pairs,
  seconds: Flags.seconds,
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
      pairs: Option.getOrElse(given.pairs, () => (given.short ? 4 : 36))
    }
    const sections = yield* compare(options)
    yield* publish("speed", "bench", "Throughput", sections, write)
  })
).pipe(Command.withDescription("Measures the services against a hand-written peer"))

runMain(bench, { messageOf: Flags.messageOf })
