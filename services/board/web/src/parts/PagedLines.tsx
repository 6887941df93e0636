/** A page of the lines of a batch, in their order. */
import { Pager, type Paging } from "./Pager.tsx"
import { type Column, Table } from "./Table.tsx"

interface Props<Row> {
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly paging: Paging<number>
  /** The line after which to continue; null at the end. */
  readonly next: number | null
}

export const PagedLines = <Row extends { readonly line: number }>({
  columns,
  next,
  paging,
  rows
}: Props<Row>) => (
  <>
    {rows.length === 0 && paging.position === null && next === null ? (
      <p class="empty">No line is like this.</p>
    ) : (
      <Table
        caption="Lines in their order"
        columns={columns}
        rows={rows}
        keyOf={({ line }) => String(line)}
      />
    )}
    <Pager paging={paging} next={next} />
  </>
)
