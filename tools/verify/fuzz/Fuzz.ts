/**
 * A whole fuzz run: it starts a local run, sets up its tenant, runs the cases, and checks the log
 * of the services.
 */
import { Effect } from "effect"
import { hiddenEffects } from "./FramingPlans.ts"
import * as LocalRun from "@data-import/testbed/LocalRun"
import { type Options, type Outcome, run } from "./Run.ts"
import * as Tenant from "./Tenant.ts"

export interface Fuzzed extends Outcome {
  /** Errors and secrets in the log of the services, or the fact that they have ended. */
  readonly troubles: ReadonlyArray<string>
}

const isTrouble = (line: string): boolean =>
  /"level":"(?:ERROR|FATAL)"|level=(?:ERROR|FATAL)|\bdefect\b|Warning: |UnhandledPromise/i.test(
    line
  )

/** Each trouble once. */
export const troublesIn = (
  output: string,
  secrets: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const lines = output.split("\n").filter((line) => line !== "")
  const leaking = lines.filter((line) => secrets.some((secret) => line.includes(secret)))
  return [
    ...new Set(lines.filter(isTrouble).map((line) => `the log says: ${line.slice(0, 1_000)}`)),
    ...leaking.map(() => "the log holds a secret")
  ].slice(0, 20)
}

/** Starts everything, runs the cases, and stops everything. */
export const fuzz = (options: Options) =>
  Effect.gen(function* () {
    // The scheduled checks are off, because they would report a batch whose count was set by hand.
    const local = yield* LocalRun.start({ CHECK_ACCOUNTS_A_MINUTE: "0" })
    const tenant = yield* Tenant.make(local)
    const outcome = yield* Effect.promise(() => run(tenant, options))
    const troubles = [
      ...(local.process.hasEnded
        ? [`the local run ended: ${local.process.err.slice(-1_000)}`]
        : yield* Effect.promise(() => hiddenEffects(tenant.target))),
      ...troublesIn(local.process.err, tenant.secretsOfRun())
    ]
    const fuzzed: Fuzzed = { ...outcome, troubles }
    return fuzzed
  }).pipe(Effect.scoped)
