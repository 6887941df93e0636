/** The settings of the board. */
import { Config, Duration, Effect, Option, type Redacted, Schema } from "effect"
import type { SessionTimes } from "@data-import/domain/access/BoardAccess"
import { Email } from "@data-import/domain/schema/Email"
import * as Settings from "@data-import/domain/support/Settings"
import type { ClaimNames } from "./Claims.ts"

export const isLoopback = ({ hostname }: URL): boolean =>
  ["localhost", "127.0.0.1", "[::1]"].includes(hostname)

/** Without https, the secrets of a sign-in could be read in transit. */
const isProtected = (url: URL): boolean =>
  url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))

const withoutUser = (text: string): string => text.replace(/^.*@/s, "…@")

/** The public address of the board. */
const publicUrl = Settings.setting("BOARD_PUBLIC_URL", {
  allowed: "https://host, without a path; or http:// on this machine",
  parse: (text) => {
    const url = URL.parse(text)
    const isOrigin = url !== null && url.href === `${url.origin}/` && isProtected(url)
    return isOrigin ? url : undefined
  },
  show: withoutUser
})

const issuer = Settings.setting("BOARD_OIDC_ISSUER", {
  allowed: "a URL like https://… without a user, query or fragment; or http:// on this machine",
  parse: (text) => {
    const url = URL.parse(text)
    if (url === null || !isProtected(url)) return undefined
    const { hash, password, search, username } = url
    return [hash, password, search, username].every((part) => part === "") ? url : undefined
  },
  show: withoutUser
})

const clientSecret = Settings.secret(
  "BOARD_OIDC_CLIENT_SECRET",
  "printable ASCII characters",
  (value) => /^[!-~]+$/.test(value)
)

/** The identity provider, and the names of the claims that grant access. */
export interface ProviderSettings extends ClaimNames {
  readonly issuer: URL
  readonly clientId: string
  /** Null for a client that has none. */
  readonly clientSecret: Redacted.Redacted | null
  readonly scope: string
}

const ofProvider = Config.all({
  issuer: issuer.optional,
  clientSecret: clientSecret.optional,
  scope: Settings.text("BOARD_OIDC_SCOPE").or("openid profile email"),
  roleClaim: Settings.text("BOARD_OIDC_ROLE_CLAIM").or("data_import_role"),
  organisationsClaim: Settings.text("BOARD_OIDC_ORGANISATIONS_CLAIM").or(
    "data_import_organisations"
  ),
  suppliersClaim: Settings.text("BOARD_OIDC_SUPPLIERS_CLAIM").or("data_import_suppliers")
})

const clientId = Settings.text("BOARD_OIDC_CLIENT_ID")

/** How people sign in. Without a provider only sign-in links work. */
export type SigningIn =
  | { readonly publicUrl: URL; readonly provider: ProviderSettings }
  | { readonly publicUrl: URL | null; readonly provider: null }

/** The provider redirects back to the board, so it needs the public address. */
export const signingIn: Effect.Effect<SigningIn, Config.ConfigError> = Effect.gen(function* () {
  const { clientSecret, issuer, ...rest } = yield* ofProvider
  if (Option.isNone(issuer)) {
    yield* clientId.optional
    return { publicUrl: Option.getOrNull(yield* publicUrl.optional), provider: null }
  }
  const provider = {
    ...rest,
    issuer: issuer.value,
    clientId: yield* clientId.required,
    clientSecret: Option.getOrNull(clientSecret)
  }
  return { publicUrl: yield* publicUrl.required, provider }
})

export const sessionTimes: Config.Config<SessionTimes> = Config.all({
  idle: Settings.duration("BOARD_SESSION_IDLE", {
    minimum: "1 minute",
    maximum: "24 hours"
  }).or(Duration.minutes(30)),
  absolute: Settings.duration("BOARD_SESSION_LENGTH", {
    minimum: "1 minute",
    maximum: "7 days"
  }).or(Duration.hours(12)),
  prolonged: Config.map(
    Settings.duration("BOARD_SESSION_PROLONGED", { minimum: "1 hour", maximum: "24 hours" })
      .optional,
    Option.getOrNull
  )
})

/** The server and the sender of e-mails. */
export interface MailSettings {
  readonly url: Redacted.Redacted
  readonly from: string
}

const isMailServer = (text: string): boolean => {
  const url = URL.parse(text)
  return (
    url !== null &&
    /^smtps?:$/.test(url.protocol) &&
    url.hostname !== "" &&
    /^\/?$/.test(url.pathname) &&
    url.search + url.hash === ""
  )
}

const smtpUrl = Settings.secret(
  "BOARD_SMTP_URL",
  "a URL like smtp://user:password@host:port or smtps://…, without a path or query",
  isMailServer
)

const smtpFrom = Settings.setting("BOARD_SMTP_FROM", {
  allowed: "an e-mail address",
  parse: (text) => Option.getOrUndefined(Schema.decodeOption(Email)(text))
})

/** Null if there is no server of e-mails. */
export const mail: Effect.Effect<MailSettings | null, Config.ConfigError> = Effect.gen(
  function* () {
    const url = yield* smtpUrl.optional
    if (Option.isSome(url)) return { url: url.value, from: yield* smtpFrom.required }
    yield* smtpFrom.optional
    return null
  }
)

export const allowsPrivateWebhooks = Settings.boolean("BOARD_WEBHOOKS_PRIVATE").or(false)

/** Whether a document store is set; the settings are those of its adapters. */
export const hasDocumentStore: Config.Config<boolean> = Config.map(
  Config.all([Settings.text("S3_BUCKET").optional, Settings.text("DOCUMENTS_DIR").optional]),
  (named) => named.some(Option.isSome)
)
