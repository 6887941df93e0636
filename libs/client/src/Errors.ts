/**
 * Why a call failed. Every error is an `Error` with a stable `code`, by which the union narrows: in
 * `case "batch_line_gap"` the error has `lines_received`. An answer with a code that this version
 * does not know is an `UnrecognizedError`.
 * Source: docs/contract/errors.md#the-envelope.
 */
import { Data } from "effect"
import { type ErrorMembers, members } from "@data-import/api/ErrorBody"
import { statusOf } from "@data-import/api/StatusOfCode"
import type { TransactionImportError } from "@data-import/api/PostImportApi"
import type { RequestCode } from "@data-import/domain/codes/Code"
import { isObject } from "@data-import/domain/schema/Json"
import type { Open } from "./Answers.ts"

interface Refusal {
  /** The reason for people; the wording may change. */
  readonly detail: string
  /** The HTTP status. */
  readonly statusCode: number
  /** The id of the request, for questions to the operator. */
  readonly requestId: string | null
  /** How long the service asked to wait, in seconds. */
  readonly retryAfter: number | null
  /** The whole answer, with members that this version does not know. */
  readonly body: unknown
}

/** The service answered, and refused the request. */
export class ApiError extends Data.TaggedError("ApiError")<
  Refusal & {
    /** The stable reason. */
    readonly code: RequestCode
  }
> {
  override get message(): string {
    return `${this.code}: ${this.detail}`
  }
}

/** The service refused the request with a code that this version of the client does not know. */
export class UnrecognizedError extends Data.TaggedError("UnrecognizedError")<
  Refusal & {
    /** The code of the answer. */
    readonly answeredCode: string
  }
> {
  readonly code = "unrecognized_error"
  override get message(): string {
    return `${this.answeredCode}: ${this.detail}`
  }
}

type TransactionErrorBody = typeof TransactionImportError.Type

/** The members of a refusal beyond those of every `ApiError`. */
type MembersOf<Code extends RequestCode> = Open<ErrorMembers<Code>> &
  (Code extends TransactionErrorBody["code"]
    ? Partial<Pick<TransactionErrorBody, "transaction_data">>
    : {})

/** The refusals with these codes, as a union that narrows by `code`. */
export type ApiErrorOf<Code extends RequestCode> = Code extends RequestCode
  ? ApiError & { readonly code: Code } & MembersOf<Code>
  : never

/** No access token could be obtained: the API key is refused, or there were too many attempts. */
export class TokenRefused extends Data.TaggedError("TokenRefused")<{
  readonly code: "INVALID_API_KEY" | "INVALID_REFRESH_TOKEN" | "THROTTLED" | "INVALID_REQUEST"
  readonly detail: string
  /** How long the service asked to wait, in seconds. */
  readonly retryAfter: number | null
}> {
  override get message(): string {
    return `${this.code}: ${this.detail}`
  }
}

/** There was no connection, or it broke before the end of the answer. */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<{
  readonly cause: unknown
}> {
  readonly code = "connection_failed"
  override get message(): string {
    return `${this.code}: the connection failed before the end of the answer.`
  }
}

/** The call took longer than its deadline, all of its attempts together. */
export class DeadlineExceeded extends Data.TaggedError("DeadlineExceeded")<{
  readonly milliseconds: number
  /** Why the last attempt failed; undefined if the first one was still running. */
  readonly cause: unknown
}> {
  readonly code = "deadline_exceeded"
  override get message(): string {
    return `${this.code}: no answer within ${this.milliseconds} milliseconds.`
  }
}

/** The answer is not one of this service, for example a proxy's page. */
export class UnexpectedAnswer extends Data.TaggedError("UnexpectedAnswer")<{
  readonly statusCode: number
  readonly requestId: string | null
  /** What is wrong with the answer. */
  readonly detail: string
}> {
  readonly code = "unexpected_answer"
  override get message(): string {
    return `${this.code}: status ${this.statusCode}: ${this.detail}`
  }
}

/** The errors of a call that the service may refuse with these codes. */
export type CallError<Code extends RequestCode = RequestCode> =
  | ApiErrorOf<Code>
  | UnrecognizedError
  | TokenRefused
  | ConnectionFailed
  | DeadlineExceeded
  | UnexpectedAnswer

/** Whether it is an error of a call of this package. */
export const isCallError = (error: unknown): error is CallError =>
  error instanceof ApiError ||
  error instanceof UnrecognizedError ||
  error instanceof TokenRefused ||
  error instanceof ConnectionFailed ||
  error instanceof DeadlineExceeded ||
  error instanceof UnexpectedAnswer

const memberNames = [
  ...new Set(Object.values(members).flatMap((fields) => Object.keys(fields))),
  "transaction_data"
]

export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Parsed JSON, or undefined if the body is not JSON. */
  readonly body: unknown
}

const secondsOf = (retryAfter: string | undefined): number | null =>
  retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null

const isKnown = (code: string): code is RequestCode => Object.hasOwn(statusOf, code)

/** The error of an answer whose status is not a success. */
export const errorOf = ({
  body,
  headers,
  status: statusCode
}: ErrorAnswer): ApiError | UnrecognizedError | UnexpectedAnswer => {
  const requestId = headers["x-request-id"] ?? null
  if (!isObject(body) || typeof body["code"] !== "string") {
    return new UnexpectedAnswer({ statusCode, requestId, detail: "the body has no code" })
  }
  const { code, detail, error_detail } = body
  const text = typeof detail === "string" ? detail : error_detail
  const refusal: Refusal = {
    detail: typeof text === "string" ? text : "",
    statusCode,
    requestId,
    retryAfter: secondsOf(headers["retry-after"]),
    body
  }
  if (!isKnown(code)) return new UnrecognizedError({ ...refusal, answeredCode: code })
  const given = memberNames.filter((name) => Object.hasOwn(body, name))
  return Object.assign(
    new ApiError({ ...refusal, code }),
    Object.fromEntries(given.map((name) => [name, body[name]]))
  )
}

/** The error of a token request that was answered with GraphQL errors. */
export const tokenRefusedBy = (
  {
    errorCode,
    errorDescription
  }: { readonly errorCode: string; readonly errorDescription: string },
  headers: ErrorAnswer["headers"]
): TokenRefused =>
  new TokenRefused({
    code: errorCode as TokenRefused["code"],
    detail: errorDescription,
    retryAfter: secondsOf(headers["retry-after"])
  })
