/** A chart's data as a table and as a CSV file, collapsed until it is opened. */
import { useState } from "preact/hooks"
import { csvOf } from "@data-import/domain/board/Csv"
import { count } from "../text/Numbers.ts"

type Cell = string | number | null

interface Props {
  readonly title: string
  readonly file: string
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
}

const shownRows = 200

const download = ({ file, head, rows }: Props) => {
  const url = URL.createObjectURL(new Blob([csvOf([head, ...rows])], { type: "text/csv" }))
  const link = document.createElement("a")
  link.href = url
  link.download = `${file}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1_000)
}

const cellOf = (cell: Cell) => (typeof cell === "number" ? count(cell) : (cell ?? "–"))

const Rows = ({ head, rows, title }: Props) => (
  <div class="scroll" role="region" aria-label={`Data of ${title}`} tabIndex={0}>
    <table class="plain">
      <caption class="hidden">{title}</caption>
      <thead>
        <tr>
          {head.map((name) => (
            <th scope="col" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(-shownRows).map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column} class={typeof cell === "number" ? "number" : undefined}>
                {cellOf(cell)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

export const ChartData = (props: Props) => {
  const [isOpen, setOpen] = useState(false)
  const hidden = props.rows.length - shownRows
  return (
    <details class="data" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Data as a table</summary>
      {isOpen && (
        <>
          <p class="quiet">
            <button type="button" class="plain" onClick={() => download(props)}>
              Download as CSV
            </button>
            {hidden > 0 &&
              ` The newest ${shownRows} of ${count(props.rows.length)} rows are shown.`}
          </p>
          <Rows {...props} />
        </>
      )}
    </details>
  )
}
