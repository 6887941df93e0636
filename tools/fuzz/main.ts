/**
 * The process of the fuzzer: `npm run fuzz -- --cases 20000 --seed 7`. It prints what it saw, and
 * ends with status 1 when an answer was wrong or an answer that it can bring about never came.
 * `--case 123` runs that one case of the seed; `--minutes 30` begins no case after half an hour.
 */
import { parseArgs } from "node:util"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Logger } from "effect"
import { type Fuzzed, fuzz } from "./Fuzz.ts"
import { report } from "./Report.ts"
import type { Options } from "./Run.ts"

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "2000" },
    seed: { type: "string", default: String(Math.trunc(Date.now() / 1_000) % 1_000_000) },
    concurrency: { type: "string", default: "8" },
    minutes: { type: "string", default: "1000000" },
    case: { type: "string" }
  }
})

const whole = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} is a whole number, not ${text}`)
  return Number(text)
}

const options = (): Options => {
  const only = values.case === undefined ? null : whole("case", values.case)
  return {
    seed: whole("seed", values.seed),
    from: only ?? 0,
    to: only === null ? whole("cases", values.cases) : only + 1,
    concurrency: Math.max(1, whole("concurrency", values.concurrency)),
    minutes: whole("minutes", values.minutes)
  }
}

const isClean = ({ failures, tally, troubles }: Fuzzed, { from }: Options): boolean =>
  failures.length === 0 &&
  troubles.length === 0 &&
  (from > 0 || tally.unseen().reachable.length === 0)

const main = Effect.gen(function* () {
  const chosen = options()
  const fuzzed = yield* fuzz(chosen)
  yield* Console.log(report(fuzzed, chosen))
  for (const trouble of fuzzed.troubles) yield* Console.log(trouble)
  if (!isClean(fuzzed, chosen)) yield* Effect.fail("failed" as const)
})

NodeRuntime.runMain(
  main.pipe(
    Effect.tapError((error) => (error === "failed" ? Effect.void : Console.error(error))),
    Effect.provide([
      NodeServices.layer,
      Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])
    ])
  ),
  { disableErrorReporting: true }
)
