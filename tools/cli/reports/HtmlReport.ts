/**
 * The page of a check for people who know the accounts but not the API: the errors, their
 * frequency, and their remedies. It is one file without scripts, and loads nothing.
 */
import { inEnglish } from "@data-import/terminal/Answer"
import type { CheckResult } from "../check/CheckBook.ts"
import { type Example, isOfRows, type SummarisedProblem } from "../check/Summary.ts"
import { html, type Html, htmlPage } from "./Html.ts"
import { style } from "./HtmlStyle.ts"
import { entryOf, remedyOf } from "./ReportCode.ts"

export interface PageOf {
  readonly book: string
  readonly result: CheckResult
  readonly notes: ReadonlyArray<string>
  /** When the book was checked, as a text. */
  readonly checkedAt: string
}

const linesOf = (count: number): string => (count === 1 ? "1 line" : `${inEnglish(count)} lines`)

/** `customers.*.date_of_birth` as "customers › date of birth". */
const placeOf = (attr: string): string =>
  attr === "non_field_errors"
    ? "the whole account"
    : attr
        .split(".")
        .filter((part) => part !== "*")
        .map((part) => part.replaceAll("_", " "))
        .join(" › ")

const shortened = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text

/** Problems in the chart. */
const charted = 10
const rowHeight = 52
const chartWidth = 760

const barOf = ({ attr, code, lines }: SummarisedProblem, index: number, most: number): Html => {
  const y = index * rowHeight
  const width = Math.max(2, Math.round((lines / most) * chartWidth))
  const label = `${index + 1}. ${shortened(placeOf(attr), 40)}: ${shortened(code, 40)}`
  return html`<text x="0" y="${y + 18}">${label}</text>
    <text x="${chartWidth}" y="${y + 18}" text-anchor="end">${linesOf(lines)}</text>
    <rect class="room" x="0" y="${y + 26}" width="${chartWidth}" height="14" rx="3" />
    <rect class="bar" x="0" y="${y + 26}" width="${width}" height="14" rx="3" />`
}

const chartOf = (problems: ReadonlyArray<SummarisedProblem>): Html => {
  const shown = problems.slice(0, charted)
  const most = shown[0]?.lines ?? 1
  const bars = shown.map((problem, index) => barOf(problem, index, most))
  return html`<svg
    viewBox="0 0 ${chartWidth} ${shown.length * rowHeight}"
    role="img"
    aria-labelledby="chart"
  >
    <title id="chart">
      Failed lines of the ${shown.length} most frequent problems, listed below
    </title>
    ${bars}
  </svg>`
}

const exampleOf = (example: Example): Html => {
  const { column, detail, externalAccountNumber, line, place, row, value } = example
  const own = row === null ? `line ${inEnglish(line)}` : `row ${inEnglish(row)}`
  return html`<tr>
    <td>${place ?? own}${column === null ? "" : `, column ${column}`}</td>
    <td>${externalAccountNumber ?? "–"}</td>
    <td>${value === null ? "" : html`<code>${value}</code>`}</td>
    <td>${detail ?? ""}</td>
  </tr>`
}

const problemOf = (problem: SummarisedProblem, index: number, failed: number): Html => {
  const these = index === 0 ? "Fixing this problem" : `Fixing problems 1 to ${index + 1}`
  return groupOf(
    problem,
    index,
    `${these} clears ${inEnglish(problem.cleared)} of ${linesOf(failed)}.`
  )
}

const groupOf = (problem: SummarisedProblem, index: number, gain: string): Html => {
  const { attr, code, examples, lines } = problem
  return html`<article>
    <h3>${index + 1}. ${entryOf(code).meaning}</h3>
    <p>At <strong>${placeOf(attr)}</strong>, in ${linesOf(lines)}.</p>
    <p><strong>What to do:</strong> ${remedyOf(code, isOfRows(problem))}</p>
    <p class="quiet">${gain} Code <code>${code}</code> at <code>${attr}</code>.</p>
    <details>
      <summary>Examples</summary>
      <div class="scroll">
        <table>
          <caption>
            The first ${linesOf(examples.length)} with this problem
          </caption>
          <thead>
            <tr>
              <th scope="col">Where</th>
              <th scope="col">Account</th>
              <th scope="col">Value</th>
              <th scope="col">What is wrong</th>
            </tr>
          </thead>
          <tbody>
            ${examples.map(exampleOf)}
          </tbody>
        </table>
      </div>
    </details>
  </article>`
}

const problemsOf = ({ different, failed, problems }: CheckResult): Html => {
  const first = problems[Math.min(3, problems.length) - 1]
  if (first === undefined) return html`<p class="good">No line failed.</p>`
  const few = Math.min(3, problems.length)
  const unlisted = different - problems.length
  const more =
    unlisted > 0 ? html`<p>${inEnglish(unlisted)} rarer problems are left out.</p>` : html``
  return html`<h2>Where to begin</h2>
    <p>
      Fixing the ${few === 1 ? "first problem" : `first ${few} problems`} clears
      ${inEnglish(first.cleared)} of ${linesOf(failed)} that failed.
    </p>
    ${chartOf(problems)}
    <h2>Problems, the most frequent first</h2>
    ${problems.map((problem, index) => problemOf(problem, index, failed))} ${more}`
}

const warningsOf = ({ failed, problems }: CheckResult["warnings"]): Html =>
  failed === 0
    ? html``
    : html`<h2>Warnings</h2>
        <p>In ${linesOf(failed)}, which do not fail for them.</p>
        ${problems.map((problem, index) => groupOf(problem, index, ""))}`

export const htmlReport = ({ book, checkedAt, notes, result }: PageOf): string => {
  const { failed, lines } = result
  const verdict = failed === 0 ? "good" : "bad"
  const body = html`<header>
      <h1>Check of ${book}</h1>
      <p class="quiet">${checkedAt}</p>
    </header>
    <main>
      <dl class="counts">
        <div>
          <dt>Lines</dt>
          <dd>${inEnglish(lines)}</dd>
        </div>
        <div>
          <dt>Valid</dt>
          <dd class="good">${inEnglish(lines - failed)}</dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd class="${verdict}">${inEnglish(failed)}</dd>
        </div>
      </dl>
      ${problemsOf(result)} ${warningsOf(result.warnings)}
      <h2>Notes</h2>
      <ul>
        ${notes.map((note) => html`<li>${note}</li>`)}
      </ul>
    </main>`
  return htmlPage(`Check of ${book}`, style, body)
}
