/** The flags that the benchmarks share, and the failures that they report as a sentence. */
import { Option, Predicate } from "effect"
import { Flag } from "effect/cli"
import { partNames } from "./Targets.ts"
import { workloadNames } from "./Workloads.ts"

export const positive = (name: string) =>
  Flag.Finite(name).pipe(
    Flag.filter(
      (value) => value > 0,
      () => `--${name} takes a positive number`
    )
  )

/** The names in a list that is separated by commas, or none if one of them is not known. */
const namesIn =
  <Name extends string>(known: ReadonlyArray<Name>) =>
  (text: string): Option.Option<ReadonlyArray<Name>> =>
    Option.all(
      text.split(",").map((name) => Option.fromUndefinedOr(known.find((one) => one === name)))
    )

const sizesIn = (text: string): Option.Option<ReadonlyArray<number>> =>
  Option.liftPredicate(text.split(",").map(Number), (sizes) => sizes.every((size) => size > 0))

export const workloads = Flag.String("workload").pipe(
  Flag.withDescription(`Which to measure, separated by commas: ${workloadNames.join(", ")}`),
  Flag.filterMap(
    namesIn(workloadNames),
    (text) => `${text} is not a list of ${workloadNames.join(", ")}`
  ),
  Flag.withDefault(workloadNames)
)

export const parts = Flag.String("part").pipe(
  Flag.withDescription(`Which parts to measure, separated by commas: ${partNames.join(", ")}`),
  Flag.filterMap(namesIn(partNames), (text) => `${text} is not a list of ${partNames.join(", ")}`),
  Flag.withDefault(partNames)
)

export const sizes = Flag.String("sizes").pipe(
  Flag.withDescription("How many accounts are staged, separated by commas"),
  Flag.filterMap(sizesIn, (text) => `${text} is not a list of positive numbers`),
  Flag.optional
)

export const pairs = positive("pairs").pipe(
  Flag.withDescription("How often both sides run"),
  Flag.optional
)

export const short = Flag.Boolean("short").pipe(
  Flag.withDescription("Measure less where no other flag says how much"),
  Flag.withDefault(false)
)

export const connections = positive("connections").pipe(
  Flag.withDescription("On how many connections requests are sent"),
  Flag.withDefault(32)
)

export const seconds = positive("seconds").pipe(
  Flag.withDescription("How long each run takes"),
  Flag.withDefault(0.5)
)

export const write = Flag.Boolean("write").pipe(
  Flag.withDescription("Write the results to tools/bench/results"),
  Flag.withDefault(false)
)

const expected = ["WrongAnswer", "CannotRun", "DidNotStart", "PostgresDidNotStart"]

/** The message of a failure that the user can do something about. */
export const messageOf = (error: unknown): string | undefined =>
  error instanceof Error && expected.some((tag) => Predicate.isTagged(error, tag))
    ? error.message
    : undefined
