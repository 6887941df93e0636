/**
 * The codes of a report about a book: those of the service, and those of findings that only a whole
 * book or its origin shows.
 */
import { type Code, type FieldCode, registry } from "@data-import/domain/codes/Code"

const bookCodes = {
  malformed_row: {
    meaning: "The row does not fit the header, or its quotes or its encoding are broken.",
    remedy: "Correct the row; `detail` says what is wrong with it."
  },
  row_without_account: {
    meaning: "A row of a further file of the book belongs to no account.",
    remedy: "Correct its key, or add the account."
  },
  repeated_number: {
    meaning: "An earlier line has the same number and another content.",
    remedy:
      "Give each its own number, unless they are the same customer. Then --last-wins takes the " +
      "last of them, in every command."
  },
  spreadsheet_error: {
    meaning: "The text is an error of a spreadsheet.",
    remedy: "Correct the formula, and export again."
  },
  spreadsheet_number: {
    meaning: "A spreadsheet has shortened a long number.",
    remedy: "Format the column as text, and export again from the old system."
  },
  empty_word: {
    meaning: "The text is the word of a database for no value.",
    remedy: 'Leave the field out; a map does so with "values": {"NULL": null}.'
  },
  empty_date: {
    meaning: "The date is one that old systems write for none.",
    remedy: "Leave the field out, if the date is not meant."
  },
  invisible_characters: {
    meaning: "The text has characters that cannot be seen.",
    remedy: "Remove them. They came with copied text."
  },
  line_break_in_name: {
    meaning: "A name has a line break.",
    remedy: "Write the name on one line."
  }
} as const

export type BookCode = keyof typeof bookCodes
export type ReportCode = Code | FieldCode | BookCode

export const entryOf = (code: ReportCode): { readonly meaning: string; readonly remedy: string } =>
  code in bookCodes ? bookCodes[code as BookCode] : registry[code as Code]

/** In a book of CSV, people correct cells and the map. */
const remediesOfCells: Partial<Record<ReportCode, string>> = {
  invalid_type:
    "Correct the cell, or what the map says of its column; `detail` says what the map expects.",
  invalid_date:
    "Correct the cell. If the whole column is so, the map states its type and format of dates.",
  invalid_datetime:
    "Correct the cell. If the whole column is so, the map states its type, format and time zone.",
  parse_error: "Correct the row; `detail` says what is wrong with it."
}

export const remedyOf = (code: ReportCode, isCsvBook: boolean): string =>
  (isCsvBook ? remediesOfCells[code] : undefined) ?? entryOf(code).remedy

const isKnown = (code: unknown): code is ReportCode =>
  typeof code === "string" && (Object.hasOwn(bookCodes, code) || Object.hasOwn(registry, code))

/** What to do about a code of the service, which may be newer than this command. */
export const knownRemedyOf = (code: unknown, isCsvBook: boolean): string | undefined =>
  isKnown(code) ? remedyOf(code, isCsvBook) : undefined

/** Errors with what to do. */
export const withRemedies = <Found extends object>(
  errors: ReadonlyArray<Found>,
  isCsvBook: boolean
) =>
  errors.map((error) => {
    const remedy = knownRemedyOf("code" in error ? error.code : null, isCsvBook)
    return remedy === undefined ? error : { ...error, remedy }
  })
