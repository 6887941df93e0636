/** Commands about the operations teams under which accounts are created. */
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { asText } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("The name of the operations team"),
      asText(128)
    )
  },
  Effect.fnUntraced(function* ({ name }) {
    const configuration = yield* Configuration
    yield* configuration.createTeam(name)
    yield* say({ name }, `Created the operations team ${name}.`)
  }, onStorage)
).pipe(
  Command.withDescription("Create an operations team"),
  Command.withExamples([
    { command: 'operator team create "Migration Team North"', description: "Create a team" }
  ])
)

const listAll = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const configuration = yield* Configuration
    const names = yield* configuration.teams
    yield* list(
      ["name"],
      names.map((name) => ({ name }))
    )
  }, onStorage)
).pipe(
  Command.withDescription("List the operations teams"),
  Command.withExamples([{ command: "operator team list", description: "List the teams" }])
)

export const team = Command.make("team").pipe(
  Command.withDescription("Operations teams"),
  Command.withSubcommands([create, listAll])
)
