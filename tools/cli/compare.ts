/**
 * The process that compares `check` with the server: `node tools/cli/compare.ts --lines 100000
 * --seed 7`. The status is 1 if they differ.
 */
import { availableParallelism } from "node:os"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Failed, runMain, wholeNumber } from "@data-import/testbed/CommandLine"
import { compare, type Difference } from "./comparison/Comparison.ts"
import { startServer } from "./comparison/Server.ts"

const linesAtOnce = 5_000
const shown = 5

const flags = {
  lines: wholeNumber("lines").pipe(
    Flag.withDefault(5_000),
    Flag.withDescription("How many lines to compare, about")
  ),
  seed: wholeNumber("seed").pipe(
    Flag.withDefault(1),
    Flag.withDescription("Make the same lines again")
  )
}

const describe = ({ line, offline, server }: Difference): string =>
  [`line: ${line.slice(0, 2_000)}`, `offline: ${offline}`, `server:  ${server}`].join("\n")

const command = Command.make(
  "compare",
  flags,
  Effect.fnUntraced(function* ({ lines, seed }) {
    const server = yield* startServer
    const threads = availableParallelism()
    let [compared, failed, differing] = [0, 0, 0]
    for (let round = 0; compared < lines; round++) {
      const count = Math.min(linesAtOnce, lines - compared)
      const found = yield* compare(server, { count, seed: seed + round, threads })
      compared += found.lines
      failed += found.failed
      differing += found.differences.length
      for (const each of found.differences.slice(0, shown)) yield* Console.log(describe(each))
      yield* Console.log(`${compared} lines compared, ${failed} failed, ${differing} differ`)
    }
    if (differing > 0) return yield* new Failed({ message: "" })
  }, Effect.scoped)
).pipe(Command.withDescription("Compares check with a VALIDATE batch of the same lines"))

runMain(command)
