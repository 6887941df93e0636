/**
 * The result of a line whose customer was erased: the outcome, without anything that was sent.
 * Source: docs/contract/batches.md#erased-lines.
 */
import { isObject } from "../schema/Json.ts"
import type { ReceivedLine } from "./BatchLine.ts"

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

/** Whether this is the result of an erased line. Such a line is not retried. */
export const isErased = (text: string): boolean =>
  (JSON.parse(text) as { readonly erased?: unknown }).erased === true

/** A pattern of the account number as a JSON number; null if it is not one. */
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
 * Whether the line names the account. A line that could not be read does if it contains the number
 * as a JSON string, or as an unquoted value of `external_account_number`.
 */
export const names = ({ bytes, externalAccountNumber }: ReceivedLine, number: string): boolean =>
  externalAccountNumber === null
    ? bytes !== null && hasNumber(new TextDecoder().decode(bytes), number)
    : externalAccountNumber === number
