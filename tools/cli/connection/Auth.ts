/** `data-import auth status` and `data-import profile list`: which keys there are, and whose. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { ownClaims } from "./Claims.ts"
import { asClientOf, connection, environment, modeOf, profileName } from "./Connection.ts"
import { readProfiles } from "./Profiles.ts"

/** The profile that is used; null if everything comes from the environment. */
const usedProfile = Effect.gen(function* () {
  const { key, url } = yield* environment
  return Option.isSome(key) && Option.isSome(url) ? null : yield* profileName
})

const status = Command.make(
  "status",
  {},
  Effect.fnUntraced(function* () {
    const profile = yield* connection
    const name = yield* usedProfile
    const { baseUrl } = profile
    const key = name === null ? "The key in the environment" : `The key of the profile ${name}`
    yield* Effect.gen(function* () {
      const { organisation, scopes } = yield* ownClaims
      yield* say(
        { profile: name, base_url: baseUrl, mode: modeOf(profile), organisation, scopes },
        `${key} is valid at ${baseUrl}, for the organisation ${organisation}.\n` +
          `Scopes: ${scopes.join(", ")}`
      )
    }).pipe(asClientOf(profile))
  })
).pipe(
  Command.withDescription(
    "Show which key the commands use, and whether it is valid: its deployment, mode, organisation " +
      "and scopes. Exits with 2 if it is not accepted."
  ),
  Command.withShortDescription("Show which key is used, and whether it is valid"),
  Command.withExamples([
    { command: "data-import auth status", description: "Before anything is sent" }
  ])
)

export const auth = Command.make("auth").pipe(
  Command.withDescription("The API key that the commands use"),
  Command.withSubcommands([status])
)

const listProfiles = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const used = yield* usedProfile
    const profiles = Object.entries(yield* readProfiles)
    const entries = profiles.map(([name, profile]) => ({
      name,
      base_url: profile.baseUrl,
      mode: modeOf(profile),
      is_used: name === used
    }))
    yield* list(["name", "base_url", "mode", "is_used"], entries)
  })
).pipe(
  Command.withDescription("List the profiles of login, without their keys"),
  Command.withExamples([{ command: "data-import profile list", description: "All of them" }])
)

export const profile = Command.make("profile").pipe(
  Command.withDescription("Profiles: deployments with an API key for each"),
  Command.withSubcommands([listProfiles])
)
