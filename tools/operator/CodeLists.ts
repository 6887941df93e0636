/** Commands about the lists of values that can grow without a release. */
import { OpenCodeList } from "@data-import/domain/schema/CodeLists"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { asText } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

const add = Command.make(
  "add",
  {
    name: Argument.Literals("list", OpenCodeList.literals).pipe(
      Argument.withDescription("The list that it is added to")
    ),
    value: Argument.String("value").pipe(
      Argument.withDescription("The value that requests may have"),
      asText(128)
    )
  },
  Effect.fnUntraced(function* ({ name, value }) {
    const configuration = yield* Configuration
    yield* configuration.addCode(name, value)
    yield* say({ list: name, value }, `${value} is a choice of ${name}.`)
  }, onStorage)
).pipe(
  Command.withDescription(
    "Add a value to a list; reason, ledger_code and product_code are free until they have one"
  ),
  Command.withExamples([
    {
      command: "operator choice add sales_channel CARRIER_PIGEON",
      description: "Accept another sales channel"
    }
  ])
)

const listAll = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const configuration = yield* Configuration
    const choices = yield* configuration.codeLists
    const entries = OpenCodeList.literals.flatMap((name) =>
      (choices[name] ?? []).map((value) => ({ list: name, value }))
    )
    yield* list(["list", "value"], entries)
  }, onStorage)
).pipe(
  Command.withDescription("List the values that were added"),
  Command.withExamples([{ command: "operator choice list", description: "List them all" }])
)

export const codeLists = Command.make("choice").pipe(
  Command.withDescription("Values that requests may choose from, beside the built-in ones"),
  Command.withSubcommands([add, listAll])
)
