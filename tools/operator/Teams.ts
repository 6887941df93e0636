/** Commands about the operations teams under which accounts are created. */
import { Configuration } from "@data-import/domain/ports/Configuration"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { asText } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

const create = Command.make(
  "create",
  { name: Argument.String("name").pipe(asText(128)) },
  Effect.fnUntraced(function* ({ name }) {
    const configuration = yield* Configuration
    yield* configuration.createTeam(name)
    yield* say({ name }, `Created the operations team ${name}.`)
  }, onStorage)
).pipe(Command.withDescription("Create an operations team"))

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
).pipe(Command.withDescription("List the operations teams"))

export const team = Command.make("team").pipe(
  Command.withDescription("Operations teams"),
  Command.withSubcommands([create, listAll])
)
