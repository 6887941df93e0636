/**
 * What a user of the board wants to be told, and where. Everything is off by default.
 * Source: docs/contract/board.md#alerts.
 */
import { Redacted, Schema } from "effect"
import { Email } from "../schema/Email.ts"
import { choice, formed, integer, list } from "../schema/Field.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import { type AlertKind, alertKinds } from "./Alert.ts"

export const alertWays = ["email", "webhook"] as const
export type AlertWay = (typeof alertWays)[number]

export interface AlertSettings {
  readonly kinds: ReadonlyArray<AlertKind>
  /** Percent. */
  readonly failingShare: number
  /** Null for all that the user may see. */
  readonly suppliers: ReadonlyArray<SupplierCode> | null
  readonly email: string | null
  /** Whoever knows it can post as this service. */
  readonly webhook: Redacted.Redacted | null
}

export const noAlerts: AlertSettings = {
  kinds: [],
  failingShare: 5,
  suppliers: null,
  email: null,
  webhook: null
}

export const mostSuppliers = 1_000

const urlLength = 2_048

/** The program refuses http, unless the operator allows it. */
const isWebhook = (text: string): boolean =>
  text.length <= urlLength && /^https?:$/.test(URL.parse(text)?.protocol ?? "")

/** Of a webhook. */
export const invalidUrl = {
  code: "invalid",
  detail: `Must be an https URL of at most ${urlLength} characters.`
} as const

const WebhookUrl = formed(isWebhook, invalidUrl)

/** Settings as a user sends them. */
export const AlertSettingsRequest = Schema.Struct({
  kinds: list(choice(alertKinds)),
  failing_share: integer(1, 100),
  import_suppliers: Schema.NullOr(list(Schema.String)),
  email: Schema.NullOr(Email),
  webhook: Schema.optionalKey(Schema.NullOr(WebhookUrl)).annotateKey({
    description: "Absent: as it is."
  })
})
export type AlertSettingsRequest = typeof AlertSettingsRequest.Type

/** The part of a URL that is no secret. */
export const shownOf = (url: Redacted.Redacted): string =>
  `${new URL(Redacted.value(url)).origin}/…`

/** Where alerts go by this way; null if they do not. */
export const addressOf = (
  { email, webhook }: AlertSettings,
  way: AlertWay
): Redacted.Redacted | null => {
  if (way === "webhook") return webhook
  return email === null ? null : Redacted.make(email)
}
