/**
 * The crash tests as a process: `npm run test:faults` runs every scenario in its long form, each on
 * a system of its own, prints one line for each, and ends with status 1 as soon as one found
 * something. `-- --only NAME` runs those whose name begins so, `--short` the short form, `--kills
 * N` and `--count N` with so many, `--seed S` with the same random again.
 */
import { parseArgs } from "node:util"
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Clock, Console, Data, Effect, Exit, Predicate } from "effect"
import { empty, isPassed, line } from "./Report.ts"
import { report, type Scenario, type Sizes } from "./Scenario.ts"
import { scenarios } from "./Scenarios.ts"
import * as System from "@data-import/testbed/System"

/** What was asked for cannot be run. */
class Misunderstood extends Data.TaggedError("Misunderstood")<{ readonly message: string }> {}

interface Order {
  readonly chosen: ReadonlyArray<Scenario>
  readonly sizesOf: (scenario: Scenario) => Sizes
  readonly seed: number
}

const number = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text)) throw new Misunderstood({ message: `--${name} takes a number` })
  return Number(text)
}

/** @throws Misunderstood */
const orderOf = (args: Array<string>, now: number): Order => {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", default: "" },
      short: { type: "boolean", default: false },
      kills: { type: "string" },
      count: { type: "string" },
      seed: { type: "string" }
    }
  })
  const chosen = scenarios.filter(({ name }) => name.startsWith(values.only))
  if (chosen.length === 0) {
    const names = scenarios.map(({ about, name }) => `  ${name.padEnd(24)} ${about}`)
    const message = `There is no scenario ${values.only}, but:\n${names.join("\n")}`
    throw new Misunderstood({ message })
  }
  const kills = number("kills", values.kills)
  const count = number("count", values.count)
  return {
    chosen,
    seed: number("seed", values.seed) ?? now % 1_000_000,
    sizesOf: ({ long, short }) => ({
      ...(values.short ? short : long),
      ...(kills !== undefined && { kills }),
      ...(count !== undefined && { count })
    })
  }
}

const shownFindings = 5

const run = (scenario: Scenario, { seed, sizesOf }: Order) =>
  Effect.gen(function* () {
    const found = yield* report(scenario, sizesOf(scenario))
    yield* Console.log(line(found))
    for (const what of found.findings.described(shownFindings)) yield* Console.error(`  ${what}`)
    if (isPassed(found)) return true
    const { services } = yield* System.System
    for (const { log, name } of Object.values(services)) {
      for (const said of log.slice(-shownFindings)) yield* Console.error(`  ${name}: ${said}`)
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

/** What was asked wrongly is told in a sentence, and everything else in full. */
const explained = (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const error = Cause.squash(cause)
  const isPlain = error instanceof Misunderstood || Predicate.isTagged(error, "FoundSomething")
  return isPlain ? Console.error((error as Error).message) : Console.error(Cause.pretty(cause))
}

class FoundSomething extends Data.TaggedError("FoundSomething")<{ readonly message: string }> {}

const main = Effect.gen(function* () {
  const now = yield* Clock.currentTimeMillis
  const order = yield* Effect.try({
    try: () => orderOf(process.argv.slice(2), now),
    catch: (error) =>
      error instanceof Misunderstood ? error : new Misunderstood({ message: String(error) })
  })
  yield* Console.log(`seed ${order.seed}`)
  const passed = yield* Effect.forEach(order.chosen, (scenario) => run(scenario, order))
  const failed = passed.filter((it) => !it).length
  if (failed > 0) return yield* new FoundSomething({ message: `${failed} scenarios failed` })
}).pipe(Effect.tapCause(explained))

NodeRuntime.runMain(main, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => {
    if (Exit.isSuccess(exit)) return onExit(0)
    onExit(Cause.hasInterruptsOnly(exit.cause) ? 130 : 1)
  }
})
