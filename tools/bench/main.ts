/**
 * The benchmark: `npm run bench` measures one process of each service against one of the peer, in
 * turn, directly and through the gateway, and beside them what bounds them. `-- --work stage,status`
 * measures these works only; `--pairs 5`, `--seconds 2` and `--connections 32` say how; `--short`
 * is a quick look; `--write` keeps the figures in tools/bench/results; `--profile` shows instead
 * where the services spend their time, and with `--gateway` where the gateway does.
 */
import { Console, Effect, Option } from "effect"
import { chart } from "./Chart.ts"
import { command } from "./Command.ts"
import { type Comparison, type Figures, inTurn } from "./Comparison.ts"
import * as Database from "./Database.ts"
import * as Limits from "./Limits.ts"
import * as Load from "./Load.ts"
import type { Options } from "./Options.ts"
import { profiles } from "./Profile.ts"
import * as Program from "./Program.ts"
import { publish, type Section } from "./Results.ts"
import * as Sides from "./Sides.ts"
import { comparisons, short, table } from "./Table.ts"
import * as Tenants from "./Tenants.ts"
import { type WorkName, works } from "./Works.ts"

type Row = readonly [title: string, comparison: Comparison]

interface Field extends Sides.Ground {
  readonly ours: Sides.Side
  readonly peer: Sides.Side
  readonly gateway: Sides.Side
}

const prepare = Effect.gen(function* () {
  const server = yield* Database.startServer
  const database = yield* Database.make(server, "bench")
  const load = yield* Load.make
  const [one, two] = yield* Tenants.makeAll(database, ["ours", "peer"])
  if (one === undefined || two === undefined) return yield* Effect.die("There are two tenants")
  const services = yield* Sides.startServices(database)
  const ours = Sides.ourSide(services, one)
  const peer = yield* Sides.startPeer(database, two)
  const gateway = Sides.throughGateway(ours, services)
  return { server, database, load, ours, peer, gateway } satisfies Field
})

const told = (title: string, { other, ours, ratio }: Comparison) => {
  const of = ({ postgresCpu, rate, serviceCpu }: Figures) =>
    `${short(rate)}/s (CPU s per 1,000: ${short(serviceCpu)} and ${short(postgresCpu)})`
  return Console.error(`${title}: ${of(ours)} against ${of(other)}, ratio ${ratio.toFixed(2)}`)
}

const against = Effect.fnUntraced(function* (
  field: Field,
  side: Sides.Side,
  options: Options,
  chosen: ReadonlyArray<WorkName>
) {
  const rows: Array<Row> = []
  for (const work of chosen) {
    const run = (one: Sides.Side) => Sides.measure(field, one, work, options)
    for (const one of [side, field.peer]) {
      yield* Sides.warmUp(field, one, work, options.connections)
    }
    const comparison = yield* inTurn(options.pairs, run(side), run(field.peer))
    yield* told(`${works[work].title}, ${side.name}`, comparison)
    rows.push([works[work].title, comparison])
  }
  return rows
})

const bounds = Effect.fnUntraced(function* (field: Field, options: Options) {
  const rows: Array<Row> = []
  for (const work of ["stage", "status"] as const) {
    if (!options.works.includes(work)) continue
    const service: Effect.Effect<Figures, Load.WrongAnswer | Limits.CannotRun> = Sides.measure(
      field,
      field.ours,
      work,
      options
    )
    const bench = Limits.pgbench(field, field.ours, work, Math.ceil(options.seconds))
    const comparison = yield* inTurn(options.pairs, service, bench)
    yield* told(`${works[work].title} against pgbench`, comparison)
    rows.push([`${works[work].title}, against pgbench`, comparison])
  }
  if (options.works.includes("stage")) {
    const bare = yield* Program.start({ script: "tools/bench/bareServer.ts", settings: {} })
    const nothing = { ...field.ours, urlOf: () => bare.url, pidsOf: () => [bare.pid] }
    const run = (side: Sides.Side) => Sides.measure(field, side, "stage", options)
    const comparison = yield* inTurn(options.pairs, run(field.ours), run(nothing))
    yield* told("stage against node:http", comparison)
    rows.push(["stage, new, against node:http", comparison])
  }
  return rows
})

const offline = Effect.fnUntraced(function* (seconds: number) {
  const { compiled, interpreted } = yield* Limits.offline(seconds)
  return table(
    ["schemas", "accounts/s on one core", "bytes an account"],
    [
      ["interpreted", short(interpreted.perSecond), short(interpreted.bytes)],
      ["compiled", short(compiled.perSecond), short(compiled.bytes)]
    ]
  )
})

/** Far beyond capacity a service may refuse; then there is no point to draw. */
const refused = (message: string) => Console.error(`No figure: ${message}`)

const concurrencies = [1, 2, 4, 8, 16, 32, 64, 128, 256]

const byConcurrency = Effect.fnUntraced(function* (field: Field, work: WorkName, options: Options) {
  const points = { ours: [] as Array<[number, number]>, peer: [] as Array<[number, number]> }
  const seconds = options.seconds / 2
  for (const connections of options.short ? [1, 32, 256] : concurrencies) {
    for (const side of ["ours", "peer"] as const) {
      const run = Sides.measure(field, field[side], work, { connections, seconds })
      const sample = yield* Effect.option(Effect.tapError(run, ({ message }) => refused(message)))
      if (Option.isSome(sample)) points[side].push([connections, sample.value.rate])
    }
  }
  return chart({
    title: `Throughput of ${works[work].title}, one process each`,
    xLabel: "connections",
    yLabel: "requests a second",
    series: [
      { name: "service", points: points.ours },
      { name: "peer", points: points.peer }
    ]
  })
})

const charted: ReadonlyArray<WorkName> = ["stage", "status"]
const throughGateway: ReadonlyArray<WorkName> = [
  "validate",
  "stage",
  "process",
  "status",
  "transactions"
]

const compare = Effect.fnUntraced(function* (options: Options) {
  const field = yield* prepare
  if (options.works.includes("transactions")) {
    yield* Sides.importAccounts(field, field.ours)
    yield* Sides.importAccounts(field, field.peer)
  }
  const chosen = (among: ReadonlyArray<WorkName>) =>
    among.filter((work) => options.works.includes(work))
  const direct = yield* against(field, field.ours, options, options.works)
  const passed = yield* against(field, field.gateway, options, chosen(throughGateway))
  const bounding = yield* bounds(field, options)
  const charts: Record<string, string> = {}
  for (const work of chosen(charted)) {
    charts[`${work}.svg`] = yield* byConcurrency(field, work, options)
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
