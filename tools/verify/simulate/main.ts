/**
 * The simulation as a command: `npm run simulate -- --seeds 1000` runs seeds one after the other.
 * For every seed that fails, it prints what went wrong, what had happened before, and how to run
 * the seed again. The status is 1 when a seed failed.
 */
import { Console, Effect, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { Failed, runMain, wholeNumber } from "@data-import/testbed/CommandLine"
import { defects, witnessOf } from "./defects/Defects.ts"
import { backendInMemory, modelLog } from "./InMemory.ts"
import { backendOnPostgres } from "./OnPostgres.ts"
import { failureLines, totalLines } from "./Output.ts"
import { hasModel, type Report, simulate } from "./Simulation.ts"
import type { Backend } from "./World.ts"

const flags = {
  seeds: Flag.optional(wholeNumber("seeds")).pipe(
    Flag.withDescription("How many seeds to run: 100, or 1 where --seed is given")
  ),
  seed: Flag.optional(wholeNumber("seed")).pipe(Flag.withDescription("The first seed")),
  steps: wholeNumber("steps").pipe(
    Flag.withDefault(300),
    Flag.withDescription("How many steps each seed takes before it calms down")
  ),
  postgres: Flag.Boolean("postgres").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Run on PostgreSQL: the one at DATABASE_URL, or an embedded one")
  ),
  witnesses: Flag.Boolean("witnesses").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Print a seed for each planted defect, for defects/")
  ),
  burst: wholeNumber("burst").pipe(
    Flag.withDefault(1),
    Flag.withDescription(
      "On PostgreSQL: let up to so many calls run at once, which no seed repeats"
    )
  )
}

interface Order {
  readonly steps: number
  readonly postgres: boolean
  readonly burst: number
}

const backendOf = ({ burst, postgres }: Order) => {
  if (!postgres) return Effect.succeed(backendInMemory())
  const url = process.env["DATABASE_URL"] ?? ""
  const server = url === "" ? null : Redacted.make(url)
  return Effect.map(backendOnPostgres(server), (backend): Backend => ({ ...backend, burst }))
}

const again = (seed: number, { burst, postgres, steps }: Order): string =>
  [
    `npm run simulate -- --seed ${seed} --steps ${steps}`,
    ...(postgres ? ["--postgres"] : []),
    ...(burst > 1 ? [`--burst ${burst}`] : [])
  ].join(" ")

const runAll = Effect.fnUntraced(function* (first: number, seeds: number, order: Order) {
  const backend = yield* backendOf(order)
  const begun = performance.now()
  const reports: Array<Omit<Report, "log" | "met">> = []
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { burst, postgres, steps } = order
    const model = postgres && hasModel(seed, burst) ? modelLog(seed, steps) : null
    const { log, met: _met, ...report } = yield* simulate(seed, steps, backend, model)
    reports.push(report)
    if (report.failure !== null) {
      yield* Console.log(failureLines(report, log, again(seed, order)).join("\n"))
    }
    yield* Effect.yieldNow
  }
  yield* Console.log(totalLines(reports, performance.now() - begun).join("\n"))
  return reports.some(({ failure }) => failure !== null)
})

/** A defect that no seed reveals ends the search, because the simulation has become blind to it. */
const searchWitnesses = Effect.forEach(
  defects,
  (defect) =>
    Effect.suspend(() => {
      const found = witnessOf(defect)
      return found === undefined
        ? new Failed({ message: `No seed reveals: ${defect.what}` })
        : Console.log(`${found} ${defect.what}`)
    }),
  { discard: true }
)

const command = Command.make(
  "simulate",
  flags,
  Effect.fnUntraced(function* ({ seed, seeds, witnesses, ...order }) {
    if (witnesses) return yield* searchWitnesses
    if (order.burst > 1 && !order.postgres) {
      return yield* new Failed({
        message: "--burst needs --postgres: memory runs one call at a time."
      })
    }
    const count = Option.getOrElse(seeds, () => (Option.isNone(seed) ? 100 : 1))
    const hasFailed = yield* runAll(
      Option.getOrElse(seed, () => 1),
      count,
      order
    ).pipe(Effect.scoped)
    if (hasFailed) return yield* new Failed({ message: "" })
  })
).pipe(Command.withDescription("Runs the programs in a simulated world, one seed after the other"))

runMain(command)
