/**
 * `data-import sandbox reset`: empties the test organisation.
 * Source: docs/contract/sandbox.md#emptying.
 */
import { Effect } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { DataImport } from "@data-import/client/effect"
import { inEnglish, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { ask } from "../connection/Asking.ts"
import { ownClaims } from "../connection/Claims.ts"
import { asClientOf, connection, modeOf } from "../connection/Connection.ts"

const isLive = new Refused({
  why: "sandbox reset needs a test key, and this is a live one. Nothing was deleted."
})

const cannotAsk = new Refused({
  why: "There is no terminal to ask. --yes deletes without asking."
})

const isDeclined = new Refused({ why: "Nothing was deleted." })

const confirm = Effect.fnUntraced(function* (baseUrl: string) {
  if (!(yield* TerminalCapabilities).canPrompt) return yield* cannotAsk
  const { organisation } = yield* ownClaims
  const message = `Delete all imports, accounts, batches and events of ${organisation} at ${baseUrl}?`
  if (!(yield* ask(Prompt.Confirm({ message })))) return yield* isDeclined
})

const counted = ["imports", "accounts", "batches", "events"] as const

const reset = Command.make(
  "reset",
  {
    yes: Flag.Boolean("yes").pipe(
      Flag.withAlias("y"),
      Flag.withDescription("Delete without asking"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ yes }) {
    const profile = yield* connection
    if (modeOf(profile) === "live") return yield* isLive
    yield* Effect.gen(function* () {
      if (!yes) yield* confirm(profile.baseUrl)
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
