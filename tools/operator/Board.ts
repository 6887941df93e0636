/** Commands about the migration board. */
import { existsSync, readFileSync } from "node:fs"
import { issueLink } from "@data-import/domain/access/BoardAccess"
import { type BoardSession, BoardSessions } from "@data-import/domain/access/BoardSessions"
import { formatInstant } from "@data-import/domain/schema/Field"
import { Config, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { dataDir, placesIn } from "./DataDirectory.ts"
import { asBaseUrl } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

const defaultUrl = "http://127.0.0.1:8080"

const readDemo = Schema.decodeOption(
  Schema.fromJsonString(Schema.Struct({ baseUrl: Schema.String }))
)

/** Where the local run answers, which writes its address there at each start. */
const localUrl = Effect.gen(function* () {
  const { demo } = placesIn(yield* dataDir)
  const other = yield* Config.option(Config.String("DATABASE_URL"))
  if (Option.isSome(other) || !existsSync(demo)) return defaultUrl
  return Option.match(readDemo(readFileSync(demo, "utf8")), {
    onNone: () => defaultUrl,
    onSome: ({ baseUrl }) => baseUrl
  })
}).pipe(Effect.orDie)

type Listed = Omit<BoardSession, "csrfToken">

const link = Command.make(
  "link",
  {
    baseUrl: Flag.String("base-url").pipe(
      Flag.withDescription(
        `Where the gateway answers on its own machine; the local run, or ${defaultUrl}`
      ),
      asBaseUrl,
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ baseUrl: given }) {
    const baseUrl = Option.isSome(given) ? given.value : yield* localUrl
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

const listed = ({ createdAt, lastSeenAt, user }: Listed) => ({
  subject: user.subject,
  name: user.name,
  role: user.role,
  organisations: user.organisations ?? "*",
  suppliers: user.suppliers ?? [],
  createdAt: formatInstant(createdAt),
  lastSeenAt: formatInstant(lastSeenAt)
})

const sessions = Command.make(
  "sessions",
  {},
  Effect.fnUntraced(function* () {
    const found = yield* Effect.flatMap(BoardSessions, (port) => port.list)
    const places = ["organisations", "suppliers"]
    const members = ["subject", "name", "role", ...places, "createdAt", "lastSeenAt"]
    yield* list(members, found.map(listed))
  }, onStorage)
).pipe(
  Command.withDescription("List the sessions of the board, the latest first"),
  Command.withExamples([
    { command: "operator board sessions", description: "See who is signed in" }
  ])
)

const endSessions = Command.make(
  "end-sessions",
  {
    user: Flag.String("user").pipe(
      Flag.withMetavar("USER"),
      Flag.withDescription("Whose sessions to end: the subject or the name, as sessions lists it"),
      Flag.optional
    ),
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("End the sessions of all users, and the sign-in links and invitations"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ all, user }) {
    if (all === Option.isSome(user)) return yield* new Refused({ why: "Give --user or --all." })
    const ending = Option.match(user, {
      onNone: () => "all" as const,
      onSome: (user) => ({ user })
    })
    const ended = yield* Effect.flatMap(BoardSessions, ({ endAll }) => endAll(ending))
    yield* say(
      { ended },
      `Ended ${ended} sessions; what they are still sent ends within 30 seconds.`
    )
  }, onStorage)
).pipe(
  Command.withDescription("End sessions of the board at once"),
  Command.withExamples([
    {
      command: "operator board end-sessions --user ada",
      description: "Sign a user out everywhere"
    },
    { command: "operator board end-sessions --all", description: "Sign everybody out" }
  ])
)

export const board = Command.make("board").pipe(
  Command.withDescription("The migration board"),
  Command.withSubcommands([link, sessions, endSessions])
)
