/**
 * The kinds of field in a payload: text, code lists, dates, datetimes, e-mails, phone numbers,
 * integers and lists, each with its codes. A check names its code in an annotation, from which
 * `Validator` makes a field error. Text is trimmed, and lengths count Unicode code points.
 * Source: docs/contract/values.md#values.
 */
import { DateTime, type JsonSchema, Schema, SchemaGetter } from "effect"
import type { FieldCode } from "../codes/Code.ts"
import type { ErrorParameters } from "../codes/CodeEntry.ts"
import { listElements } from "./Json.ts"
import { isPossiblePhone, phoneFault, phoneFaults } from "./Phone.ts"

/** The error of a failed check. */
export interface CheckMeaning<A> {
  readonly code: FieldCode
  readonly detail: string | ((input: A) => string)
  /** The parameters of the error, in addition to the code. */
  readonly parameters?: ErrorParameters | ((input: A) => ErrorParameters)
  /** The same restriction in JSON Schema, where JSON Schema can express it. */
  readonly jsonSchema?: JsonSchema.JsonSchema
  /** Whether to skip the later checks after this one failed. */
  readonly abort?: boolean
}

/** A check with the code of its error, and `holds` itself for callers that need no error. */
export const fieldCheck = <A>(holds: (input: A) => boolean, meaning: CheckMeaning<A>) =>
  Schema.makeFilter<A>(
    holds,
    {
      code: meaning.code,
      detail: meaning.detail,
      parameters: meaning.parameters,
      holds,
      toJsonSchema: () => meaning.jsonSchema ?? [{}, true]
    },
    meaning.abort ?? false
  )

/** Whether trimming never removes this character. Of other characters some may be blanks. */
const isGraphic = (at: number): boolean => at > 0x20 && at < 0x7f

/** The text without the blanks around it. Most texts have none, and need no call for it. */
const trim = (text: string): string =>
  isGraphic(text.charCodeAt(0)) && isGraphic(text.charCodeAt(text.length - 1)) ? text : text.trim()

/** Whether the text has at most `max` code points. Each takes one or two UTF-16 units. */
const hasAtMost = (text: string, max: number): boolean => {
  if (text.length > 2 * max) return false
  let length = 0
  for (const _ of text) length++
  return length <= max
}

/** Whether the database can store the text: no NUL and no lone surrogate. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** Whether the text has a control character: Unicode category Cc. */
export const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text)

/** Text that the database can store. Code: `invalid`. */
export const isStorable = fieldCheck<string>(isStorableText, {
  code: "invalid",
  detail: "Must not contain NUL or a lone surrogate.",
  abort: true
})

const isNotBlank = fieldCheck<string>((text) => trim(text) !== "", {
  code: "blank",
  detail: "Must not be empty.",
  jsonSchema: { minLength: 1 },
  abort: true
})

const isAtMost = (max: number) =>
  fieldCheck<string>((text) => text.length <= max || hasAtMost(trim(text), max), {
    code: "max_length",
    detail: `Must have at most ${max} characters.`,
    parameters: { limit: max },
    jsonSchema: { maxLength: max }
  })

/** Text without the spaces around it. */
export const trimmed = <A extends Schema.Codec<string>>(checked: A) =>
  checked.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform(trim),
      encode: SchemaGetter.passthrough()
    })
  )

/** Text of 1 to `max` characters that is not blank, untrimmed. */
export const nonBlank = (max: number) => Schema.String.check(isNotBlank, isAtMost(max))

/** Text of up to `max` characters, which may be empty. Codes: `invalid`, `max_length`. */
export const text = (max: number) => trimmed(Schema.String.check(isStorable, isAtMost(max)))

/** Text of 1 to `max` characters. Codes: `invalid`, `blank`, `max_length`. */
export const nonBlankText = (max: number) =>
  trimmed(Schema.String.check(isStorable, isNotBlank, isAtMost(max)))

/** Trimmed text that is not blank and whose form bounds its length. */
export const formed = (holds: (text: string) => boolean, meaning: CheckMeaning<string>) =>
  trimmed(
    Schema.String.check(
      isStorable,
      isNotBlank,
      fieldCheck<string>((value) => holds(trim(value)), meaning)
    )
  )

/** Trimmed text of a given form, 1 to `max` characters. */
export const formedText = (
  max: number,
  holds: (text: string) => boolean,
  meaning: CheckMeaning<string>
) =>
  trimmed(
    Schema.String.check(
      isStorable,
      isNotBlank,
      isAtMost(max),
      fieldCheck<string>((value) => holds(trim(value)), meaning)
    )
  )

/**
 * Text of 1 to `max` characters. The known values are part of the type for completion; the operator
 * can add others.
 */
