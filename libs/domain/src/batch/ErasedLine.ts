/**
 * The result of a line whose customer was erased: how it ended, and nothing of what it was.
 * Source: docs/contract/batches.md#erased-lines.
 */
import { isObject } from "../schema/Json.ts"
import type { ReceivedLine } from "./BatchLine.ts"

const codeIn = (error: unknown): string => {
  const code: unknown = isObject(error) ? error["code"] : undefined
  return typeof code === "string" ? code : ""
}

/** The result without the number, the answer and the details; the line of a retry stays. */
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

/** Whether it is the result of a line that was erased. Such a line is not sent again. */
export const isErased = (text: string): boolean =>
  (JSON.parse(text) as { readonly erased?: unknown }).erased === true

/** The number without quotes, as a regular expression. Null for one that is no number of JSON. */
export const unquoted = (number: string): string | null =>
  /^(?:0|[1-9]\d*)$/.test(number)
    ? String.raw`"external_account_number"\s*:\s*${number}\s*[,}]`
    : null

const hasNumber = (text: string, number: string): boolean => {
  const pattern = unquoted(number)
  return (
    text.includes(JSON.stringify(number)) || (pattern !== null && new RegExp(pattern).test(text))
  )
}

/**
 * Whether the line names the account. One that could not be read does if it has the number as a
 * string of JSON, or its member without quotes.
 */
export const names = ({ bytes, externalAccountNumber }: ReceivedLine, number: string): boolean =>
  externalAccountNumber === null
    ? bytes !== null && hasNumber(new TextDecoder().decode(bytes), number)
    : externalAccountNumber === number
