/**
 * The simulation as a command: `npm run simulate -- --seeds 1000`. Runs seeds one after the other,
 * says what was run, and for every seed that fails what went wrong, what had happened before and
 * how to run it again; ends with status 1 where one failed.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Data, Effect, Redacted } from "effect"
import { parseArgs } from "node:util"
import { groundInMemory } from "./InMemory.ts"
import { groundOnPostgres } from "./OnPostgres.ts"
import { failureLines, totalLines } from "./Printed.ts"
import { type Report, simulate } from "./Simulation.ts"

const usage = `Usage: npm run simulate -- [options]
  --seeds N     how many seeds to run (100)
  --seed S      the first of them (1)
  --steps M     how many steps each takes before it calms down (300)
  --postgres    on PostgreSQL: the one that DATABASE_URL names, or an embedded one
  --crowd K     on PostgreSQL: let up to K calls go at once; such a run is not the same again`

/** The command line is not understood. */
class Misunderstood extends Data.TaggedError("Misunderstood")<{ readonly why: string }> {}

const wholeNumber = (name: string, text: string) =>
  /^\d{1,9}$/.test(text)
    ? Effect.succeed(Number(text))
    : new Misunderstood({ why: `--${name} is a whole number, not ${text}.` })

const settings = Effect.gen(function* () {
  const { values } = yield* Effect.try({
    try: () =>
      parseArgs({
        options: {
          seeds: { type: "string" },
          seed: { type: "string" },
          steps: { type: "string", default: "300" },
          postgres: { type: "boolean", default: false },
          crowd: { type: "string", default: "1" },
          help: { type: "boolean", default: false }
        }
      }),
    catch: (cause) => new Misunderstood({ why: cause instanceof Error ? cause.message : "" })
  })
  if (values.help) return yield* new Misunderstood({ why: "" })
  const fallback = values.seed === undefined ? "100" : "1"
  const crowd = yield* wholeNumber("crowd", values.crowd)
  if (crowd > 1 && !values.postgres) {
    return yield* new Misunderstood({ why: "--crowd needs --postgres: memory is never crowded." })
  }
  return {
    seeds: yield* wholeNumber("seeds", values.seeds ?? fallback),
    first: yield* wholeNumber("seed", values.seed ?? "1"),
    steps: yield* wholeNumber("steps", values.steps),
    postgres: values.postgres,
    crowd
  }
})

const groundOf = ({ crowd, postgres }: Effect.Success<typeof settings>) => {
  if (!postgres) return Effect.succeed(groundInMemory())
  const url = process.env["DATABASE_URL"] ?? ""
  const server = url === "" ? null : Redacted.make(url)
  return Effect.map(groundOnPostgres(server), (ground) => ({ ...ground, crowd }))
}

/** Runs all seeds; gives how many failed. */
const runAll = Effect.gen(function* () {
  const wanted = yield* settings
  const ground = yield* groundOf(wanted)
  const begun = performance.now()
  const reports: Array<Omit<Report, "log" | "met">> = []
  for (let seed = wanted.first; seed < wanted.first + wanted.seeds; seed += 1) {
    const { log, met: _met, ...report } = yield* simulate(seed, wanted.steps, ground)
    reports.push(report)
    if (report.failure !== null) {
      const flags = [
        `--seed ${seed} --steps ${wanted.steps}`,
        ...(wanted.postgres ? ["--postgres"] : []),
        ...(wanted.crowd > 1 ? [`--crowd ${wanted.crowd}`] : [])
      ]
      const again = `npm run simulate -- ${flags.join(" ")}`
      yield* Console.log(failureLines(report, log, again).join("\n"))
    }
    yield* Effect.yieldNow
  }
  yield* Console.log(totalLines(reports, performance.now() - begun).join("\n"))
  return reports.filter(({ failure }) => failure !== null).length
})

const main = Effect.scoped(runAll).pipe(
  Effect.flatMap((failed) => (failed === 0 ? Effect.void : Effect.fail("failed" as const))),
  Effect.catchTag("Misunderstood", ({ why }) =>
    Effect.andThen(
      Console.error(why === "" ? usage : `${why}\n${usage}`),
      Effect.fail("misunderstood" as const)
    )
  )
)

NodeRuntime.runMain(main, { disableErrorReporting: true })
