/**
 * The lines of a batch, by outcome and by problem. Problems are stored only inside the results of
 * lines, so lines with a problem are found by reading failed lines.
 * Source: docs/contract/board.md#batches.
 */
import { Effect, Result } from "effect"
import type { BatchId } from "../batches/Batch.ts"
import type { BatchBody } from "../batches/BatchBody.ts"
import { clearedLines, type Problems } from "../batches/Problems.ts"
import type { Batches, LinesQuery, ListedLine } from "../batches/Batches.ts"
import { withoutIndexes } from "../schema/FieldErrors.ts"
import { isObject, parse } from "../schema/Json.ts"
import { wholePayload } from "../schema/Rules.ts"
import { maskedError, maskedPath } from "./Masking.ts"

/** The conditions of a list; lines meet all of them. */
export interface LinesFilter {
  readonly outcome?: Exclude<LinesQuery["outcome"], null>
  readonly code?: string
  /** The path of an error, with `*` for list indexes. */
  readonly attr?: string
  /** Only failed lines whose problems are all among the first n of the batch. */
  readonly first_problems?: number
}

export interface BatchLinesQuery extends LinesFilter {
  /** Only lines after this one; 0 for all. */
  readonly after: number
  /** From 1 to 1,000. */
  readonly limit: number
}

/** With a condition on problems, a page reads at most `partsOfPage` parts of this many lines. */
const partSize = 1_000
const partsOfPage = 8

/** Problems listed for a line; the account's page has all. */
const problemsOfLine = 20

/** An error of a failed line. */
interface LineError {
  readonly code: string
  readonly attr: string
  readonly detail: string | undefined
  readonly businessDay: string | undefined
}

const textIn = (value: unknown, name: string): string | undefined => {
  const found = isObject(value) ? value[name] : undefined
  return typeof found === "string" ? found : undefined
}

export const resultOf = ({ text }: Pick<ListedLine, "text">): unknown =>
  text === null ? null : Result.getOrElse(parse(text), () => null)

const errorIn = (error: unknown): ReadonlyArray<LineError> => {
  const code = textIn(error, "code")
  const attr = textIn(error, "attr") ?? wholePayload
  const parameters = isObject(error) ? error["parameters"] : undefined
  const businessDay = textIn(parameters, "business_day")
  return code === undefined ? [] : [{ code, attr, detail: textIn(error, "detail"), businessDay }]
}

/** The errors of the fields, or the error itself if it has none. */
export const errorsIn = (result: unknown): ReadonlyArray<LineError> => {
  const error = isObject(result) ? result["error"] : undefined
  const errors = isObject(error) ? error["errors"] : undefined
  return Array.isArray(errors) && errors.length > 0 ? errors.flatMap(errorIn) : errorIn(error)
}

const problemsIn = (result: unknown): ReadonlyArray<LineError> =>
  errorsIn(result).map((error) => ({ ...error, attr: withoutIndexes(error.attr) }))

const lineBody = (line: ListedLine) => {
  const result = resultOf(line)
  return {
    line: line.line,
    external_account_number: line.externalAccountNumber,
    kraken_account_number: textIn(result, "kraken_account_number") ?? null,
    outcome: line.outcome ?? ("REMAINING" as const),
    problems: problemsIn(result)
      .slice(0, problemsOfLine)
      .map(({ attr, businessDay, code, detail }) => ({
        code,
        attr: maskedPath(attr),
        ...maskedError(code, detail, businessDay)
      }))
  }
}

const keyOf = ({ attr, code }: { readonly attr: string; readonly code: string }): string =>
  JSON.stringify([code, attr])

const hasProblemCondition = ({ attr, code, first_problems: first }: LinesFilter): boolean =>
  [attr, code, first].some((condition) => condition !== undefined)

/** Whether the problems of a failed line meet the conditions. */
const meets = ({ attr, code, first_problems: first }: LinesFilter, { groups }: Problems) => {
  const cleared = new Set(groups.slice(0, first ?? 0).map(keyOf))
  return (line: ListedLine): boolean => {
    const problems = problemsIn(resultOf(line))
    return (
      problems.some(
        (problem) =>
          (code === undefined || problem.code === code) &&
          (attr === undefined || maskedPath(problem.attr) === attr)
      ) &&
      (first === undefined || problems.every((problem) => cleared.has(keyOf(problem))))
    )
  }
}

const countNames = {
  SUCCEEDED: "succeeded",
  ALREADY: "already",
  FAILED: "failed",
  CANCELLED: "cancelled",
  REMAINING: "remaining"
} as const

/** How many lines match in all; null for combinations that are not counted. */
const totalOf = (filter: LinesFilter, { counts }: BatchBody, problems: Problems): number | null => {
  const { attr, code, first_problems: first, outcome } = filter
  if (!hasProblemCondition(filter)) {
    return counts[outcome === undefined ? "received" : countNames[outcome]]
  }
  if (outcome !== undefined && outcome !== "FAILED") return 0
  if (code === undefined && attr === undefined) {
    const cleared = clearedLines(problems)
    return cleared[Math.min(first ?? 0, cleared.length) - 1] ?? 0
  }
  const group = problems.groups.find((each) => each.code === code && maskedPath(each.attr) === attr)
  return first === undefined ? (group?.lines ?? null) : null
}

/** Up to limit + 1 matching lines, among those that are read for a page. */
const look = Effect.fnUntraced(function* (
  batches: Batches["Service"],
  id: BatchId,
  query: BatchLinesQuery,
  problems: Problems
) {
  const { after, limit, outcome = null, ...filter } = query
  if (!hasProblemCondition(filter)) {
    const lines = yield* batches.lines({ id, afterLine: after, outcome, limit: limit + 1 })
    return { lines, through: null }
  }
  const isMet = meets(filter, problems)
  const lines: Array<ListedLine> = []
  let through = after
  for (let parts = 0; parts < partsOfPage; parts++) {
    const part = yield* batches.lines({
      id,
      afterLine: through,
      outcome: "FAILED",
      limit: partSize
    })
    lines.push(...part.filter(isMet))
    through = part.at(-1)?.line ?? through
    if (part.length < partSize) return { lines, through: null }
    if (lines.length > limit) break
  }
  return { lines, through }
})

/** A page of the lines. It may be shorter than the limit although `next_after` is not null. */
export const linesOf = Effect.fnUntraced(function* (
  batches: Batches["Service"],
  id: BatchId,
  batch: BatchBody,
  query: BatchLinesQuery,
  problemsLimit: number
) {
  const problems = hasProblemCondition(query)
    ? yield* batches.problems({ id, limit: problemsLimit })
    : { groups: [], sets: [] }
  const total = totalOf(query, batch, problems)
  if (total === 0) return { lines: [], total, next_after: null }
  const { lines, through } = yield* look(batches, id, query, problems)
  const shown = lines.slice(0, query.limit)
  const next = lines.length > shown.length ? (shown.at(-1)?.line ?? null) : through
  return { lines: shown.map(lineBody), total, next_after: next }
})
