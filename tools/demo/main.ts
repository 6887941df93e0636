/**
 * The process of the demo: `npm run demo` walks a supplier's migration against the local run, and
 * shows every request and answer. It ends with status 1 at the first answer that is not expected.
 */
import { decode } from "@data-import/local/DemoFile"
import { dataDir, placesIn } from "@data-import/operator/DataDirectory"
import { Failed, runMain } from "@data-import/testbed/CommandLine"
import { Effect, FileSystem } from "effect"
import { Command, Flag } from "effect/cli"
import { fillBoard } from "./Board.ts"
import { journey } from "./Journey.ts"

const readDemo = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = placesIn(yield* dataDir).demo
  const message = `There is no demo tenant in ${file}: npm start makes one.`
  return yield* Effect.flatMap(fs.readFileString(file), decode).pipe(
    Effect.mapError(() => new Failed({ message }))
  )
})

const command = Command.make(
  "demo",
  {
    isSingle: Flag.Boolean("single").pipe(
      Flag.withDescription("Single requests only, without the batch"),
      Flag.withDefault(false)
    ),
    fillsBoard: Flag.Boolean("board").pipe(
      Flag.withDescription("Fill the migration board instead"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ fillsBoard, isSingle }) {
    const demo = yield* readDemo
    yield* fillsBoard ? fillBoard(demo) : journey(demo, isSingle)
  })
).pipe(Command.withDescription("Walks a supplier's migration against the local run"))

// A pager closes the pipe when its user quits, which is no failure.
process.stdout.once("error", () => process.exit(0))

runMain(command, {
  messageOf: (error) => (error instanceof Error ? error.message : undefined)
})
