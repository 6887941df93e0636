/**
 * The result of a line whose customer was erased: the outcome, without anything that was sent.
 * Source: docs/contract/batches.md#erased-lines.
 */
import { isDocumented } from "../accounts/FieldNames.ts"
import { withoutIndexes } from "../schema/FieldErrors.ts"
import { isObject } from "../schema/Json.ts"
import type { LineProblem, ReceivedLine } from "../batches/BatchLine.ts"

const codeIn = (error: unknown): string => {
  const code: unknown = isObject(error) ? error["code"] : undefined
  return typeof code === "string" ? code : ""
}

/** The result without the account number, the answer and the details. `source_line` stays. */
export const erasedResult = (text: string): string => {
  const { error, line, outcome, source_line, status } = JSON.parse(text) as Record<string, unknown>
  return JSON.stringify({
    line,
    external_account_number: null,
    outcome,
    status,
    erased: true,
    error: error === undefined ? undefined : { detail: "", code: codeIn(error) },
    source_line
  })
}

type Named = Pick<LineProblem, "attr"> & { readonly code: string }

/** Whether the path has a name that was sent. Any name may be that of an unknown field. */
const hasSentName = ({ attr, code }: Named): boolean =>
  code === "unknown_field" || !attr.split(".").every(isDocumented)

/** The problems in a result whose paths have names that were sent, as they are counted. */
export const sentNamesIn = (text: string): ReadonlyArray<Named> => {
  const { error } = JSON.parse(text) as { readonly error?: { readonly errors?: Array<Named> } }
  return (error?.errors ?? [])
    .map(({ attr, code }) => ({ code, attr: withoutIndexes(attr) }))
    .filter(hasSentName)
}

/** Whether this is the result of an erased line. Such a line is not retried. */
export const isErased = (text: string): boolean =>
  (JSON.parse(text) as { readonly erased?: unknown }).erased === true

const decoders = [new TextDecoder(), new TextDecoder("windows-1252")]

/** NUL is left out, so that UTF-16 is found. JSON in a text of JSON has its escapes twice. */
const decoded = (bytes: Uint8Array): ReadonlyArray<string> =>
  decoders.map((decoder) =>
    decoder
      .decode(bytes)
      .replaceAll("\0", "")
      .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, digits: string) =>
        String.fromCodePoint(parseInt(digits, 16))
      )
      .replaceAll(/\\+[bfnrt]/g, " ")
      .replaceAll("\\", "")
  )

/** What cannot be seen: blanks, and control and format characters. */
const unseen = String.raw`[\s\p{C}]*`

const hasNumber = (bytes: Uint8Array, number: string): boolean => {
  const sought = number.replaceAll("\\", "")
  const texts = decoded(bytes).filter((text) => text.includes(sought))
  if (texts.length === 0) return false
  const literal = sought.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`)
  const quoted = `["']${unseen}${literal}${unseen}["']`
  const unquoted = `external_account_number["']?${unseen}:${unseen}${literal}${unseen}(?:[,}]|$)`
  const pattern = new RegExp(`${quoted}|${unquoted}`, "u")
  const alone = new RegExp(String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{L}\p{N}])`, "u")
  return texts.some((text) => (text.includes("{") ? pattern : alone).test(text))
}

/**
 * Whether the line names the account. A line without a readable number does if its text has the
 * number between quotes, or as an unquoted value of `external_account_number`, however it is
 * escaped and with whatever blanks around it; or anywhere, if the text has no object.
 */
export const names = ({ bytes, externalAccountNumber }: ReceivedLine, number: string): boolean =>
  externalAccountNumber === null
    ? bytes !== null && hasNumber(bytes, number)
    : externalAccountNumber === number
