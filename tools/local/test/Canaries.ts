/**
 * Distinctive texts for every field that holds personal data or secrets, and a search for them in
 * the output of the system. The search also finds them percent-encoded and in base64.
 */
import { isWire, type Wire } from "@data-import/domain/testing/wire"

const personal = "zqpersonal"
/** An account number may be in answers, but not in logs, traces and metrics. */
export const accountNumber = "zqnumber-1"

/** Canaries for personal data with a fixed format. */
const formed: Readonly<Record<string, string>> = {
  email: `${personal}@example.com`,
  billing_email: `billing-${personal}@example.com`,
  mobile: "+4520871543",
  landline: "+4533871544",
  date_of_birth: "1961-08-19",
  delivery_point_identifier: "ZQ871540001",
  postal_code: "ZQ87154",
  supply_postcode: "ZQ87155"
}

/** Fields whose values are from a list, or are compared with something else. */
const fixed =
  /(?:^|_)(?:type|channel|preference|accessibility|country|date|sale|since|length|code|at|import_supplier|reason|rate_band|team_name|vendor|id)$|^(?:external_account_number|statement_path|document_path|key)$/

const isPath = (name: string) => name === "document_path" || name === "statement_path"

const marked = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => marked(one, name))
  if (isWire(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([inner, part]) => [inner, marked(part, inner)])
    )
  }
  if (typeof value !== "string") return value
  if (Object.hasOwn(formed, name)) return formed[name]
  if (isPath(name)) return `${personal}/${value.replaceAll("/", "-")}`
  return fixed.test(name) ? value : `${personal}-${name}`
}

/** The same payload with a canary in every field that can hold personal data. */
export const withCanaries = (payload: Wire): Wire => marked(payload, "") as Wire

/** A canary for a secret with this name. */
export const secretCanary = (name: string): string => `zqsecret${name}`

const inBase64 = (text: string): ReadonlyArray<string> =>
  // At each of the three offsets, without the characters that depend on neighbouring bytes.
  [0, 1, 2].map((offset) =>
    Buffer.from(`${"\0".repeat(offset)}${text}`)
      .toString("base64")
      .slice(offset === 0 ? 0 : 4, -4)
  )

const spellings = (canary: string): ReadonlyArray<string> =>
  canary.length < 9
    ? [canary]
    : [...new Set([canary, encodeURIComponent(canary), ...inBase64(canary)])]

/** Every canary of personal data, and the stems of those that go on in many ways. */
export const personalCanaries = [personal, ...Object.values(formed)]

/** The canaries that a text contains, each with the text around it. */
export const leaksIn = (text: string, canaries: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lower = text.toLowerCase()
  return canaries.flatMap((canary) =>
    spellings(canary).flatMap((spelling) => {
      const at = Math.max(text.indexOf(spelling), lower.indexOf(spelling.toLowerCase()))
      return at === -1 ? [] : [`${canary}: …${text.slice(Math.max(0, at - 120), at + 80)}…`]
    })
  )
}
