/**
 * `data-import sandbox reset`: empties the test organisation.
 * Source: docs/contract/sandbox.md#emptying.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { DataImport } from "@data-import/client/effect"
import { inEnglish, say } from "@data-import/terminal/Answer"
import { flag } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { confirm } from "../connection/Asking.ts"
import { ownClaims } from "../connection/Claims.ts"
import { asClientOf, connection, modeOf } from "../connection/Connection.ts"

const isLive = new Refused({
  why: "sandbox reset needs a test key, and this is a live one. Nothing was deleted."
})

const confirmed = Effect.fnUntraced(function* (baseUrl: string) {
  const { organisation } = yield* ownClaims
  yield* confirm(
    `Delete all imports, accounts, batches and events of ${organisation} at ${baseUrl}?`,
    { does: "deletes", nothing: "Nothing was deleted." }
  )
})

const counted = ["imports", "accounts", "batches", "events"] as const

const reset = Command.make(
  "reset",
  {
    yes: flag("yes", "Delete without asking").pipe(Flag.withAlias("y"))
  },
  Effect.fnUntraced(function* ({ yes }) {
    const profile = yield* connection
    if (modeOf(profile) === "live") return yield* isLive
    yield* Effect.gen(function* () {
      if (!yes) yield* confirmed(profile.baseUrl)
      const { accountImport } = yield* DataImport
      const deleted = yield* accountImport.resetSandbox()
      const counts = counted.map((name) => `${inEnglish(deleted[name])} ${name}`)
      yield* say({ ...deleted }, `Deleted: ${counts.join(", ")}.`)
    }).pipe(asClientOf(profile))
  })
).pipe(
  Command.withDescription(
    "Empty the test organisation of a test key: its imports, accounts, batches and events. " +
      "Suppliers, keys, webhooks and documents stay. It asks first, and refuses a live key."
  ),
  Command.withShortDescription("Empty the test organisation of a test key"),
  Command.withExamples([
    { command: "data-import sandbox reset --yes", description: "Without asking, for a script" }
  ])
)

export const sandbox = Command.make("sandbox").pipe(
  Command.withDescription("The test organisation of a test key"),
  Command.withSubcommands([reset])
)
