/**
 * The process of the demo: `npm run demo` walks a supplier's whole journey against the local run,
 * with the operator's questions at its end, and shows every request and answer. It ends with status
 * 1 at the first answer that differs from the contract.
 */
import { dataDir, placesIn } from "@data-import/operator/DataDirectory"
import { decode } from "@data-import/local/DemoFile"
import { Failed, runMain } from "@data-import/testbed/CommandLine"
import { Config, Data, Effect, FileSystem } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { accountJourney } from "./AccountJourney.ts"
import { fillBoard } from "./BoardFill.ts"
import { batchJourney } from "./BatchJourney.ts"
import { journey } from "./Journey.ts"
import { postImportJourney } from "./PostImportJourney.ts"
import { progressJourney } from "./ProgressJourney.ts"
import { painter } from "./Output.ts"

/** There is no demo tenant for the journey. */
class NoDemo extends Data.TaggedError("NoDemo")<{ readonly file: string }> {}

const readDemo = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = placesIn(yield* dataDir).demo
  return yield* Effect.flatMap(fs.readFileString(file), decode).pipe(
    Effect.mapError(() => new NoDemo({ file }))
  )
})

const single = [...accountJourney, ...postImportJourney]

/** The maximum number of differences that are printed for an answer. */
const shownDifferences = 20

const fail = (message: string) => new Failed({ message })

const command = Command.make(
  "demo",
  {
    isSingle: Flag.Boolean("single").pipe(
      Flag.withDescription("Single requests only, without the batches and the operator's commands"),
      Flag.withDefault(false)
    ),
    fillsBoard: Flag.Boolean("board").pipe(
      Flag.withDescription("Fill the migration board with forty migrations instead"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(
    function* ({ fillsBoard, isSingle }) {
      if (fillsBoard) return yield* fillBoard(yield* readDemo)
      const noColor = yield* Config.withDefault(Config.String("NO_COLOR"), "")
      const paint = painter(process.stdout.isTTY, noColor)
      const steps = isSingle ? single : [...single, ...batchJourney, ...progressJourney]
      yield* journey(yield* readDemo, steps, paint)
    },
    Effect.catchTags({
      NoDemo: ({ file }) => fail(`There is no demo tenant in ${file}: npm start makes one.`),
      NotFilled: ({ why }) => fail(`The board was not filled: ${why}`),
      NobodyAnswers: ({ baseUrl }) => fail(`Nothing answers at ${baseUrl}: npm start starts it.`),
      WrongAnswer: ({ differences, title }) =>
        fail(`\n${title}:\n  ${differences.slice(0, shownDifferences).join("\n  ")}`)
    }),
    Effect.provide(FetchHttpClient.layer)
  )
).pipe(Command.withDescription("Walks a supplier's whole journey against the local run"))

// A pager closes the pipe when its user quits, which is no failure.
process.stdout.once("error", () => process.exit(0))

runMain(command)
