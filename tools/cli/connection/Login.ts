/** `data-import login`: verifies an API key and keeps it in a profile. */
import { Effect, Option, Redacted } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { DataImport } from "@data-import/client/effect"
import { say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { ask } from "./Asking.ts"
import {
  apiKeyFault,
  asClientOf,
  baseUrlForm,
  environment,
  profileName,
  readBaseUrl
} from "./Connection.ts"
import { readProfile, writeProfile } from "./Profiles.ts"

const cannotAsk = new Refused({
  why: "There is no terminal to ask for the API key. Set DATA_IMPORT_API_KEY."
})

const promptKey = (baseUrl: string) =>
  Effect.map(
    ask(
      Prompt.Hidden({
        message: `API key for ${baseUrl}`,
        validate: (text) => {
          const fault = text.trim() === "" ? "It is empty" : apiKeyFault(text.trim())
          return fault === null ? Effect.succeed(text) : Effect.fail(fault)
        }
      })
    ),
    (key) => Redacted.make(Redacted.value(key).trim())
  )

const askKey = Effect.fnUntraced(function* (baseUrl: string) {
  return (yield* TerminalCapabilities).canPrompt ? yield* promptKey(baseUrl) : yield* cannotAsk
})

const noUrl = new Refused({ why: `Say where to log in: --url is ${baseUrlForm}.` })

export const login = Command.make(
  "login",
  {
    url: Flag.String("url").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("The address of the deployment; unless given, that of the profile"),
      Flag.filterMap(readBaseUrl, () => baseUrlForm),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ url }) {
    const name = yield* profileName
    const given = yield* environment
    const present = Option.map(yield* readProfile(name), ({ baseUrl }) => baseUrl)
    const chosen = Option.firstSomeOf([url, given.url, present])
    if (Option.isNone(chosen)) return yield* noUrl
    const baseUrl = chosen.value
    const apiKey = Option.isSome(given.key) ? given.key.value : yield* askKey(baseUrl)
    // Every key may read the limits, so a refusal is about the key itself.
    const verified = Effect.flatMap(DataImport, ({ system }) => system.getLimits())
    const kept = Effect.gen(function* () {
      yield* verified
      const file = yield* writeProfile(name, { baseUrl, apiKey })
      yield* say(
        { profile: name, base_url: baseUrl, file },
        `The key is valid at ${baseUrl}. It is kept as the profile ${name} in ${file}.`
      )
    })
    yield* kept.pipe(asClientOf({ baseUrl, apiKey }))
  })
).pipe(
  Command.withDescription(
    "Verify an API key, and keep it in a profile that only you can read. The key is asked for, or " +
      "taken from DATA_IMPORT_API_KEY; it is never an argument, which others could see."
  ),
  Command.withExamples([
    {
      command: "data-import login --profile sandbox --url https://sandbox.example.com",
      description: "Ask for the key, and keep it as the profile sandbox"
    },
    {
      command: "data-import summary ACME_LEGACY --profile sandbox",
      description: "Use the profile; without --profile it is that of DATA_IMPORT_PROFILE or default"
    }
  ])
)
