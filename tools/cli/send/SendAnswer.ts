/**
 * What `send` prints at its end: counts that add up, the problems, and the file of the failed
 * lines.
 */
import type { Schema } from "effect"
import type { Answer, Batch } from "@data-import/client/effect"
import { inEnglish } from "@data-import/terminal/Answer"
import { countsText, problemsText } from "@data-import/terminal/BatchText"

type Problems = Answer<"batches", "listBatchProblems">["problems"]

export interface Outcome {
  readonly book: string
  readonly batch: Batch
  readonly problems: Problems
  /** The file of the lines that failed. */
  readonly failedFile: string
  readonly failedLines: number
}

const outcomes = ["succeeded", "already", "failed", "cancelled"] as const

/** Whether every line that was sent has ended in one way. */
export const closes = ({ counts }: Batch, lines: number): boolean =>
  counts.remaining === 0 &&
  counts.received === lines &&
  outcomes.reduce((sum, outcome) => sum + counts[outcome], 0) === lines

export const problemsJson = (problems: Problems): ReadonlyArray<Schema.Json> =>
  problems.map((problem) => ({
    ...problem,
    examples: problem.examples.map((example) => ({ ...example }))
  }))

export const jsonOf = ({
  batch,
  book,
  failedFile,
  failedLines,
  problems
}: Outcome): Schema.Json => ({
  book,
  batch_id: batch.batch_id,
  import_supplier: batch.import_supplier,
  operation: batch.operation,
  dry_run: batch.dry_run,
  state: batch.state,
  counts: { ...batch.counts },
  problems: problemsJson(problems),
  failed_file: failedFile,
  failed_lines: failedLines
})

export const textOf = ({ batch, book, failedFile, failedLines, problems }: Outcome): string => {
  const isRows = failedFile.endsWith(".csv")
  const failed = [
    `${failedFile} has the ${inEnglish(failedLines)} lines as they were sent, and why.`,
    ...(isRows ? [`Correct them there, and send again with --corrections ${failedFile}`] : []),
    `To try the same lines again: data-import batch retry ${batch.batch_id}`
  ]
  return [
    `${book}: ${countsText(batch)} (batch ${batch.batch_id}, ${batch.state})`,
    ...problemsText(problems),
    ...(failedLines === 0 ? [] : [failed.join("\n")])
  ].join("\n\n")
}
