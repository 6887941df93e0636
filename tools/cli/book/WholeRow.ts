/**
 * A malformed row in a file of corrections: its whole text is in the first cell. As long as it
 * stands there it is malformed, so that no part of it is imported unseen.
 */
import { errorsColumn, originColumn, reportColumns } from "./ColumnMap.ts"

const begin = "The row is malformed: "

export const malformedText = (fault: string): string => `${begin}${fault}.`

/** Whether the column is the supplier's own, and none of those that a report adds. */
export const isOwn = (name: string): boolean => !reportColumns.includes(name)

/** The row as cells of these columns. */
export const wholeRow = (names: ReadonlyArray<string>, text: string): ReadonlyArray<string> => {
  const first = names.findIndex(isOwn)
  return names.map((_, at) => (at === first ? text : ""))
}

export const stillWhole =
  "its whole text is still in the first cell. Spread it over the columns, as the header says"

/**
 * Whether the cells are a row that a report wrote as a whole. A short one may have no delimiter; it
 * is known by the error beside it.
 */
export const isStillWhole = (
  names: ReadonlyArray<string>,
  cells: ReadonlyArray<string>,
  delimiter: string
): boolean => {
  const at = (name: string) => cells[names.indexOf(name)]?.trim() ?? ""
  if (at(originColumn) === "") return false
  const own = names.flatMap((name, index) => (isOwn(name) ? [cells[index]?.trim() ?? ""] : []))
  const [first = "", ...others] = own
  if (others.some((cell) => cell !== "")) return false
  return first.includes(delimiter) || (others.length > 0 && at(errorsColumn).includes(begin))
}
