/**
 * A refusal of the service as the commands show it: code, detail, the errors of the request, and
 * the request id for the operator.
 */
import {
  type ApiError,
  type CallError,
  isCallError,
  type UnrecognizedError
} from "@data-import/client/effect"
import { isObject } from "@data-import/domain/schema/Json"
import { plain, printable, table } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { unreachable } from "./Reachability.ts"

/** An error of the service or the connection as a refusal; every other one unchanged. */
export type AsRefusal<E> = E extends CallError ? Refused : E

const errorsIn = (body: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const errors = isObject(body) ? body["errors"] : undefined
  return Array.isArray(errors) ? errors.filter(isObject) : []
}

const columns = ["attr", "code", "detail"]

const textAt = (entry: Readonly<Record<string, unknown>>, name: string) =>
  typeof entry[name] === "string" ? plain(entry[name]) : null

const refusalText = (code: string, { body, detail, requestId }: ApiError | UnrecognizedError) => {
  const rows = errorsIn(body).map((entry) =>
    Object.fromEntries(columns.map((name) => [name, textAt(entry, name)]))
  )
  return [
    printable(`${code}: ${detail}`),
    ...(rows.length === 0 ? [] : [table(columns, rows)]),
    ...(requestId === null ? [] : [printable(`Request id: ${requestId}`)])
  ].join("\n")
}

const textOf = (error: CallError, baseUrl: string): string => {
  switch (error._tag) {
    case "ApiError":
      return refusalText(error.code, error)
    case "UnrecognizedError":
      return refusalText(error.answeredCode, error)
    case "TokenRefused":
      return printable(`${error.code}: ${error.detail} The API key is not accepted by ${baseUrl}.`)
    case "ConnectionFailed":
      return unreachable(baseUrl, error.cause)
    case "DeadlineExceeded":
      return isCallError(error.cause)
        ? textOf(error.cause, baseUrl)
        : `${baseUrl} did not answer within ${error.milliseconds / 1_000} seconds.`
    case "UnexpectedAnswer":
      return printable(`${baseUrl} does not answer as this service does: ${error.message}`)
  }
}

/** The error for the user of the command. */
export const asRefusal =
  (baseUrl: string) =>
  <E>(error: E): AsRefusal<E> =>
    (isCallError(error) ? new Refused({ why: textOf(error, baseUrl) }) : error) as AsRefusal<E>
