/**
 * The deployment that a command uses, and its API key. `DATA_IMPORT_URL` and `DATA_IMPORT_API_KEY`
 * come first, then the profile that `--profile` or `DATA_IMPORT_PROFILE` names.
 */
import { Console, Effect, Option, Redacted } from "effect"
import * as Client from "@data-import/client/effect"
import { keyPrefix } from "@data-import/domain/suppliers/Organisation"
import { KeyMode } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { ProfileName } from "./ProfileName.ts"
import { type Profile, readProfile, setting } from "./Profiles.ts"
import { watchingContact } from "./Reachability.ts"
import { asRefusal } from "./ServiceRefusal.ts"

/** The name of the profile: as typed, as the environment says, or `default`. */
export const profileName = Effect.gen(function* () {
  const typed = yield* ProfileName
  const named = yield* setting("DATA_IMPORT_PROFILE")
  return Option.getOrElse(
    Option.orElse(typed, () => named),
    () => "default"
  )
})

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** The version is part of the paths, which a client adds. */
const endsInVersion = /\/v1\/*$/

/** The address of a deployment. A key is sent there, so only this machine needs no encryption. */
export const readBaseUrl = (text: string): Option.Option<string> =>
  Option.fromNullOr(URL.parse(text)).pipe(
    Option.filter(
      ({ hash, hostname, password, pathname, protocol, search, username }) =>
        !endsInVersion.test(pathname) &&
        (protocol === "https:" || (protocol === "http:" && loopback.test(hostname))) &&
        `${hash}${password}${search}${username}` === ""
    ),
    Option.map(({ href }) => href.replace(/\/+$/, ""))
  )

export const baseUrlForm =
  "an address like https://import.example.com, without /v1; http is for this machine only"

const environmentUrl = Effect.gen(function* () {
  const given = yield* setting("DATA_IMPORT_URL")
  if (Option.isNone(given)) return Option.none<string>()
  const url = readBaseUrl(given.value.trim())
  if (Option.isSome(url)) return url
  return yield* new Refused({ why: `DATA_IMPORT_URL must be ${baseUrlForm}.` })
})

/** A copied key often has blanks around it, and sometimes quotes. It is not shown. */
export const apiKeyFault = (text: string): string | null =>
  /["'`\s]/.test(text) ? "the API key has a quote or a blank, which no key has" : null

/** The settings in the environment, each of which may be absent. */
export const environment = Effect.gen(function* () {
  const key = Option.map(yield* setting("DATA_IMPORT_API_KEY"), (text) => text.trim())
  const fault = Option.getOrNull(Option.map(key, apiKeyFault))
  if (fault !== null) return yield* new Refused({ why: `In DATA_IMPORT_API_KEY ${fault}.` })
  return { url: yield* environmentUrl, key: Option.map(key, (text) => Redacted.make(text)) }
})

const notLoggedIn = (name: string) =>
  new Refused({
    why:
      `There is no profile ${name}. Run: data-import login --profile ${name} --url https://…\n` +
      "Or set DATA_IMPORT_URL and DATA_IMPORT_API_KEY."
  })

/** The key of a profile is sent only to the address of the profile. */
const otherAddress = (name: string, { baseUrl }: Profile) =>
  new Refused({
    why:
      `The key of the profile ${name} is for ${baseUrl}, and DATA_IMPORT_URL is another address. ` +
      "Set DATA_IMPORT_API_KEY too, or unset DATA_IMPORT_URL."
  })

/** The deployment and the key of this command. */
export const connection = Effect.gen(function* () {
  const { key, url } = yield* environment
  if (Option.isSome(key) && Option.isSome(url)) {
    if (Option.isSome(yield* ProfileName)) {
      yield* Console.error("DATA_IMPORT_URL and DATA_IMPORT_API_KEY come before the profile.")
    }
    return { baseUrl: url.value, apiKey: key.value } satisfies Profile
  }
  const name = yield* profileName
  const found = yield* readProfile(name)
  if (Option.isNone(found)) return yield* notLoggedIn(name)
  const profile = found.value
  if (Option.isSome(url) && url.value !== profile.baseUrl) return yield* otherAddress(name, profile)
  return { ...profile, apiKey: Option.getOrElse(key, () => profile.apiKey) }
})

/** The start of a key says its mode. */
export const modeOf = ({ apiKey }: Profile) =>
  (["live", "test"] as const).find((mode) => Redacted.value(apiKey).startsWith(keyPrefix[mode])) ??
  null

/** How long a command waits during an outage. */
export type Patience = Pick<Client.Settings, "deadline" | "retries">

/** Somebody waits for the answer. */
const short: Patience = { retries: 3 }

/** Runs an effect as a client of this deployment. A refusal by the service becomes a `Refused`. */
export const asClientOf =
  (profile: Profile, patience: Patience = short) =>
  <A, E, R>(self: Effect.Effect<A, E, R>) =>
    self.pipe(
      Effect.provide(Client.layer({ ...profile, ...patience })),
      Effect.mapError(asRefusal(profile.baseUrl)),
      watchingContact(profile.baseUrl),
      Effect.provideService(KeyMode, modeOf(profile))
    )

/** Runs the handler of a command as a client of the deployment that was chosen. */
export const onService = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.flatMap(connection, (profile) => asClientOf(profile)(self))

/** For commands that follow long work: an outage of some minutes does not end them. */
export const patient: Patience = { deadline: "10 minutes", retries: 1_000 }

/** As `onService`, for a command that follows long work. */
export const onServicePatiently = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.flatMap(connection, (profile) => asClientOf(profile, patient)(self))
