/** Commands about the migration board. */
import { issueLink } from "@data-import/domain/auth/BoardAccess"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { say } from "@data-import/terminal/Answer"
import { asBaseUrl } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

const link = Command.make(
  "link",
  {
    baseUrl: Flag.String("base-url").pipe(
      Flag.withDescription("Where the gateway answers on its own machine"),
      Flag.withDefault("http://127.0.0.1:8080"),
      asBaseUrl
    )
  },
  Effect.fnUntraced(function* ({ baseUrl }) {
    const url = `${baseUrl}/board/sign-in/${yield* issueLink}/`
    yield* say(
      { url },
      `Open this link on the machine of the gateway, within ten minutes. It works once:\n${url}`
    )
  }, onStorage)
).pipe(
  Command.withDescription("Issue a link that signs in at the board as a manager of everything"),
  Command.withExamples([
    { command: "operator board link", description: "Sign in where no identity provider is set up" }
  ])
)

export const board = Command.make("board").pipe(
  Command.withDescription("The migration board"),
  Command.withSubcommands([link])
)
