/**
 * The cost of a large database: `npm run bench:growth` measures the services at 1,000, 100,000 and
 * 1,000,000 staged accounts, each in turn with a database that stays at the first size, and the
 * queries of imports, events and accounts. It reports sequential scans of large tables.
 */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as Flags from "./Flags.ts"
import * as ManyAccounts from "./ManyAccounts.ts"
import * as Lists from "./Lists.ts"
import { publish } from "./Results.ts"
import * as Space from "./Space.ts"
import { comparisons, table } from "./Table.ts"
import { growing } from "./Targets.ts"
import { queriesOfMany } from "./Workloads.ts"

const sectionsOf = (measurements: ReadonlyArray<ManyAccounts.Measured>, first: number) => [
  ...measurements.map(({ rows, size }) => ({
    title: `${size.toLocaleString("en-GB")} accounts against ${first.toLocaleString("en-GB")}`,
    text: comparisons(rows.map(({ comparison, title }) => [title, comparison]))
  })),
  {
    title: "The whole list",
    text: Lists.asTable(measurements.map(({ list, size }) => [size, list] as const))
  },
  {
    title: "Space",
    text: Space.asTable(measurements.map(({ size, space }) => [size, space] as const))
  },
  {
    title: "Large tables read from end to end",
    text: table(
      ["accounts", "tables"],
      measurements.map(({ scanned, size }) => [
        size.toLocaleString("en-GB"),
        scanned.length === 0 ? "none" : scanned.join(", ")
      ])
    )
  }
]

const flags = {
  sizes: Flags.sizes,
  pairs: Flags.pairs,
  seconds: Flags.seconds,
  connections: Flags.connections,
  short: Flags.short,
  write: Flags.write
}

const growth = Command.make(
  "bench:growth",
  flags,
  Effect.fnUntraced(function* ({ connections, seconds, short, write, ...given }) {
    const sizes = Option.getOrElse(given.sizes, () =>
      short ? [1_000, 10_000] : [1_000, 100_000, 1_000_000]
    )
    const [first = 1_000] = sizes
    const measurements = yield* ManyAccounts.measure({
      connections,
      pairs: Option.getOrElse(given.pairs, () => (short ? 2 : 8)),
      seconds,
      first,
      sizes,
      workloads: [...queriesOfMany, ...growing]
    })
    yield* publish("growth", "bench:growth", "Growth", sectionsOf(measurements, first), write)
  })
).pipe(Command.withDescription("Measures the services on growing databases"))

runMain(growth, { messageOf: Flags.messageOf })