export const openChoice = <const Known extends string>(max: number, _: ReadonlyArray<Known>) =>
  nonBlankText(max) as unknown as Schema.Codec<string, Known | (string & {})>

/** A closed list of values. Code: `invalid_choice`, and `blank` for an empty one. */
export const choice = <const Values extends ReadonlyArray<string>>(
  values: Values
): Schema.Codec<Values[number], Values[number]> => {
  const allowed: ReadonlySet<string> = new Set(values)
  return formed((value) => allowed.has(value), {
    code: "invalid_choice",
    detail: `Must be one of ${values.join(", ")}.`,
    parameters: { allowed: values },
    jsonSchema: { enum: values }
  }).pipe(
    Schema.decodeTo(Schema.Literals(values), {
      decode: SchemaGetter.transform((value: string) => value as Values[number]),
      encode: SchemaGetter.transform((value: Values[number]): string => value)
    })
  )
}

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

const isCalendarDay = (year: number, month: number, day: number): boolean =>
  year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)

const zero = 0x30
const hyphen = 0x2d
const colon = 0x3a

/** The number of the two digits at `index`; NaN if there are none. */
const twoDigits = (text: string, index: number): number => {
  const tens = text.charCodeAt(index) - zero
  const ones = text.charCodeAt(index + 1) - zero
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

/** Whether the text begins with a calendar day as `YYYY-MM-DD`. */
const beginsWithDay = (text: string): boolean =>
  text.charCodeAt(4) === hyphen &&
  text.charCodeAt(7) === hyphen &&
  isCalendarDay(
    twoDigits(text, 0) * 100 + twoDigits(text, 2),
    twoDigits(text, 5),
    twoDigits(text, 8)
  )

const isDate = (text: string): boolean => text.length === 10 && beginsWithDay(text)

const hasDateForm = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text)

/** A calendar day, `YYYY-MM-DD`. Text order is chronological. */
export const CalendarDate = formed(isDate, {
  code: "invalid_date",
  detail: (value) =>
    hasDateForm(trim(value))
      ? "Must be an existing day, as YYYY-MM-DD; the calendar has no such day."
      : "Must be an existing day, as YYYY-MM-DD; it has another form.",
  parameters: (value) => ({ reason: hasDateForm(trim(value)) ? "no_such_day" : "form" }),
  jsonSchema: { format: "date" }
}).pipe(Schema.brand("CalendarDate"))
export type CalendarDate = typeof CalendarDate.Type

/** The day of an instant in UTC. */
export const dayOf = (instant: DateTime.Utc): CalendarDate =>
  DateTime.formatIsoDateUtc(instant) as CalendarDate

/** The day after. */
export const nextDay = (date: CalendarDate): CalendarDate =>
  dayOf(DateTime.add(DateTime.makeUnsafe(`${date}T00:00:00Z`), { days: 1 }))

const dateTimeForm =
  /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** The bounds of instants: an offset may move one outside the years of four digits. */
const firstInstant = Date.parse("0001-01-01T00:00:00Z")
const lastInstant = Date.parse("9999-12-31T23:59:59Z")

/** Long enough for every precision of fractions that systems print. */
const instantLength = 64

/** The length of `YYYY-MM-DDTHH:MM:SSZ`. */
const plainLength = 20

/** The instant if the text has its usual form; undefined for every other. */
const parsePlainInstant = (text: string): number | undefined => {
  const isPlain =
    text.length === plainLength &&
    text.charCodeAt(10) === 0x54 &&
    text.charCodeAt(13) === colon &&
    text.charCodeAt(16) === colon &&
    text.charCodeAt(19) === 0x5a &&
    beginsWithDay(text)
  if (!isPlain) return undefined
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)]
  // `Date.UTC` takes the first hundred years for those of 1900.
  return year >= 100 && hour < 24 && minute < 60 && second < 60
    ? Date.UTC(year, twoDigits(text, 5) - 1, twoDigits(text, 8), hour, minute, second)
    : undefined
}

/** Why a text is no instant: what to correct, with the word for it. */
const instantFault = (text: string): readonly [reason: string, detail: string] => {
  if (text.length > instantLength) return ["too_long", `at most ${instantLength} characters`]
  const [, separator, time = "", offset = ""] =
    /^\d{4}-\d{2}-\d{2}(.)?([\d:.]*)(.*)$/su.exec(text) ?? []
  if (separator === undefined) return ["form", "the form 2025-01-31T10:00:00Z"]
  if (!beginsWithDay(text)) return ["no_such_day", "an existing day"]
  if (separator !== "T") return ["separator", "a T between day and time"]
  if (/^\d{2}:\d{2}$/.test(time)) return ["seconds", "seconds, as in T10:00:00"]
  if (offset === "") return ["offset", "Z or an offset at its end, as +01:00"]
  if (/^[+-]\d{2}(?:\d{2})?$/.test(offset)) return ["offset", "an offset with a colon, as +01:00"]
  return dateTimeForm.test(text)
    ? ["range", "an instant of the years 0001 to 9999"]
    : ["form", "the form 2025-01-31T10:00:00Z"]
}

