/** What corrections and `--last-wins` do to a book, as every command says it. */
import { inEnglish } from "@data-import/terminal/Answer"

export interface Replacement {
  /** The lines of the book that corrections replace. */
  readonly replaced: number
  /** The lines that are left out because a later one has their number. */
  readonly dropped: number
  /** The rows that corrections name, and that are in no file. */
  readonly unplaced: number
}

/** How the book is read. */
export interface Overlay extends Replacement {
  readonly hasCorrections: boolean
  readonly lastWins: boolean
}

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${inEnglish(count)} ${many}`

/** None of a book without corrections. */
export const overlayTexts = (overlay: Overlay | null): ReadonlyArray<string> => {
  if (overlay === null) return []
  const { dropped, hasCorrections, lastWins, replaced, unplaced } = overlay
  const texts = [
    ...(hasCorrections
      ? [`The corrections replace ${counted(replaced, "line", "lines")} of the book.`]
      : []),
    ...(unplaced > 0
      ? [`${counted(unplaced, "data_import_row names", "data_import_rows name")} a row of no file.`]
      : []),
    ...(lastWins ? [`--last-wins leaves out ${counted(dropped, "line", "lines")}.`] : [])
  ]
  return [texts.join(" ")]
}

/** The same for machines. */
export const overlayJson = (overlay: Overlay | null) =>
  overlay === null
    ? {}
    : {
        ...(overlay.hasCorrections && {
          replaced_lines: overlay.replaced,
          unplaced_corrections: overlay.unplaced
        }),
        ...(overlay.lastWins && { dropped_lines: overlay.dropped })
      }
