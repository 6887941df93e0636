/**
 * The crash tests as a process: `npm run test:faults` runs every scenario in its long form, each on
 * a separate system, and prints one line for each. The status is 1 when a scenario found something.
 */
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Failed, runMain, wholeNumber } from "@data-import/testbed/CommandLine"
import * as System from "@data-import/testbed/System"
import { empty, isPassed, line } from "./Report.ts"
import { report, type Scenario, type Sizes } from "./Scenario.ts"
import { scenarios } from "./Scenarios.ts"

const flags = {
  only: Flag.String("only").pipe(
    Flag.withDefault(""),
    Flag.withDescription("Run the scenarios whose name begins so")
  ),
  short: Flag.Boolean("short").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Run the short form")
  ),
  kills: Flag.optional(wholeNumber("kills")).pipe(Flag.withDescription("How many faults in a row")),
  count: Flag.optional(wholeNumber("count")).pipe(
    Flag.withDescription("How many accounts, pairs or dry runs, as the scenario says")
  ),
  seed: Flag.optional(wholeNumber("seed")).pipe(
    Flag.withDescription("Draw the same random numbers again")
  )
}

const chosenBy = (only: string): Effect.Effect<ReadonlyArray<Scenario>, Failed> => {
  const chosen = scenarios.filter(({ name }) => name.startsWith(only))
  if (chosen.length > 0) return Effect.succeed(chosen)
  const names = scenarios.map(({ about, name }) => `  ${name.padEnd(24)} ${about}`)
  return new Failed({
    message: `There is no scenario ${only}, but:\n${names.join("\n")}`
  })
}

const shownFindings = 5

/** Whether the scenario found nothing. */
const run = (scenario: Scenario, sizes: Sizes, seed: number) =>
  Effect.gen(function* () {
    const found = yield* report(scenario, sizes)
    yield* Console.log(line(found))
    for (const finding of found.findings.described(shownFindings)) {
      yield* Console.error(`  ${finding}`)
    }
    if (isPassed(found)) return true
    const { services } = yield* System.System
    for (const { log, name } of Object.values(services)) {
      for (const output of log.slice(-shownFindings)) yield* Console.error(`  ${name}: ${output}`)
    }
    return false
  }).pipe(
    Effect.provide(
      System.layer({
        proxied: scenario.proxied ?? false,
        instances: scenario.instances,
        diskMegabytes: scenario.diskMegabytes,
        seed
      })
    ),
    Effect.catchTag("CannotMount", ({ message }) =>
      Effect.as(Console.log(line({ ...empty(scenario.name), skipped: message })), true)
    )
  )

const faults = Command.make(
  "faults",
  flags,
  Effect.fnUntraced(function* ({ count, kills, only, short, ...given }) {
    const chosen = yield* chosenBy(only)
    const now = yield* Clock.currentTimeMillis
    const seed = Option.getOrElse(given.seed, () => now % 1_000_000)
    yield* Console.log(`seed ${seed}`)
    const passed = yield* Effect.forEach(chosen, (scenario) => {
      const sizes = short ? scenario.short : scenario.long
      return run(
        scenario,
        {
          kills: Option.getOrElse(kills, () => sizes.kills),
          count: Option.getOrElse(count, () => sizes.count)
        },
        seed
      )
    })
    const failed = passed.filter((it) => !it).length
    if (failed > 0) return yield* new Failed({ message: `${failed} scenarios failed` })
  })
).pipe(Command.withDescription("Kills, cuts off and overloads the parts of a running system"))

runMain(faults)
