/**
 * What `send` prints at its end: counts that add up, the problems, and the file of the failed
 * lines.
 */
import type { Schema } from "effect"
import type { Answer, Batch } from "@data-import/client/effect"
import { withoutIndexes } from "@data-import/domain/schema/FieldErrors"
import { type Entry, inEnglish } from "@data-import/terminal/Answer"
import { type Overlay, overlayJson } from "../book/Replacement.ts"
import { knownRemedyOf } from "../reports/ReportCode.ts"
import type { FailedRow, PartBatch } from "./FailedLines.ts"
import { countsText, type Example, problemsText } from "@data-import/terminal/BatchText"

type Problems = Answer<"batches", "listBatchProblems">["problems"]

/** A batch with its problems. */
export interface PartOutcome extends PartBatch {
  readonly problems: Problems
}

export interface Outcome {
  readonly book: string
  readonly overlay: Overlay | null
  readonly lines: number
  /** At least one. */
  readonly parts: ReadonlyArray<PartOutcome>
  /** The file of the lines that failed. */
  readonly failedFile: string
  readonly failedLines: number
  /** Where examples of problems are in a CSV book, by their lines. */
  readonly rows: ReadonlyMap<number, FailedRow>
}

const linesIn = ({ firstLine, problems }: PartOutcome): ReadonlyArray<number> =>
  problems.flatMap(({ examples }) => examples.map(({ line }) => line + firstLine - 1))

/** The lines of the book that are examples of problems. */
export const exampleLines = (parts: ReadonlyArray<PartOutcome>): ReadonlySet<number> =>
  new Set(parts.flatMap(linesIn))

const outcomes = ["succeeded", "already", "failed", "cancelled"] as const

/** Whether every line that was sent has ended in one way. */
export const closes = ({ counts }: Batch, lines: number): boolean =>
  counts.remaining === 0 &&
  counts.received === lines &&
  outcomes.reduce((sum, outcome) => sum + counts[outcome], 0) === lines

export const problemsJson = (problems: Problems, firstLine = 1): ReadonlyArray<Schema.Json> =>
  problems.map((problem) => ({
    ...problem,
    examples: problem.examples.map((example) => ({
      ...example,
      line: example.line + firstLine - 1
    }))
  }))

const states = ["CANCELLED", "COMPLETED_WITH_FAILURES", "COMPLETED"]

/** The counts of all batches, and the worst of their states. */
const totalOf = (parts: ReadonlyArray<PartOutcome>) => {
  const names = [...outcomes, "received", "remaining"] as const
  const counts = Object.fromEntries(
    names.map((name) => [name, parts.reduce((sum, { batch }) => sum + batch.counts[name], 0)])
  ) as Record<(typeof names)[number], number>
  const state = states.find((each) => parts.some(({ batch }) => batch.state === each))
  return { counts, state: state ?? parts[0]?.batch.state ?? "" }
}

const partJson = ({ batch, firstLine, problems }: PartOutcome) => ({
  batch_id: batch.batch_id,
  first_line: firstLine,
  state: batch.state,
  counts: { ...batch.counts },
  problems: problemsJson(problems, firstLine)
})

export const jsonOf = ({ book, failedFile, failedLines, lines, ...of }: Outcome): Entry | null => {
  const { overlay, parts } = of
  const [first, ...others] = parts
  if (first === undefined) return null
  const { batch, problems } = first
  const { counts, state } = totalOf(parts)
  const isOne = others.length === 0 && counts.received === lines
  return {
    book,
    ...overlayJson(overlay),
    ...(isOne && { batch_id: batch.batch_id }),
    import_supplier: batch.import_supplier,
    operation: batch.operation,
    dry_run: batch.dry_run,
    state,
    counts,
    ...(isOne
      ? { problems: problemsJson(problems) }
      : { batches: parts.map(partJson), lines_not_sent: lines - counts.received }),
    failed_file: failedFile,
    failed_lines: failedLines
  }
}

const exampleAt = (
  line: number,
  { attr, code }: Problems[number],
  rows: Outcome["rows"]
): Example => {
  const found = rows.get(line)
  if (found === undefined) return { line }
  const error = found.errors.find(
    (each) => each.code === code && withoutIndexes(each.attr) === attr
  )
  return {
    line,
    row: found.row,
    ...(error?.column !== undefined && { column: error.column }),
    ...(error?.value !== undefined && { value: error.value })
  }
}

/** The problems of a batch with the lines of the book, or the rows of a CSV book. */
const problemsOf = ({ firstLine, problems }: PartOutcome, rows: Outcome["rows"]) =>
  problemsText(
    problems.map((problem) => ({
      ...problem,
      examples: problem.examples.map(({ line }) => exampleAt(line + firstLine - 1, problem, rows))
    })),
    (code) => knownRemedyOf(code, rows.size > 0)
  )

const partText = (part: PartOutcome, rows: Outcome["rows"]): ReadonlyArray<string> => {
  const { batch, firstLine } = part
  const last = firstLine + batch.counts.received - 1
  const which = `lines ${inEnglish(firstLine)} to ${inEnglish(last)}`
  return [
    `Batch ${batch.batch_id}, ${which}: ${countsText(batch)} (${batch.state})`,
    ...problemsOf(part, rows)
  ]
}

const notSentText = (lines: number): string =>
  `${inEnglish(lines)} lines were not sent, because the batch before them was cancelled.`

/** Additions are corrected by further ones. */
const correctText = (file: string, operation: string): string =>
  operation === "STAGE" || operation === "IMPORT"
    ? `Correct them there, and send again with --corrections ${file}`
    : `Correct them there, and send ${file} as a book, with the same --operation`

export const textOf = ({ book, failedFile, failedLines, lines, ...of }: Outcome): string => {
  const { parts, rows } = of
  const [first, ...others] = parts
  if (first === undefined) return ""
  const isRows = failedFile.endsWith(".csv")
  const withFailed = parts.filter(({ batch }) => batch.counts.failed > 0)
  const failed = [
    `${failedFile} has the ${inEnglish(failedLines)} lines as they were sent, and why.`,
    ...(isRows ? [correctText(failedFile, first.batch.operation)] : []),
    ...withFailed.map(
      ({ batch }) =>
        "To try the same lines again, once what they lacked is there: " +
        `data-import batch retry ${batch.batch_id}`
    )
  ]
  const { counts, state } = totalOf(parts)
  const notSent = lines - counts.received
  const all = { ...first.batch, counts }
  const where = others.length === 0 ? `batch ${first.batch.batch_id}` : `${parts.length} batches`
  return [
    `${book}: ${countsText(all)} (${where}, ${state})`,
    ...(others.length === 0
      ? problemsOf(first, rows)
      : parts.flatMap((part) => partText(part, rows))),
    ...(notSent === 0 ? [] : [notSentText(notSent)]),
    ...(failedLines === 0 ? [] : [failed.join("\n")])
  ].join("\n\n")
}
