/**
 * The process of the demo: `npm run demo` walks a supplier's whole journey against the local run,
 * shows every request and answer, and ends with status 1 at the first answer that is not what the
 * contract says.
 */
import { dataDir, placesIn } from "@data-import/operator/DataDirectory"
import { decode } from "@data-import/local/DemoFile"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Config, Console, Data, Effect, FileSystem } from "effect"
import { FetchHttpClient } from "effect/http"
import { accountJourney } from "./AccountJourney.ts"
import { journey } from "./Journey.ts"
import { postImportJourney } from "./PostImportJourney.ts"
import { painter } from "./Printed.ts"

/** There is nothing to walk against. */
class NoDemo extends Data.TaggedError("NoDemo")<{ readonly file: string }> {}

const readDemo = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = placesIn(yield* dataDir).demo
  return yield* Effect.flatMap(fs.readFileString(file), decode).pipe(
    Effect.mapError(() => new NoDemo({ file }))
  )
})

const fail = (why: string) => Effect.andThen(Console.error(why), Effect.fail("failed" as const))

const main = Effect.gen(function* () {
  const noColor = yield* Config.withDefault(Config.String("NO_COLOR"), "")
  const paint = painter(process.stdout.isTTY, noColor)
  yield* journey(yield* readDemo, [...accountJourney, ...postImportJourney], paint)
}).pipe(
  Effect.catchTags({
    NoDemo: ({ file }) => fail(`There is no demo tenant in ${file}: npm start makes one.`),
    NobodyAnswers: ({ baseUrl }) => fail(`Nothing answers at ${baseUrl}: npm start starts it.`),
    WrongAnswer: ({ differences, title }) => fail(`\n${title}:\n  ${differences.join("\n  ")}`)
  }),
  Effect.provide([NodeServices.layer, FetchHttpClient.layer])
)

// A pager that has seen enough closes the pipe; that is no failure.
process.stdout.once("error", () => process.exit(0))

NodeRuntime.runMain(main, { disableErrorReporting: true })
