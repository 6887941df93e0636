/** Commands about the platform's clients, on whose behalf suppliers are migrated. */
import { formatInstant } from "@data-import/domain/schema/Field"
import type { Organisation } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { DateTime, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { asOrganisation } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

const members = ["name", "createdAt", "testOf"]

const entry = ({ createdAt, name, testOf }: Organisation) => ({
  name,
  createdAt: formatInstant(createdAt),
  testOf
})

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("The name of the organisation"),
      asOrganisation
    )
  },
  Effect.fnUntraced(function* ({ name }) {
    const configuration = yield* Configuration
    const created = yield* configuration.createOrganisation(name, yield* DateTime.now)
    yield* say(entry(created), `Created the organisation ${name}.`)
  }, onStorage)
).pipe(
  Command.withDescription("Create an organisation"),
  Command.withExamples([
    { command: "operator organisation create acme", description: "Create the organisation acme" }
  ])
)

const listAll = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const configuration = yield* Configuration
    const organisations = yield* configuration.organisations
    yield* list(members, organisations.map(entry))
  }, onStorage)
).pipe(
  Command.withDescription("List the organisations"),
  Command.withExamples([
    { command: "operator organisation list --json", description: "List them for a machine" }
  ])
)

export const organisation = Command.make("organisation").pipe(
  Command.withDescription("The platform's clients"),
  Command.withSubcommands([create, listAll])
)
