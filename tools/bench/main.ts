/**
 * The benchmark: `npm run bench` measures one process of each service against one of the peer, in
 * turn: directly, through the gateway and on one connection. With `--profile FOLDER` each service
 * writes a CPU profile, which Chrome DevTools opens.
 */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import { type Comparison, inTurn } from "./Comparison.ts"
import { messageOf, positive, publish, short, table } from "./Report.ts"
import * as Subjects from "./Subjects.ts"
import { type WorkloadName, workloadNames, workloads } from "./Workloads.ts"

const parts = {
  direct: "One service process against the peer",
  gateway: "Through the gateway against the peer alone",
  single: "On one connection, against the peer"
} as const

type Part = keyof typeof parts

const partNames = Object.keys(parts) as ReadonlyArray<Part>

interface Options {
  readonly workloads: ReadonlyArray<WorkloadName>
  readonly parts: ReadonlyArray<Part>
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
  readonly profiles: string | undefined
}

const head = [
  ...["workload", "requests/s", "the peer's", "ratio", "its quartiles", "p50 ms", "the peer's"],
  ...["p99 ms", "the peer's", "CPU ms a request, without PostgreSQL", "the peer's"],
  ...["of PostgreSQL", "the peer's", "KB allocated a request", "the peer's"]
]

const row = (
  title: string,
  { other, ours, ratio: [low, median, high] }: Comparison,
  allocated: ReadonlyArray<number>
) => [
  title,
  ...[short(ours.rate), short(other.rate), `**${median.toFixed(2)}**`],
  `${low.toFixed(2)} to ${high.toFixed(2)}`,
  ...[ours.p50, other.p50, ours.p99, other.p99, ours.serviceCpu, other.serviceCpu].map(short),
  ...[ours.postgresCpu, other.postgresCpu, ...allocated.map((bytes) => bytes / 1_000)].map(short)
]

const compare = Effect.fnUntraced(function* (options: Options) {
  const { ours: direct, peer } = yield* Subjects.start(options.profiles)
  return yield* Effect.forEach(
    options.parts,
    Effect.fnUntraced(function* (part) {
      const ours = part === "gateway" ? Subjects.throughGateway(direct) : direct
      const connections = part === "single" ? 1 : options.connections
      const amount = { connections, seconds: options.seconds }
      const rows: Array<ReadonlyArray<string>> = []
      for (const workload of options.workloads) {
        const [one, other] = [ours, peer].map((it) => Subjects.measure(it, workload, amount))
        if (one === undefined || other === undefined) continue
        yield* Subjects.warmUp([ours, peer], workload, amount)
        const { title } = workloads[workload]
        const comparison = yield* inTurn(options.pairs, one, other)
        yield* Console.error(`${title}, ${part}: ${comparison.ratio[1].toFixed(2)}`)
        const allocated = yield* Effect.forEach([ours, peer], (it) =>
          Subjects.allocated(it, workload, amount)
        )
        rows.push(row(title, comparison, allocated))
      }
      return { title: parts[part], text: table(head, rows) }
    })
  )
}, Effect.scoped)

/** A list of some of the names, separated by commas; all by default. */
const some = <Name extends string>(flag: string, known: ReadonlyArray<Name>) =>
  Flag.String(flag).pipe(
    Flag.withDescription(`Which to measure, separated by commas: ${known.join(", ")}`),
    Flag.filterMap(
      (text) =>
        Option.all(
          text.split(",").map((name) => Option.fromUndefinedOr(known.find((one) => one === name)))
        ),
      (text) => `${text} is not a list of ${known.join(", ")}`
    ),
    Flag.withDefault(known)
  )

const bench = Command.make(
  "bench",
  {
    workloads: some("workload", workloadNames),
    parts: some("part", partNames),
    pairs: positive("pairs").pipe(
      Flag.withDescription("How often both sides run"),
      Flag.withDefault(12)
    ),
    seconds: positive("seconds").pipe(
      Flag.withDescription("How long each run takes"),
      Flag.withDefault(0.5)
    ),
    connections: positive("connections").pipe(
      Flag.withDescription("On how many connections requests are sent"),
      Flag.withDefault(32)
    ),
    profile: Flag.String("profile").pipe(
      Flag.withDescription("Write a CPU profile of each service into this folder"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ profile, ...given }) {
    yield* publish("bench", yield* compare({ ...given, profiles: Option.getOrUndefined(profile) }))
  })
).pipe(Command.withDescription("Measures the services against a hand-written peer"))

runMain(bench, { messageOf })
