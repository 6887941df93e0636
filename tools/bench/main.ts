/**
 * The benchmark: `npm run bench` measures one process of each service against one of the peer, in
 * turn, directly and through the gateway. It also measures what bounds the services. With
 * `--profile FOLDER` each service writes a CPU profile, which Chrome DevTools and editors open.
 */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import { type Comparison, type Metrics, inTurn } from "./Comparison.ts"
import * as Flags from "./Flags.ts"
import { install, startProcess, startServer } from "./Installation.ts"
import * as Limits from "./Limits.ts"
import type { WrongAnswer } from "./Load.ts"
import { publish, type Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { comparisons, short, table } from "./Table.ts"
import { type WorkloadName, workloads } from "./Workloads.ts"

type Row = readonly [title: string, comparison: Comparison]

interface Options {
  readonly workloads: ReadonlyArray<WorkloadName>
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
  readonly short: boolean
}

const report = (title: string, { other, ours, ratio }: Comparison) => {
  const of = ({ postgresCpu, rate, serviceCpu }: Metrics) =>
    `${short(rate)}/s (CPU s per 1,000: ${short(serviceCpu)} and ${short(postgresCpu)})`
  return Console.error(`${title}: ${of(ours)} against ${of(other)}, ratio ${ratio.toFixed(2)}`)
}

const against = Effect.fnUntraced(function* (
  subject: Subjects.Subject,
  peer: Subjects.Subject,
  options: Options,
  chosen: ReadonlyArray<WorkloadName>
) {
  const rows: Array<Row> = []
  for (const workload of chosen) {
    const run = (one: Subjects.Subject) => Subjects.measure(one, workload, options)
    for (const one of [subject, peer]) {
      yield* Subjects.warmUp(one, workload, options.connections)
    }
    const comparison = yield* inTurn(options.pairs, run(subject), run(peer))
    yield* report(`${workloads[workload].title}, ${subject.name}`, comparison)
    rows.push([workloads[workload].title, comparison])
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
    rows.push([title, comparison])
  })
  for (const workload of ["stage", "status"] as const) {
    if (!options.workloads.includes(workload)) continue
    const pgbench = Limits.pgbench(ours, workload, Math.ceil(options.seconds))
    yield* compared(workload, "pgbench", pgbench)
  }
  if (options.workloads.includes("stage")) {
    const bare = yield* startProcess("node:http", {}, { script: "tools/bench/bareServer.ts" })
    yield* compared("stage", "node:http", run({ ...ours, processesOf: () => [bare] }, "stage"))
  }
  return rows
})

const offline = Effect.fnUntraced(function* (seconds: number) {
  const { bytes, perSecond } = yield* Limits.offline(seconds)
  return table(["accounts/s on one core", "bytes an account"], [[short(perSecond), short(bytes)]])
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
  const title = `Requests/s of ${workloads[workload].title}, by connections`
  const text = table(["connections", ...subjects.map(({ name }) => name)], rows)
  return { title, text } satisfies Section
})

const scaled: ReadonlyArray<WorkloadName> = ["stage", "status"]
const throughGateway: ReadonlyArray<WorkloadName> = [
  "validate",
  "stage",
  "process",
  "status",
  "transactions"
]

const compare = Effect.fnUntraced(function* (options: Options, profiles: string | undefined) {
  const installation = yield* install(yield* startServer, "bench", { profiles })
  const ours = yield* Subjects.services(installation)
  const peer = yield* Subjects.startPeer(installation)
  if (options.workloads.includes("transactions")) {
    yield* Effect.forEach([ours, peer], Subjects.importAccounts)
  }
  const chosen = (among: ReadonlyArray<WorkloadName>) =>
    among.filter((workload) => options.workloads.includes(workload))
  const direct = yield* against(ours, peer, options, options.workloads)
  const gateway = Subjects.throughGateway(ours)
  const passed = yield* against(gateway, peer, options, chosen(throughGateway))
  const bounding = yield* bounds(ours, options)
  const sections: ReadonlyArray<Section> = [
    { title: "One service process against the peer", text: comparisons(direct) },
    { title: "Through the gateway against the peer alone", text: comparisons(passed) },
    { title: "Against what bounds it", text: comparisons(bounding) },
    ...(yield* Effect.forEach(chosen(scaled), (workload) =>
      byConcurrency([ours, peer], workload, options)
    )),
    { title: "The domain library by itself", text: yield* offline(options.seconds) }
  ]
  return sections
}, Effect.scoped)

const flags = {
  workloads: Flags.workloads,
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
      pairs: Option.getOrElse(given.pairs, () => (given.short ? 2 : 5)),
      seconds: Option.getOrElse(given.seconds, () => (given.short ? 1 : 2))
    }
    const sections = yield* compare(options, Option.getOrUndefined(profile))
    yield* publish("speed", "bench", "Throughput", sections, write)
  })
).pipe(Command.withDescription("Measures the services against a hand-written peer"))

runMain(bench, { messageOf: Flags.messageOf })
