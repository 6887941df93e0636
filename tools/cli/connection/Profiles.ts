/**
 * Profiles: deployments with an API key for each, in a file that only its owner can read. Its
 * folder is `data-import` in `XDG_CONFIG_HOME`, or in `.config` of the home directory.
 */
import { homedir } from "node:os"
import { Config, Effect, FileSystem, Option, Path, Redacted, Schema } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { reasonOf } from "../Reason.ts"

/** A deployment, and the key of an organisation there. */
export interface Profile {
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
}

const ProfilesFile = Schema.fromJsonString(
  Schema.Record(Schema.String, Schema.Struct({ base_url: Schema.String, api_key: Schema.String }))
)

const decode = Schema.decodeEffect(ProfilesFile)

const settingOf = (name: string) =>
  Config.String(name).pipe(
    Config.option,
    Effect.orDie,
    Effect.map(Option.filter((value) => value !== ""))
  )

/** The value of an environment variable; one that is empty counts as not set. */
export const setting = settingOf

/** A folder of the user: named by this variable, or else `usual` in the home directory. */
export const userFolder = Effect.fnUntraced(function* (variable: string, usual: string) {
  const path = yield* Path.Path
  const given = yield* settingOf(variable)
  return path.join(
    Option.getOrElse(given, () => path.join(homedir(), usual)),
    "data-import"
  )
})

const profilesFile = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* userFolder("XDG_CONFIG_HOME", ".config"), "profiles.json")
})

const cannotUse = (file: string, reason: string) =>
  new Refused({ why: `Cannot use the profiles in ${file}: ${reason}` })

/** Files of Windows have no such modes. */
const hasModes = process.platform !== "win32"

const readAll = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const failed = (error: unknown) => cannotUse(file, `${reasonOf(error)}.`)
  if (!(yield* Effect.mapError(fs.exists(file), failed))) return {}
  const { mode } = yield* Effect.mapError(fs.stat(file), failed)
  if (hasModes && (mode & 0o077) !== 0) {
    return yield* cannotUse(file, `others can read it. Run: chmod 600 ${file}`)
  }
  const text = yield* Effect.mapError(fs.readFileString(file), failed)
  // The message of the decoder would quote the keys.
  return yield* Effect.mapError(decode(text), () => cannotUse(file, "they are not readable."))
})

/** All profiles by their names. */
export const readProfiles = Effect.gen(function* () {
  const profiles = Object.entries(yield* readAll(yield* profilesFile))
  return Object.fromEntries(
    profiles.map(([name, { api_key, base_url }]): [string, Profile] => [
      name,
      { baseUrl: base_url, apiKey: Redacted.make(api_key) }
    ])
  )
})

/** The profile of this name. */
export const readProfile = (name: string) =>
  Effect.map(readProfiles, (profiles) =>
    Option.fromUndefinedOr(Object.hasOwn(profiles, name) ? profiles[name] : undefined)
  )

/** Adds a profile, or replaces it. The file is complete at every moment. */
export const writeProfile = Effect.fnUntraced(function* (name: string, profile: Profile) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = yield* profilesFile
  const stored = { base_url: profile.baseUrl, api_key: Redacted.value(profile.apiKey) }
  const profiles = { ...(yield* readAll(file)), [name]: stored }
  const draft = `${file}.${process.pid}`
  yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 }).pipe(
    Effect.andThen(
      fs.writeFileString(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
    ),
    Effect.andThen(fs.rename(draft, file)),
    Effect.mapError((error) => new Refused({ why: `Cannot write ${file}: ${reasonOf(error)}.` }))
  )
  return file
})
