/**
 * The values that commands take, checked while the command line is read, so that a handler only
 * ever sees what the service itself would accept.
 */
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { AnyEventName } from "@data-import/domain/events/Event"
import { timeZoneForm, timeZoneNamed } from "@data-import/domain/suppliers/BusinessDay"
import { DocumentPath, relativePath } from "@data-import/domain/schema/DocumentPath"
import { hasControlCharacter, nonBlankText } from "@data-import/domain/schema/Field"
import { OrganisationName, RequestId, Scope } from "@data-import/domain/suppliers/Organisation"
import {
  longestRevertWindow,
  type SupplierStatus,
  WireCode
} from "@data-import/domain/suppliers/Supplier"
import { EventId, WebhookId } from "@data-import/domain/events/EventLog"
import { Duration, Option, Schema } from "effect"
import { readAs } from "@data-import/terminal/Parameter"

export const asOrganisation = readAs(
  Schema.decodeOption(OrganisationName),
  "a name of lower-case letters, digits, _ and -, up to 64 characters",
  "NAME"
)

/** Text that can be printed as it is. A control character could move the cursor of a terminal. */
export const printableText = (length: number) => (text: string) =>
  Option.filter(
    Schema.decodeOption(nonBlankText(length))(text),
    (text) => !hasControlCharacter(text)
  )

export const asText = (length: number) =>
  readAs(
    printableText(length),
    `1 to ${length} characters, none of them a control character`,
    "TEXT"
  )

/** A code that can stand in a path and in a log. */
export const asSupplierCode = readAs(
  (text) =>
    printableText(32)(text).pipe(
      Option.filter((code) => code !== "." && code !== ".."),
      Option.flatMap(Schema.decodeOption(WireCode))
    ),
  "a code of 1 to 32 characters, none of them a control character, and neither . nor ..",
  "CODE"
)

export const asExternalAccountNumber = readAs(
  Schema.decodeOption(ExternalAccountNumber),
  "an external account number of 1 to 128 characters",
  "NUMBER"
)

export const asAccountNumber = readAs(
  Schema.decodeOption(AccountNumber),
  "an account number like A-0123ABCD",
  "NUMBER"
)

export const asRequestId = readAs(
  Schema.decodeOption(RequestId),
  "a request id: 1 to 128 letters, digits and . _ -",
  "ID"
)

export const asWebhookId = readAs(
  Schema.decodeOption(WebhookId),
  "the id of a webhook, as webhook list prints it",
  "ID"
)

const uuid = Schema.decodeOption(Schema.String.check(Schema.isUUID()))

export const asEventId = readAs(
  (text) => Option.map(uuid(text), (id) => EventId.make(id)),
  "the event_id of an event: a UUID",
  "ID"
)

/** Without its final slash. */
export const asBaseUrl = readAs(
  (text) =>
    Option.fromNullOr(URL.parse(text)).pipe(
      Option.filter(({ href, origin }) => /^https?:/.test(href) && href === `${origin}/`),
      Option.map(({ origin }) => origin)
    ),
  "a URL like http://127.0.0.1:8080, without a path",
  "URL"
)

/** A URL without a user, a password and a fragment. */
export const asWebhookUrl = readAs(
  (text) =>
    Option.filter(
      Option.fromNullOr(URL.parse(text)),
      ({ hash, password, protocol, username }) =>
        /^https?:$/.test(protocol) && `${hash}${password}${username}` === "" && text.length <= 2_000
    ),
  "a URL like https://host/path of at most 2,000 characters, without user and fragment",
  "URL"
)

const words = (text: string) => [...new Set(text.split(",").map((word) => word.trim()))]

export const asEventNames = readAs(
  (text) => Schema.decodeUnknownOption(Schema.NonEmptyArray(AnyEventName))(words(text)),
  "names of events, separated by commas",
  "NAMES"
)

export const asSupplierCodes = readAs(
  (text) => Schema.decodeUnknownOption(Schema.NonEmptyArray(WireCode))(words(text)),
  "codes of suppliers, separated by commas",
  "CODES"
)

export const asPosition = readAs(
  (text) => (/^[1-9]\d{0,14}$/.test(text) ? Option.some(Number(text)) : Option.none()),
  "a position: a whole number from 1",
  "POSITION"
)

/**
 * A folder of the document store, without a leading slash; none where the text names no such
 * folder.
 */
export const readDocumentRoot = (text: string): Option.Option<string> =>
  Option.map(Schema.decodeOption(DocumentPath)(text), relativePath)

export const asDocumentRoot = readAs(
  readDocumentRoot,
  "a relative path without . and .. segments",
  "FOLDER"
)

export const asTimeZone = readAs(timeZoneNamed, timeZoneForm, "ZONE")

const statuses: ReadonlyMap<string, SupplierStatus> = new Map([
  ["ongoing", "Ongoing"],
  ["paused", "Paused"],
  ["complete", "Complete"]
])

export const asSupplierStatus = readAs(
  (text) => Option.fromUndefinedOr(statuses.get(text.toLowerCase())),
  [...statuses.keys()].join(", "),
  "STATUS"
)

const decodeScopes = Schema.decodeUnknownOption(Schema.NonEmptyArray(Scope))

/** Scopes separated by commas, each kept once. */
export const asScopes = readAs(
  (text) => decodeScopes([...new Set(text.split(",").map((word) => word.trim()))]),
  `one or more of ${Scope.literals.join(", ")}, separated by commas`,
  "SCOPES"
)

const unitInSeconds: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3_600],
  ["d", 86_400]
])

/** Later than this, the year would not fit into a datetime of the contract. */
const longestLifetime = Duration.days(100 * 365)

/** A number and one of the units s, m, h and d: longer than nothing, at most a hundred years. */
export const asLifetime = readAs(
  (text) => {
    const [, amount = "", unit = ""] = /^(\d{1,12})([smhd])$/.exec(text) ?? []
    const seconds = Number(amount) * (unitInSeconds.get(unit) ?? 0)
    const lifetime = Duration.seconds(seconds)
    return seconds > 0 && Duration.isLessThanOrEqualTo(lifetime, longestLifetime)
      ? Option.some(lifetime)
      : Option.none()
  },
  "a number with s, m, h or d behind it, like 90d, and at most 100 years",
  "TIME"
)

/** Days for which an account can be reverted; 0 for never. */
export const asRevertWindow = readAs(
  (text): Option.Option<number> =>
    /^\d{1,4}$/.test(text) && Number(text) <= longestRevertWindow
      ? Option.some(Number(text))
      : Option.none(),
  `a whole number from 0 to ${longestRevertWindow}`,
  "DAYS"
)

/** A limit of at least 1, or null for `off`. */
export const asLimit = readAs(
  (text): Option.Option<number | null> => {
    if (text === "off") return Option.some(null)
    return /^[1-9]\d{0,8}$/.test(text) ? Option.some(Number(text)) : Option.none()
  },
  "a whole number from 1, or off",
  "N"
)
