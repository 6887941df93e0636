/**
 * A table with a sticky head that becomes a list of cards on a narrow screen. Roles are explicit,
 * because browsers drop the implicit ones if CSS changes the display of a table.
 */
import type { ComponentChildren } from "preact"
import { Link } from "../routing/Location.tsx"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
  /** Whether its cells are the headers of their rows. */
  readonly isHead?: boolean
  /** Whether the name is for screen readers only. */
  readonly isNameHidden?: boolean
  readonly class?: string
  /** The link that sorts by this column, or undoes that. */
  readonly sortTo?: string
  readonly sorted?: "ascending" | "descending" | undefined
}

interface Props<Row> {
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  readonly rowClass?: (row: Row) => string
  readonly foot?: ReadonlyArray<ComponentChildren>
  readonly class?: string
}

const classOf = <Row,>({ class: name = "", isNumber = false }: Column<Row>): string =>
  `${isNumber ? "number " : ""}${name}`

const Cell = <Row,>({ column, row }: { column: Column<Row>; row: Row }) =>
  column.isHead === true ? (
    <th role="rowheader" scope="row" class={classOf(column)}>
      {column.cell(row)}
    </th>
  ) : (
    <td role="cell" class={classOf(column)}>
      <span class="card-name" aria-hidden="true">
        {column.name}
      </span>
      <span class="cell">{column.cell(row)}</span>
    </td>
  )

const Head = <Row,>({ columns }: { columns: ReadonlyArray<Column<Row>> }) => (
  <thead role="rowgroup">
    <tr role="row">
      {columns.map((column) => (
        <th
          role="columnheader"
          scope="col"
          key={column.name}
          class={classOf(column)}
          aria-sort={column.sorted}
        >
          {column.sortTo === undefined ? (
            <span class={column.isNameHidden === true ? "hidden" : undefined}>{column.name}</span>
          ) : (
            <Link to={column.sortTo}>{column.name}</Link>
          )}
        </th>
      ))}
    </tr>
  </thead>
)

export const Table = <Row,>(props: Props<Row>) => {
  const { caption, columns, foot, keyOf, rowClass, rows } = props
  return (
    <table role="table" class={`cards ${props.class ?? ""}`}>
      <caption class="hidden">{caption}</caption>
      <Head columns={columns} />
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr role="row" key={keyOf(row)} class={rowClass?.(row)}>
            {columns.map((column) => (
              <Cell key={column.name} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
      {foot !== undefined && (
        <tfoot role="rowgroup">
          <tr role="row">
            {foot.map((cell, index) => (
              <td role="cell" key={index} class={columns[index] && classOf(columns[index])}>
                {cell}
              </td>
            ))}
          </tr>
        </tfoot>
      )}
    </table>
  )
}
