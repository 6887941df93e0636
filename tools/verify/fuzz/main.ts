/**
 * The process of the fuzzer: `npm run fuzz -- --cases 20000 --seed 7`. The status is 1 when an
 * answer was wrong, or when a documented answer that requests can cause never came.
 */
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Failed, runMain, wholeNumber } from "@data-import/testbed/CommandLine"
import { type Fuzzed, fuzz } from "./Fuzz.ts"
import { report } from "./Report.ts"
import type { Options } from "./Run.ts"

const flags = {
  cases: wholeNumber("cases").pipe(
    Flag.withDefault(2_000),
    Flag.withDescription("How many cases to run")
  ),
  seed: Flag.optional(wholeNumber("seed")).pipe(Flag.withDescription("Make the same cases again")),
  concurrency: wholeNumber("concurrency").pipe(
    Flag.withDefault(8),
    Flag.withDescription("How many cases at a time")
  ),
  case: Flag.optional(wholeNumber("case")).pipe(
    Flag.withDescription("Run this one case of the seed")
  )
}

const isClean = ({ failures, tally, troubles }: Fuzzed, { from }: Options): boolean =>
  failures.length === 0 &&
  troubles.length === 0 &&
  (from > 0 || tally.unseen().reachable.length === 0)

const command = Command.make(
  "fuzz",
  flags,
  Effect.fnUntraced(function* ({ case: only, cases, concurrency, seed }) {
    const now = yield* Clock.currentTimeMillis
    const options: Options = {
      seed: Option.getOrElse(seed, () => Math.trunc(now / 1_000) % 1_000_000),
      from: Option.getOrElse(only, () => 0),
      to: Option.match(only, { onNone: () => cases, onSome: (index) => index + 1 }),
      concurrency: Math.max(1, concurrency)
    }
    const fuzzed = yield* fuzz(options)
    yield* Console.log(report(fuzzed, options))
    for (const trouble of fuzzed.troubles) yield* Console.log(trouble)
    if (!isClean(fuzzed, options)) return yield* new Failed({ message: "" })
  })
).pipe(Command.withDescription("Sends generated requests to a local run and checks every answer"))

runMain(command)
