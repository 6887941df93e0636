/**
 * An organisation (the client for which suppliers are migrated), its API keys, and the caller of a
 * request. A token names the organisation; its suppliers are always looked up.
 */
import { DateTime, Schema } from "effect"

/**
 * Identifier of an organisation: a lower-case name of up to 64 characters, chosen by the operator.
 */
export const OrganisationName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9_-]{0,63}$/)
).pipe(Schema.brand("OrganisationName"))
export type OrganisationName = typeof OrganisationName.Type

/** Identifier of an API key. Unlike the key itself, it is public. */
export const ApiKeyId = Schema.String.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

/**
 * `import:read` suffices for validate and the queries; every write needs `import:write`; reading
 * accounts back needs `account:read`.
 */
export const Scope = Schema.Literals([
  "import:read",
  "import:write",
  "import:revert",
  "account:read"
])
export type Scope = typeof Scope.Type

export const RequestId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9._-]{1,128}$/)).pipe(
  Schema.brand("RequestId")
)
export type RequestId = typeof RequestId.Type

/** The subject of a verified token, with the request that carried it. */
export interface Caller {
  readonly organisation: OrganisationName
  readonly apiKey: ApiKeyId
  readonly scopes: ReadonlyArray<Scope>
  readonly requestId: RequestId
}

/** `test` is for trying things out: it shares no data with `live`. */
export type Mode = "live" | "test"

export interface Organisation {
  readonly name: OrganisationName
  readonly createdAt: DateTime.Utc
  /** The live organisation for which this one is the test organisation; null for a live one. */
  readonly testOf: OrganisationName | null
}

export const modeOf = ({ testOf }: Pick<Organisation, "testOf">): Mode =>
  testOf === null ? "live" : "test"

/** Prefixes of API keys. */
export const keyPrefix: Readonly<Record<Mode, string>> = { live: "sk_live_", test: "sk_test_" }

/**
 * An API key as it is stored. The secret is stored only as its SHA-256 hash, in lower-case
 * hexadecimal.
 */
export interface ApiKey {
  readonly id: ApiKeyId
  readonly organisation: OrganisationName
  readonly label: string
  readonly scopes: ReadonlyArray<Scope>
  readonly hash: string
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc | null
  readonly revokedAt: DateTime.Utc | null
}

/** A key without its secret, for display. */
export type ListedKey = Omit<ApiKey, "hash">

/** The expiry and revocation of a key; null for none. */
export type KeyEnd = Pick<ApiKey, "expiresAt" | "revokedAt">

/** Whether the key is neither revoked nor expired at `now`. */
export const isLive = (key: KeyEnd, now: DateTime.Utc): boolean =>
  key.revokedAt === null && (key.expiresAt === null || DateTime.isGreaterThan(key.expiresAt, now))

/** The outcome in the audit log: created, and for which live organisation. */
export const creationOutcome = ({ testOf }: Pick<Organisation, "testOf">): string =>
  testOf === null ? "created" : `created as the test organisation of ${testOf}`

/** The outcome in the audit log: the issued key and its scopes. */
export const issueOutcome = ({ id, scopes }: Pick<ApiKey, "id" | "scopes">): string =>
  `issued ${id} for ${scopes.join(" ")}`

/** The outcome in the audit log: the key, and whether it was revoked now or before. */
export const revocationOutcome = (id: ApiKeyId, isFirst: boolean): string =>
  isFirst ? `revoked ${id}` : `unchanged ${id}`
