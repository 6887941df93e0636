/**
 * E-mail addresses.
 * Source: docs/contract/values.md#e-mail-addresses.
 */
import { Schema, SchemaGetter } from "effect"
import { formedText } from "./Field.ts"

const domainLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
const emailStart = new RegExp(`[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${domainLabel}`, "y")

/**
 * Matches a limited number of labels, because a match of all labels of a long text needs memory for
 * backtracking.
 */
const moreLabels = new RegExp(`(?:\\.${domainLabel}){1,100}`, "y")

/** The end of a match that begins at `index`; -1 if there is none. */
const endOfMatch = (form: RegExp, text: string, index: number): number => {
  form.lastIndex = index
  return form.test(text) ? form.lastIndex : -1
}

const isEmail = (text: string): boolean => {
  let end = endOfMatch(emailStart, text, 0)
  if (end === text.length) return false
  while (end >= 0 && end < text.length) end = endOfMatch(moreLabels, text, end)
  return end >= 0
}

/** Letters of any script, digits, dots and hyphens; not what a URL would take for another part. */
const anyDomain = /^[\p{L}\p{M}\p{N}.-]+$/u

const beyondAscii = /[^\0-\x7f]/

/** The address with its domain in Punycode (RFC 3492), or as it is if that is not possible. */
const withAsciiDomain = (address: string): string => {
  if (!beyondAscii.test(address)) return address
  const at = address.lastIndexOf("@") + 1
  const domain = address.slice(at)
  if (!anyDomain.test(domain) || !URL.canParse(`http://${domain}`)) return address
  return address.slice(0, at) + new URL(`http://${domain}`).hostname
}

const emailLength = 254

/** What is stored must be valid again. */
const isEmailOfAnyScript = (address: string): boolean => {
  const ascii = withAsciiDomain(address)
  return (ascii === address || ascii.length <= emailLength) && isEmail(ascii)
}

/**
 * An e-mail address of at most 254 characters, in the form that browsers accept, with a domain.
 * Letters beyond ASCII in the domain become Punycode.
 */
export const Email = formedText(emailLength, isEmailOfAnyScript, {
  code: "invalid_email",
  detail: "Must be an e-mail address.",
  jsonSchema: { format: "email" }
}).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform(withAsciiDomain),
    encode: SchemaGetter.passthrough()
  })
)
