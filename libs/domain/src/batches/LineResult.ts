/**
 * The result of a line: the answer of the single endpoint to the same request, and its outcome.
 * Source: docs/contract/batches.md#results.
 */
import { Data } from "effect"
import type { AccountNumber } from "../accounts/Account.ts"
import type { BatchLine, EndedLine, LineProblem } from "./BatchLine.ts"
import { registry } from "../codes/Code.ts"
import type { ErrorParameters } from "../codes/CodeEntry.ts"
import type { LineOutcome } from "./Counts.ts"
import type { NoteResult } from "../additions/NoteImport.ts"
import type { PaymentInstruction } from "../accounts/PaymentInstruction.ts"
import type { RequestId } from "../suppliers/Organisation.ts"
import type { TransactionResult } from "../additions/TransactionImport.ts"
import type { Failure } from "../requests/Failure.ts"
import { withoutIndexes } from "../schema/FieldErrors.ts"
import { isObject } from "../schema/Json.ts"

/** The line is longer than a body may be, and was not kept. */
export class LineTooLong extends Data.TaggedError("LineTooLong")<{}> {
  readonly code = "payload_too_large"
}

/** The line met an error of the service itself in every try. */
export class LineErrored extends Data.TaggedError("LineErrored")<{
  readonly requestId: RequestId
}> {
  readonly code = "error"
}

export type LineFailure = Failure | LineTooLong | LineErrored

/** Further content of a success: items that existed, dates that were moved, what has ended. */
export type LineAnswer =
  | { readonly _tag: "Staged"; readonly isFirst: boolean }
  | { readonly _tag: "Notes"; readonly results: ReadonlyArray<NoteResult> }
  | { readonly _tag: "Transactions"; readonly results: ReadonlyArray<TransactionResult> }
  | { readonly _tag: "Reverted"; readonly ended: ReadonlyArray<PaymentInstruction> }

export interface LineResult {
  /** Cancelled lines have a result only if they have staged something. */
  readonly outcome: LineOutcome
  /** The account of an import; null if there is none. */
  readonly accountNumber: AccountNumber | null
  readonly answer: LineAnswer | null
  /** Set for a failed line, a successful dry run, and a line whose account existed already. */
  readonly failure: LineFailure | null
}

/** Makes the text of a result, which is answered as it is stored. */
export type ResultEncoder = (
  line: Pick<BatchLine, "line" | "externalAccountNumber" | "sourceLine">,
  result: LineResult
) => string

/** The attr of an error that belongs to no field. */
const noField = "non_field_errors"

/** A problem has only the beginning of a long detail, which the result has in full. */
const longDetail = 500

/** Half of a surrogate pair at the end is left out. */
const beginningOf = (detail: string): string =>
  detail.length > longDetail
    ? `${detail.slice(0, longDetail).replace(/[\uD800-\uDBFF]$/, "")}…`
    : detail

const dayOf = ({ business_day: businessDay }: ErrorParameters = {}) =>
  businessDay === undefined ? {} : { businessDay }

/** The problems of a line; empty unless it has failed. */
export const problemsOf = ({ failure, outcome }: LineResult): ReadonlyArray<LineProblem> => {
  if (outcome !== "FAILED" || failure === null) return []
  if (failure._tag !== "ValidationFailed") {
    const parameters = failure._tag === "TransactionRefused" ? failure.parameters : undefined
    const { code } = failure
    const own = "detail" in failure ? beginningOf(failure.detail) : ""
    const detail = own === "" ? registry[code].meaning : own
    return [{ code, attr: noField, detail, ...dayOf(parameters) }]
  }
  return failure.errors.map(({ attr, code, detail, parameters }) => ({
    code,
    attr: withoutIndexes(attr),
    detail: beginningOf(detail),
    ...dayOf(parameters)
  }))
}

export const endOf = (
  encode: ResultEncoder,
  line: Parameters<ResultEncoder>[0],
  result: LineResult
): EndedLine => ({
  line: line.line,
  externalAccountNumber: line.externalAccountNumber,
  outcome: result.outcome,
  text: encode(line, result),
  problems: problemsOf(result),
  ...(result.failure?._tag === "DryRunSuccessful" && { rehearsed: result.failure.sums })
})

/**
 * The members of errors that repeat what was sent, in words or figures: texts, which become empty,
 * and those that are left out.
 */
const sentTexts = new Set(["detail", "error_detail"])
const sentMembers = new Set(["parameters", "transaction_data"])

/** The result after the lines were deleted: without what its errors repeat of personal data. */
export const redact = (text: string): string => {
  const {
    answer: _,
    error,
    ...kept
  } = JSON.parse(text) as {
    readonly answer?: unknown
    readonly error?: Readonly<Record<string, unknown>>
  }
  if (error === undefined) return JSON.stringify(kept)
  return JSON.stringify({ ...kept, error: withoutDetails(error) })
}

const withoutDetails = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutDetails)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !sentMembers.has(name))
      .map(([name, member]) => [name, sentTexts.has(name) ? "" : withoutDetails(member)])
  )
}
