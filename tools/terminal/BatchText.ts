/** Batches and why their lines have failed, for people. */
import { registry } from "@data-import/domain/codes/Code"
import type { Schema } from "effect"
import { inEnglish, line, plain, table } from "./Answer.ts"

const outcomes = ["succeeded", "already", "failed", "cancelled", "remaining"] as const

/** As the service answers it, so far as it is read here. */
export interface BatchAnswer {
  readonly batch_id: string
  readonly name: string | null
  readonly dry_run: boolean
  readonly state: string
  readonly paused_by: ReadonlyArray<string>
  readonly lines_per_second: number
  readonly counts: Readonly<Record<(typeof outcomes)[number] | "received", number>>
}

const pausedBy = ({ paused_by }: BatchAnswer): string | null => paused_by.join(", ") || null

/** The lines of a batch as a sum that closes. A dry run is never read as an import. What remains is named only if something does. */
export const countsText = ({ counts, dry_run }: BatchAnswer): string => {
  const shown = outcomes.filter((outcome) => outcome !== "remaining" || counts.remaining > 0)
  const sum = shown.map((outcome) => `${inEnglish(counts[outcome])} ${outcome}`).join(" + ")
  const nothing = dry_run ? "; a dry run, which imported nothing" : ""
  return `${inEnglish(counts.received)} lines = ${sum}${nothing}`
}

export const batchText = (batch: BatchAnswer): string => {
  const { batch_id, counts: _, lines_per_second, ...members } = batch
  const shown = { ...members, paused_by: pausedBy(batch) }
  return [
    `${batch.dry_run ? "Dry run" : "Batch"} ${batch_id}`,
    ...Object.entries<Schema.Json>(shown).map(([name, value]) => line(name, value)),
    line("lines_per_second", inEnglish(lines_per_second)),
    `counts: ${countsText(batch)}`
  ].join("\n")
}

/** What a command that changes a batch says. */
export const stateText = (batch: BatchAnswer): string => {
  const reasons = pausedBy(batch)
  const rest = reasons === null ? "" : `, paused by ${reasons}`
  const which = batch.dry_run ? "The dry run" : "The batch"
  return `${which} ${batch.batch_id} is ${batch.state}${rest}.`
}

const columns = [
  "import_supplier",
  "operation",
  "dry_run",
  "name",
  "state",
  "paused_by",
  "waiting_for",
  "received",
  ...outcomes,
  "lines_per_second",
  "created_at"
]

const rowOf = (batch: BatchAnswer) => {
  const { counts, lines_per_second, name, ...members } = batch
  const numbers = Object.entries({ ...counts, lines_per_second })
  return {
    ...members,
    ...Object.fromEntries(numbers.map(([member, number]) => [member, inEnglish(number)])),
    name: plain(name),
    paused_by: pausedBy(batch)
  }
}

interface Page {
  readonly hasMore: boolean
  /** Members that this command shows beside those of every batch. */
  readonly beside?: ReadonlyArray<string>
}

/** A page of batches, which says how to list the next one. */
export const batchesText = (
  batches: ReadonlyArray<BatchAnswer>,
  { beside = [], hasMore }: Page
): string => {
  const last = hasMore ? batches.at(-1) : undefined
  const more = last === undefined ? [] : [`There are more: --after ${last.batch_id}`]
  return [table(["batch_id", ...beside, ...columns], batches.map(rowOf)), ...more].join("\n")
}

export interface ProblemAnswer {
  readonly code: string
  readonly attr: string
  readonly lines: number
  readonly cleared_lines: number
  readonly examples: ReadonlyArray<Example>
}

/** An example has the row of its book, its column and its value, if they are known. */
export interface Example {
  readonly line: number
  readonly row?: number | string
  readonly column?: string
  readonly value?: string
}

const printedProblems = 20
const counted = ["lines", "cleared_lines", "code", "attr"]
const ofLines = [...counted, "example_lines"]
const ofRows = [...counted, "column", "example_rows", "example"]

/** Examples of a CSV book have rows. */
const isOfRows = ({ examples: [first] }: ProblemAnswer): boolean => first?.row !== undefined

const problemRow = ({ attr, cleared_lines, code, examples, lines }: ProblemAnswer) => ({
  lines: inEnglish(lines),
  cleared_lines: inEnglish(cleared_lines),
  code,
  attr: plain(attr),
  column: plain(examples[0]?.column),
  example_lines: examples.map(({ line }) => line),
  example_rows: examples.map(({ line, row }) => row ?? `line ${line}`),
  example: plain(examples[0]?.value)
})

/** What to do; a newer service may have codes that this version does not know. */
type Remedy = (code: string) => string | undefined

const registered: Remedy = (code) =>
  (registry as Readonly<Record<string, { readonly remedy: string } | undefined>>)[code]?.remedy

const remedies = (
  problems: ReadonlyArray<ProblemAnswer>,
  remedyOf: Remedy
): ReadonlyArray<string> =>
  [...new Set(problems.map(({ code }) => code))].flatMap((code) => {
    const remedy = remedyOf(code)
    return remedy === undefined ? [] : [`${code}: ${remedy}`]
  })

/** The problems of a batch as a table, the most frequent first, and what to do about them. */
export const problemsText = (
  problems: ReadonlyArray<ProblemAnswer>,
  remedyOf: Remedy = registered
): ReadonlyArray<string> => {
  const shown = problems.slice(0, printedProblems)
  const more = problems.length - shown.length
  const rest = more > 0 ? [`${inEnglish(more)} more problems: --json prints them`] : []
  return problems.length === 0
    ? []
    : [
        [table(shown.some(isOfRows) ? ofRows : ofLines, shown.map(problemRow)), ...rest].join("\n"),
        remedies(shown, remedyOf).join("\n")
      ]
}
