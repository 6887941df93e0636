/** What `send` prints at its end: counts that close, the problems, and where the failed lines are. */
import type { Schema } from "effect"
import type { Answer, Batch } from "@data-import/client/effect"
import { registry } from "@data-import/domain/codes/Code"
import { plain, table } from "@data-import/terminal/Answer"
import { inEnglish } from "../check/CheckAnswer.ts"

type Problems = Answer<"batches", "listBatchProblems">["problems"]

export interface Outcome {
  readonly book: string
  readonly batch: Batch
  readonly problems: Problems
  /** The file of the lines that did not get through. */
  readonly failedFile: string
  readonly failedLines: number
}

const outcomes = ["succeeded", "already", "failed", "cancelled"] as const

/** Whether every line that was sent has ended in one way. */
export const closes = ({ counts }: Batch, lines: number): boolean =>
  counts.remaining === 0 &&
  counts.received === lines &&
  outcomes.reduce((sum, outcome) => sum + counts[outcome], 0) === lines

const printed = 20
const columns = ["lines", "cleared_lines", "code", "attr", "example_lines"]

const rowOf = ({ attr, cleared_lines, code, examples, lines }: Problems[number]) => ({
  lines: inEnglish(lines),
  cleared_lines: inEnglish(cleared_lines),
  code,
  attr: plain(attr),
  example_lines: examples.map(({ line }) => line)
})

/** A newer service may have codes that this version does not know. */
const remedyOf = (code: string): string | undefined =>
  (registry as Readonly<Record<string, { readonly remedy: string } | undefined>>)[code]?.remedy

const remedies = (problems: Problems): ReadonlyArray<string> =>
  [...new Set(problems.map(({ code }) => code))].flatMap((code) => {
    const remedy = remedyOf(code)
    return remedy === undefined ? [] : [`${code}: ${remedy}`]
  })

/** The problems of a batch as a table, the most frequent first, and what to do about them. */
export const problemsText = (problems: Problems): ReadonlyArray<string> => {
  const shown = problems.slice(0, printed)
  const more = problems.length - shown.length
  const rest = more > 0 ? [`${inEnglish(more)} more problems: --json prints them`] : []
  return problems.length === 0
    ? []
    : [[table(columns, shown.map(rowOf)), ...rest].join("\n"), remedies(shown).join("\n")]
}

export const countsText = ({ counts }: Batch): string => {
  const sum = outcomes.map((outcome) => `${inEnglish(counts[outcome])} ${outcome}`).join(" + ")
  return `${inEnglish(counts.received)} lines = ${sum}`
}

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
  state: batch.state,
  counts: { ...batch.counts },
  problems: problemsJson(problems),
  failed_file: failedFile,
  failed_lines: failedLines
})

export const textOf = ({ batch, book, failedFile, failedLines, problems }: Outcome): string => {
  const failed = [
    `${failedFile} has the ${inEnglish(failedLines)} lines as they were sent, and why.`,
    `To try the same lines again: data-import batch retry ${batch.batch_id}`
  ]
  return [
    `${book}: ${countsText(batch)} (batch ${batch.batch_id}, ${batch.state})`,
    ...problemsText(problems),
    ...(failedLines === 0 ? [] : [failed.join("\n")])
  ].join("\n\n")
}
