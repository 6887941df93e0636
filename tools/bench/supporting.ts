/**
 * The supporting services: `npm run bench:supporting` measures a token, the first requests of two
 * pages of the board, and a page of events, directly and through the gateway. The board knows 40
 * suppliers with 100 imports, one with 1,000 and one with none.
 */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import { inTurn, summary } from "./Comparison.ts"
import * as Flags from "./Flags.ts"
import { install, type Installation, startServer } from "./Installation.ts"
import { publish } from "./Results.ts"
import { stageMany, untilNumbered } from "./Staging.ts"
import * as Subjects from "./Subjects.ts"
import { short, table } from "./Table.ts"
import { supporting, listSupplier, workloads } from "./Workloads.ts"

const suppliers = 40
const staged = 100

/** The suppliers of the board, two to a tenant. */
const fill = Effect.fnUntraced(function* (installation: Installation) {
  const tenants = yield* Effect.replicateEffect(installation.freshTenant, suppliers / 2)
  for (const { organisation, supplier } of tenants) {
    for (const each of [supplier, listSupplier(supplier)]) {
      const owner = { organisation, supplier: each }
      yield* stageMany(installation, "services", { ...owner, prefix: "N", from: 0, to: staged })
    }
  }
})

const head = [
  "request",
  "requests/s",
  "CPU ms: service",
  "with the gateway",
  "PostgreSQL",
  "requests/s through the gateway",
  "cores that others had"
]

const measure = Effect.fnUntraced(function* (options: {
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
}) {
  const server = yield* startServer
  const installation = yield* install(server, "supporting")
  yield* fill(installation)
  const direct = yield* Subjects.services(installation)
  const gateway = Subjects.throughGateway(direct)
  const rows: Array<ReadonlyArray<string>> = []
  for (const workload of supporting) {
    // This workload may read the events of what the previous one has staged.
    yield* untilNumbered(installation)
    yield* Subjects.warmUp([direct, gateway], workload, options)
    const run = (one: Subjects.Subject) => Subjects.measure(one, workload, options)
    const { other, ours } = summary([yield* inTurn(options.pairs, run(direct), run(gateway))])
    const figures = [ours.rate, ours.serviceCpu, other.serviceCpu, ours.postgresCpu, other.rate]
    const { title } = workloads[workload]
    rows.push([title, ...figures.map(short), short(Math.max(ours.others, other.others))])
    yield* Console.error(rows.at(-1)?.join("  "))
  }
  return [{ title: "Requests for a token, events and the board", text: table(head, rows) }]
}, Effect.scoped)

const command = Command.make(
  "bench:supporting",
  {
    pairs: Flags.positive("pairs").pipe(
      Flag.withDescription("How often each is measured"),
      Flag.withDefault(5)
    ),
    seconds: Flags.positive("seconds").pipe(
      Flag.withDescription("How long each run takes"),
      Flag.withDefault(3)
    ),
    connections: Flags.positive("connections").pipe(
      Flag.withDescription("On how many connections requests are sent; of 32 the board sheds some"),
      Flag.withDefault(8)
    ),
    write: Flags.write
  },
  Effect.fnUntraced(function* ({ write, ...options }) {
    const sections = yield* measure(options)
    yield* publish("supporting", "bench:supporting", "Supporting services", sections, write)
  })
).pipe(Command.withDescription("Measures auth, events and the board"))

runMain(command, { messageOf: Flags.messageOf })
