/** What `check` prints: a summary for people, one JSON document for machines. */
import type { Schema } from "effect"
import { inEnglish, plain, table } from "@data-import/terminal/Answer"
import { remedyOf } from "../reports/LineReport.ts"
import type { CheckResult } from "./CheckBook.ts"
import type { SummarisedProblem } from "./Summary.ts"

/** Problems that are printed; a report file has the others. */
const printed = 20

export const jsonOf = (
  book: string,
  result: CheckResult,
  notes: ReadonlyArray<string>
): Schema.Json => ({
  book,
  import_supplier: result.supplier,
  lines: result.lines,
  valid_lines: result.lines - result.failed,
  failed_lines: result.failed,
  problems: result.problems.map(({ attr, cleared, code, examples, lines }) => ({
    code,
    attr,
    lines,
    cleared_lines: cleared,
    remedy: remedyOf(code),
    examples: examples.map(({ column, detail, externalAccountNumber, line, row, value }) => ({
      line,
      ...(row === null ? {} : { row, column }),
      external_account_number: externalAccountNumber,
      value,
      detail
    }))
  })),
  notes,
  seconds: result.milliseconds / 1_000
})

/** In a CSV book people look for rows and columns. */
const placesOf = (examples: SummarisedProblem["examples"]) => ({
  column: plain(examples[0]?.column),
  example_rows: examples.map(({ row }) => row),
  example_lines: examples.map(({ line }) => line)
})

const rowOf = ({ attr, cleared, code, examples, lines }: SummarisedProblem) => ({
  lines: inEnglish(lines),
  cleared_lines: inEnglish(cleared),
  code,
  attr: plain(attr),
  ...placesOf(examples),
  example: plain(examples[0]?.value)
})

const columnsOf = ({ problems }: CheckResult) => {
  const places =
    problems[0]?.examples[0]?.row === null ? ["example_lines"] : ["column", "example_rows"]
  return ["lines", "cleared_lines", "code", "attr", ...places, "example"]
}

/** The remedy of each code, in the order in which the codes are listed. */
const remedies = (problems: ReadonlyArray<SummarisedProblem>): string => {
  const codes = [...new Set(problems.map(({ code }) => code))]
  return codes.map((code) => `${code}: ${remedyOf(code)}`).join("\n")
}

/** What fixing the first few would clear, unless that is everything or nothing. */
const gainOf = ({ failed, problems }: CheckResult): string => {
  const few = Math.min(3, problems.length)
  const cleared = problems[few - 1]?.cleared ?? 0
  const them = few === 1 ? "the first problem" : `the first ${few} problems`
  return `Fixing ${them} clears ${inEnglish(cleared)} of ${inEnglish(failed)} failed lines.`
}

const speedOf = ({ lines, milliseconds }: CheckResult): string => {
  const seconds = milliseconds / 1_000
  const rate = seconds > 0 ? `, ${inEnglish(lines / seconds)} lines/s` : ""
  return `${seconds.toFixed(1)} s${rate}`
}

export const textOf = (book: string, result: CheckResult, notes: ReadonlyArray<string>): string => {
  const { different, failed, lines, problems } = result
  const shown = problems.slice(0, printed)
  const valid = inEnglish(lines - failed)
  const counts = `${inEnglish(lines)} lines: ${valid} valid, ${inEnglish(failed)} failed`
  const left = different - shown.length
  const more = left > 0 ? [`${inEnglish(left)} more problems: --output report.html shows them`] : []
  const found =
    failed === 0
      ? []
      : [
          [table(columnsOf(result), shown.map(rowOf)), ...more].join("\n"),
          gainOf(result),
          remedies(shown)
        ]
  return [`${book}: ${counts} (${speedOf(result)})`, ...found, notes.join("\n")].join("\n\n")
}
