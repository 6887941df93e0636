/**
 * Values that the service accepts, and that are probably not meant: traces of spreadsheets,
 * databases and copied text.
 */
import { isObject } from "@data-import/domain/schema/Json"
import type { SplitLine } from "@data-import/domain/batches/LineSplitter"
import type { BookCode } from "../reports/ReportCode.ts"
import { entryOf } from "../reports/ReportCode.ts"
import { accountIn, placing, type RowPlace } from "../reports/PlacedErrors.ts"

export interface Warning {
  readonly attr: string
  readonly code: BookCode
  readonly detail: string
  readonly column?: string
  readonly value?: string
  /** The row, if it is of a further file. */
  readonly file?: string
  readonly row?: number
}

const invisible = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff"
const spreadsheetErrors = "#(?:REF!|N/A|VALUE!|NAME\\?|DIV/0!|NUM!|NULL!)"
const shortened = "[+-]?\\d[.,]\\d+E\\+\\d+"
const emptyWords = "NULL|null|\\(null\\)|undefined|NaN"
const emptyDates = "(?:0001-01-01|1753-01-01|1899-12-3[01]|1900-01-0[01]|1970-01-01|9999-12-31)"

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`)

const kinds: ReadonlyArray<readonly [BookCode, RegExp]> = [
  ["spreadsheet_error", whole(spreadsheetErrors)],
  ["spreadsheet_number", whole(shortened)],
  ["empty_word", whole(emptyWords)],
  ["empty_date", new RegExp(`^${emptyDates}(?:T|$)`)],
  ["invisible_characters", new RegExp(`[${invisible}]`)]
]

/**
 * Whether a line may have such a value. Most lines have none, and are not parsed for it. Texts may
 * be written with escapes.
 */
const mayWarn = new RegExp(
  [
    `"(?:${spreadsheetErrors}|${shortened}|${emptyWords})"`,
    `"${emptyDates}`,
    `[${invisible}]`,
    '_name":\\s*"[^"]*\\\\[rn]',
    "\\\\u(?:00[aA][dD]|20[0126]|[fF][eE][fF][fF])"
  ].join("|")
)

const isName = (attr: string): boolean => attr.endsWith("_name")

const codeOf = (attr: string, text: string): BookCode | null => {
  if (isName(attr) && /[\r\n]/.test(text)) return "line_break_in_name"
  return kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

/** The texts in a value, with their places. */
function* textsIn(value: unknown, attr: string): Generator<readonly [attr: string, text: string]> {
  if (typeof value === "string") yield [attr, value]
  else if (Array.isArray(value) || isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      yield* textsIn(member, attr === "" ? name : `${attr}.${name}`)
    }
  }
}

const decoder = new TextDecoder()

/** What is suspicious in a line. An `attr` with an error is left out. */
export const warningsOf = (
  bytes: SplitLine,
  place: RowPlace | null,
  wrong: ReadonlySet<string>
): ReadonlyArray<Warning> => {
  if (bytes === null || !mayWarn.test(decoder.decode(bytes))) return []
  const account = accountIn(bytes)
  const placed = placing(account, place)
  return [...textsIn(account, "")].flatMap(([attr, text]) => {
    const code = wrong.has(attr) ? null : codeOf(attr, text)
    return code === null ? [] : [placed({ attr, code, detail: entryOf(code).meaning })]
  })
}
