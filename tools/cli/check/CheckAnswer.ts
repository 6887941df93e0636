/** What `check` prints: a summary for people, one JSON document for machines. */
import type { Schema } from "effect"
import { inEnglish, plain, table } from "@data-import/terminal/Answer"
import { type Overlay, overlayJson, overlayTexts } from "../book/Replacement.ts"
import { remedyOf } from "../reports/ReportCode.ts"
import type { CheckResult } from "./CheckBook.ts"
import { isOfRows, type SummarisedProblem } from "./Summary.ts"

/** Problems that are printed; a report file has the others. */
const printed = 20

const groupJson = (
  { attr, code, examples, lines }: SummarisedProblem,
  more: { readonly cleared_lines?: number } = {}
) => ({
  code,
  attr,
  lines,
  ...more,
  remedy: remedyOf(code, isOfRows({ examples })),
  examples: examples.map(({ column, detail, externalAccountNumber, line, place, row, value }) => ({
    line,
    ...(row === null ? {} : { row, column }),
    ...(place && { place }),
    external_account_number: externalAccountNumber,
    value,
    detail
  }))
})

export const jsonOf = (
  book: string,
  result: CheckResult,
  notes: ReadonlyArray<string>,
  overlay: Overlay | null
): Schema.Json => ({
  book,
  ...overlayJson(overlay),
  import_supplier: result.supplier,
  lines: result.lines,
  valid_lines: result.lines - result.failed,
  failed_lines: result.failed,
  problems: result.problems.map((problem) =>
    groupJson(problem, { cleared_lines: problem.cleared })
  ),
  warned_lines: result.warnings.failed,
  warnings: result.warnings.problems.map((warning) => groupJson(warning)),
  notes,
  seconds: result.milliseconds / 1_000
})

/** In a CSV book people look for rows and columns. */
const placesOf = (examples: SummarisedProblem["examples"]) => ({
  column: plain(examples[0]?.column),
  example_rows: examples.map(({ place, row }) => place ?? row),
  example_lines: examples.map(({ line }) => line)
})

/** A cell with the form that it must have; otherwise the value. */
const exampleOf = (example: SummarisedProblem["examples"][number] | undefined) => {
  const { detail = null, value = null } = example ?? {}
  return value !== null && detail?.startsWith(value) === true ? detail : value
}

const rowOf = ({ attr, cleared, code, examples, lines }: SummarisedProblem) => ({
  lines: inEnglish(lines),
  cleared_lines: inEnglish(cleared),
  code,
  attr: plain(attr),
  ...placesOf(examples),
  example: plain(exampleOf(examples[0]))
})

const columnsOf = ([first]: ReadonlyArray<SummarisedProblem>, counts: ReadonlyArray<string>) => {
  const places = first?.examples[0]?.row === null ? ["example_lines"] : ["column", "example_rows"]
  return [...counts, "code", "attr", ...places, "example"]
}

const warningsOf = ({ problems, failed }: CheckResult["warnings"]): ReadonlyArray<string> => {
  if (failed === 0) return []
  const shown = problems.slice(0, printed)
  const rows = table(columnsOf(shown, ["lines"]), shown.map(rowOf))
  return [
    `Warnings, which fail no line, in ${inEnglish(failed)} ${failed === 1 ? "line" : "lines"}:\n${rows}`,
    remedies(shown)
  ]
}

/** The remedy of each code, in the order in which the codes are listed. */
const remedies = (problems: ReadonlyArray<SummarisedProblem>): string => {
  const codes = [...new Set(problems.map(({ code }) => code))]
  const isCsvBook = problems.some(isOfRows)
  return codes.map((code) => `${code}: ${remedyOf(code, isCsvBook)}`).join("\n")
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

export const textOf = (
  book: string,
  result: CheckResult,
  notes: ReadonlyArray<string>,
  overlay: Overlay | null
): string => {
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
          [table(columnsOf(shown, ["lines", "cleared_lines"]), shown.map(rowOf)), ...more].join(
            "\n"
          ),
          gainOf(result),
          remedies(shown)
        ]
  const head = `${book}: ${counts} (${speedOf(result)})`
  const begin = [head, ...overlayTexts(overlay)].join("\n")
  return [begin, ...found, ...warningsOf(result.warnings), notes.join("\n")].join("\n\n")
}