const parseInstant = (text: string): number | undefined => {
  const plain = parsePlainInstant(text)
  if (plain !== undefined) return plain
  if (text.length > instantLength || !dateTimeForm.test(text) || !beginsWithDay(text))
    return undefined
  const instant = Date.parse(text.includes(".") ? text.replace(/\.\d+/, "") : text)
  return instant >= firstInstant && instant <= lastInstant ? instant : undefined
}

/** A cache, because an instant is checked and then read, and both parse it. */
const lastParsed: { text: string; instant: number | undefined } = { text: "", instant: undefined }

/** The instant in whole seconds, as epoch milliseconds; undefined if the text is not an instant. */
const instantOf = (text: string): number | undefined => {
  if (text !== lastParsed.text) {
    lastParsed.instant = parseInstant(text)
    lastParsed.text = text
  }
  return lastParsed.instant
}

const secondsOfDay = 86_400

/** The texts of days. A cache, because most instants of a payload are of a few days. */
const printedDays = new Map<number, string>()
/** Twenty years. */
const mostPrintedDays = 7_305

const printedDay = (day: number): string => {
  const printed = printedDays.get(day)
  if (printed !== undefined) return printed
  const [text = ""] = DateTime.formatIso(DateTime.makeUnsafe(day * secondsOfDay * 1_000)).split("T")
  if (printedDays.size === mostPrintedDays) printedDays.clear()
  printedDays.set(day, text)
  return text
}

const padded = (number: number): string => (number < 10 ? `0${number}` : String(number))

/** The datetime format of the contract: UTC, whole seconds, `YYYY-MM-DDTHH:MM:SSZ`. */
export const formatInstant = ({ epochMilliseconds }: DateTime.Utc): string => {
  const seconds = Math.floor(epochMilliseconds / 1_000)
  const day = Math.floor(seconds / secondsOfDay)
  const ofDay = seconds - day * secondsOfDay
  const hour = padded(Math.floor(ofDay / 3_600))
  const minute = padded(Math.floor(ofDay / 60) % 60)
  return `${printedDay(day)}T${hour}:${minute}:${padded(ofDay % 60)}Z`
}

/**
 * A datetime of at most 64 characters with `Z` or an offset. Fractions of a second are cut off.
 * Code: `invalid_datetime`.
 */
export const Instant = Schema.String.check(
  isStorable,
  isNotBlank,
  fieldCheck<string>((value) => instantOf(trim(value)) !== undefined, {
    code: "invalid_datetime",
    detail: (value) =>
      `Must be a datetime like 2025-01-31T10:00:00Z (RFC 3339); it needs ${instantFault(trim(value))[1]}.`,
    parameters: (value) => ({ reason: instantFault(trim(value))[0] }),
    jsonSchema: { format: "date-time", maxLength: instantLength }
  })
).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, {
    decode: SchemaGetter.transform((value: string) =>
      DateTime.makeUnsafe(instantOf(trim(value)) ?? Number.NaN)
    ),
    encode: SchemaGetter.transform(formatInstant)
  })
)

/**
 * A phone number in international format. It only has to be possible: numbering plans change faster
 * than releases, and a legacy number must not block an account.
 */
export const PhoneNumber = formed(isPossiblePhone, {
  code: "invalid_phone_number",
  detail: (number) =>
    `Must be a phone number in international format, like +4512345678: ${phoneFaults[phoneFault(trim(number))]}.`,
  parameters: (number) => ({ reason: phoneFault(trim(number)) })
})

/** A whole number from `min` to `max`. Codes: `invalid_type`, `min_value`, `max_value`. */
export const integer = (min: number, max: number) =>
  Schema.Number.check(
    fieldCheck<number>(Number.isInteger, {
      code: "invalid_type",
      detail: "Must be a whole number.",
      parameters: { expected: "integer" },
      jsonSchema: { type: "integer" },
      abort: true
    }),
    fieldCheck<number>((value) => value >= min, {
      code: "min_value",
      detail: `Must be at least ${min}.`,
      parameters: { limit: min },
      jsonSchema: { minimum: min }
    }),
    fieldCheck<number>((value) => value <= max, {
      code: "max_value",
      detail: `Must be at most ${max}.`,
      parameters: { limit: max },
      jsonSchema: { maximum: max }
    })
  )

/** A list of up to `listElements`. Codes: `not_a_list`, `max_length`. */
export const list = <Element extends Schema.Constraint>(element: Element) =>
  Schema.Array(element).annotate({ maxItems: listElements })
