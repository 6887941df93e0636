/**
 * The page of a preview: a section for each row, one of which is shown. Links lead to the others,
 * by their address alone. So it needs no script, works with the keyboard, and loads nothing.
 */
import { inEnglish } from "@data-import/terminal/Answer"
import { originIn } from "../book/Superseded.ts"
import { html, Html, htmlPage } from "../reports/Html.ts"
import { style } from "../reports/HtmlStyle.ts"
import type { Preview, PreviewedCell, PreviewedRow, RowError } from "./PreviewedRow.ts"
import { verdictOf } from "./PreviewText.ts"

const ownStyle = `
body { max-width: 90rem; }
section { display: none; }
section:target, main:not(:has(:target)) section.first { display: block; }
nav { display: flex; flex-wrap: wrap; gap: .5rem 1rem; margin: 1rem 0; }
.sides { display: grid; grid-template-columns: 3fr 2fr; gap: 1.5rem; align-items: start; }
@media (width < 60rem) { .sides { grid-template-columns: 1fr; } }
pre { margin: 0; padding: 1rem; overflow-x: auto; background: var(--raised); border-radius: .5rem; }
td p { margin: 0; }
tr.bad td { border-top-color: var(--bad); }
a { color: var(--bar); }
@media print { section { display: block; break-after: page; } nav { display: none; } }
`

const errorOf = (error: RowError): Html => {
  const { code, detail } = error
  const origin = originIn(error)
  return html`<p class="bad">
    ${origin === null ? "" : `${origin}: `}${detail} <code>${code}</code>
  </p>`
}

const fieldOf = ({ attr, value }: PreviewedCell["fields"][number]): Html =>
  html`<p><code>${attr}</code>${value === null ? "" : html` = <code>${value}</code>`}</p>`

const cellOf = ({ cell, column, errors, fields }: PreviewedCell): Html =>
  html`<tr class="${errors.length > 0 ? "bad" : ""}">
    <th scope="row">${column}</th>
    <td>${cell}</td>
    <td>
      ${fields.length === 0 ? html`<span class="quiet">ignored</span>` : fields.map(fieldOf)}
      ${errors.map(errorOf)}
    </td>
  </tr>`

const link = (row: PreviewedRow | undefined, text: string): Html =>
  row === undefined
    ? html`<span class="quiet">${text}</span>`
    : html`<a href="#row-${row.row}">${text}</a>`

/** Pieces of the account keep their line breaks. */
const accountOf = (account: string): Html =>
  html`<pre tabindex="0" aria-label="The account"><code>${account
    .split("\n")
    .map((line) => new Html(`${html`${line}`.text}\n`))}</code></pre>`

const sectionOf = (row: PreviewedRow, index: number, rows: ReadonlyArray<PreviewedRow>): Html => {
  const nextFailed = rows.slice(index + 1).find(({ isFailed }) => isFailed)
  const verdict = row.isFailed ? "bad" : "good"
  return html`<section
    id="row-${row.row}"
    class="${index === 0 ? "first" : ""}"
    aria-labelledby="title-${row.row}"
  >
    <h2 id="title-${row.row}" class="${verdict}">Row ${row.row} ${verdictOf(row)}</h2>
    <nav aria-label="Rows">
      ${link(rows[index - 1], "Previous")} ${link(rows[index + 1], "Next")}
      ${link(nextFailed, "Next that fails")} <a href="#rows">All rows</a>
    </nav>
    ${row.errors.map(errorOf)} ${row.warnings.map(({ detail }) => html`<p>Warning: ${detail}</p>`)}
    <div class="sides">
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Cell</th>
              <th scope="col">Becomes</th>
            </tr>
          </thead>
          <tbody>
            ${row.cells.map(cellOf)}
          </tbody>
        </table>
      </div>
      ${row.account === null ? html`` : accountOf(row.account)}
    </div>
  </section>`
}

export const previewPage = (book: string, { failed, isWhole, rows, seen }: Preview): string => {
  const looked = isWhole ? `${inEnglish(seen)} rows` : `The first ${inEnglish(seen)} rows`
  const body = html`<header>
      <h1>Preview of ${book}</h1>
      <p class="quiet">
        ${looked}, of which ${inEnglish(failed)} fail; ${inEnglish(rows.length)} are shown.
      </p>
    </header>
    <main>${rows.map(sectionOf)}</main>
    <footer id="rows">
      <h2>Rows</h2>
      <nav aria-label="All rows">
        ${rows.map((row) => link(row, `${row.row}${row.isFailed ? " fails" : ""}`))}
      </nav>
    </footer>`
  return htmlPage(`Preview of ${book}`, style + ownStyle, body)
}
