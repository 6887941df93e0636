/** The command line of the benchmarks: its flags, and how a command runs to its end. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Option, Predicate, type Scope } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { layer as tokenIssuer, type TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { type WorkloadName, workloadNames } from "./Workloads.ts"

export interface Options {
  readonly workloads: ReadonlyArray<WorkloadName>
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
  readonly minutes: number
  /** Of the rate that the services can answer. */
  readonly share: number
  readonly sizes: ReadonlyArray<number>
  readonly short: boolean
  readonly write: boolean
  readonly profile: boolean
  /** Profiles the gateway instead of the service behind it. */
  readonly gateway: boolean
}

const positive = (name: string) =>
  Flag.Finite(name).pipe(
    Flag.filter(
      (value) => value > 0,
      () => `--${name} takes a positive number`
    )
  )

const namesIn = (text: string): Option.Option<ReadonlyArray<WorkloadName>> =>
  Option.all(
    text
      .split(",")
      .map((name) => Option.fromUndefinedOr(workloadNames.find((known) => known === name)))
  )

const sizesIn = (text: string): Option.Option<ReadonlyArray<number>> =>
  Option.liftPredicate(text.split(",").map(Number), (sizes) => sizes.every((size) => size > 0))

const flags = {
  workloads: Flag.String("workload").pipe(
    Flag.withDescription(`Which to measure, separated by commas: ${workloadNames.join(", ")}`),
    Flag.filterMap(namesIn, (text) => `${text} is not a list of ${workloadNames.join(", ")}`),
    Flag.withDefault(workloadNames)
  ),
  pairs: Flag.optional(positive("pairs")),
  seconds: Flag.optional(positive("seconds")),
  connections: Flag.withDefault(positive("connections"), 32),
  minutes: Flag.optional(positive("minutes")),
  share: Flag.withDefault(positive("share"), 1),
  sizes: Flag.String("sizes").pipe(
    Flag.withDescription("How many accounts are staged, separated by commas"),
    Flag.filterMap(sizesIn, (text) => `${text} is not a list of positive numbers`),
    Flag.optional
  ),
  short: Flag.withDefault(Flag.Boolean("short"), false),
  write: Flag.withDefault(Flag.Boolean("write"), false),
  profile: Flag.withDefault(Flag.Boolean("profile"), false),
  gateway: Flag.withDefault(Flag.Boolean("gateway"), false)
}

/** A command that takes the flags; one that is missing depends on `--short`. */
export const parse = <E, R>(run: (options: Options) => Effect.Effect<void, E, R>) =>
  Command.runWith(
    Command.make("bench", flags, ({ minutes, pairs, seconds, sizes, ...given }) => {
      const either = <A>(value: Option.Option<A>, short: A, full: A) =>
        Option.getOrElse(value, () => (given.short ? short : full))
      return run({
        ...given,
        pairs: either(pairs, 2, 5),
        seconds: either(seconds, 1, 2),
        minutes: either(minutes, 0.5, 10),
        sizes: either(sizes, [1_000, 10_000], [1_000, 100_000, 1_000_000])
      })
    }),
    { version: "0.1.0" }
  )

const expected = ["WrongAnswer", "CannotRun", "DidNotStart", "PostgresDidNotStart"]

/** Prints the message of an expected failure, and any other cause in full. */
const explain = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  // The parser of the command line has printed its own errors.
  if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)) return Effect.void
  const isExpected = expected.some((tag) => Predicate.isTagged(error, tag))
  return Console.error(isExpected ? (error as Error).message : Cause.pretty(cause))
}

/** Runs the command of this process to its end. */
export const command = <E>(
  run: (options: Options) => Effect.Effect<void, E, Scope.Scope | TokenIssuer>
): void => {
  const main = parse((options) => Effect.scoped(run(options)))(process.argv.slice(2)).pipe(
    Effect.provide([tokenIssuer, NodeServices.layer]),
    Effect.tapCause(explain)
  )
  NodeRuntime.runMain(main, {
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      if (Exit.isSuccess(exit)) return onExit(0)
      onExit(Cause.hasInterruptsOnly(exit.cause) ? 130 : 1)
    }
  })
}
