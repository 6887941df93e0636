/**
 * What Ajv does not know: the kinds of field of the contract as keywords. Each says with a code
 * what is wrong with a value, and puts the normalised value in its place.
 */
import type { Ajv } from "ajv"
import type { DataValidateFunction, DataValidationCxt } from "ajv/dist/types/index.js"
import { parsePhoneNumberFromString } from "libphonenumber-js"
import { isRawNumber } from "./Body.ts"
import { countries } from "./Countries.ts"
import { cents, figureCodes, type Size, twoDecimals } from "./Figure.ts"

/** What is wrong, below the value where `path` is given. */
interface Wrong {
  readonly code: string
  readonly path?: string
}

/** The normalised value, or what is wrong with the one that was sent. */
type Judged = { readonly value: unknown } | ReadonlyArray<Wrong>
type Judge = (sent: never) => Judged

const wrong = (...codes: ReadonlyArray<string>): Judged => codes.map((code) => ({ code }))

const listElements = 10_000

const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

/** Lengths count code points. */
const isLonger = (text: string, max: number): boolean =>
  text.length > max && Array.from(text).length > max

const formed =
  (
    code: string,
    holds: (text: string) => boolean,
    max = Infinity,
    alter = (text: string) => text
  ) =>
  (sent: string): Judged => {
    if (!isStorable(sent)) return wrong("invalid")
    const text = sent.trim()
    if (text === "") return wrong("blank")
    if (!holds(text)) return wrong(...(isLonger(text, max) ? ["max_length"] : []), code)
    return isLonger(text, max) ? wrong("max_length") : { value: alter(text) }
  }

const freeText =
  (max: number, isNeeded: boolean) =>
  (sent: string): Judged => {
    if (!isStorable(sent)) return wrong("invalid")
    const text = sent.trim()
    if (isNeeded && text === "") return wrong("blank")
    return isLonger(text, max) ? wrong("max_length") : { value: text }
  }

const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith("0000")) return false
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8, 10))
  if (month < 1 || month > 12 || day < 1) return false
  return day <= 28 || new Date(`${text}T00:00:00Z`).getUTCDate() === day
}

const instantForm =
  /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** The contract's spelling of an instant: UTC and whole seconds. */
const spellInstant = (instant: Date): string => `${instant.toISOString().slice(0, 19)}Z`

const dayFormats = new Map<string, Intl.DateTimeFormat>()

/** The day of an instant in a time zone. */
export const dayIn = (timeZone: string, instant: Date): string => {
  if (timeZone === "UTC") return instant.toISOString().slice(0, 10)
  // Swedish dates are spelled as ISO 8601 has them.
  const known = dayFormats.get(timeZone)
  const format = known ?? new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" })
  dayFormats.set(timeZone, format)
  return format.format(instant)
}

const instant = (text: string): Date => new Date(text.replace(/\.\d+/, ""))

const isInstant = (text: string): boolean => {
  if (text.length > 64 || !instantForm.test(text) || !isDay(text.slice(0, 10))) return false
  const year = instant(text).getUTCFullYear()
  return year >= 1 && year <= 9999
}

const emailForm =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/

const isPhone = (text: string): boolean =>
  text.startsWith("+") &&
  text.length <= 64 &&
  parsePhoneNumberFromString(text, { extract: false })?.isPossible() === true

const isCleanPath = (text: string): boolean => {
  const path = text.startsWith("/") ? text.slice(1) : text
  return (
    path.isWellFormed() &&
    !/\p{Cc}|\\/u.test(path) &&
    !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(path) &&
    !/%(?:2e|2f|5c|00)/i.test(path) &&
    path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..")
  )
}

const documentPath = (sent: string): Judged => {
  const text = sent.trim()
  if (text === "") return wrong("blank")
  const codes = [
    ...(isLonger(text, 1024) ? ["max_length"] : []),
    ...(isCleanPath(text) ? [] : ["invalid_document_path"])
  ]
  return codes.length > 0 ? wrong(...codes) : { value: text }
}

const accountNumber = (sent: string): Judged => {
  if (sent.trim() === "") return wrong("blank")
  const isSane =
    sent === sent.trim() && sent.isWellFormed() && !/\p{Cc}/u.test(sent) && !/^\.\.?$/.test(sent)
  const codes = [...(isLonger(sent, 128) ? ["max_length"] : []), ...(isSane ? [] : ["invalid"])]
  return codes.length > 0 ? wrong(...codes) : { value: sent }
}

const deliveryPoint = (sent: string): Judged => {
  if (!isStorable(sent)) return wrong("invalid")
  const text = sent.trim()
  const isGood = /^[A-Z0-9]{0,11}$/.test(text)
  return isGood ? { value: text } : wrong("invalid_delivery_point_identifier")
}

const figure =
  (size: Size, encode: (figure: number | string) => unknown) =>
  (sent: number | string): Judged => {
    const codes = figureCodes(sent, size)
    if (codes.length > 0) return wrong(...codes)
    return { value: encode(isRawNumber(sent) ? Number(sent.rawJSON) : sent) }
  }

const unstorable = (value: unknown, path: string): ReadonlyArray<Wrong> => {
  if (typeof value === "string") return isStorable(value) ? [] : [{ code: "invalid", path }]
  if (typeof value !== "object" || value === null || isRawNumber(value)) return []
  if (Array.isArray(value) && value.length > listElements) return [{ code: "max_length", path }]
  const inside = Object.entries(value).flatMap(([key, member]) =>
    isStorable(key) ? unstorable(member, `${path}.${key}`) : [{ code: "invalid", path }]
  )
  return inside
}

const free = (sent: unknown): Judged => {
  const found = unstorable(sent, "")
  return found.length > 0 ? found : { value: sent }
}

const kinds = {
  accountNumber: () => accountNumber,
  amount: (size: Size) =>
    figure(size, (sent) =>
      typeof sent === "number" ? sent.toFixed(2) : twoDecimals(cents(sent.trim()))
    ),
  choice: (values: ReadonlyArray<string>) => {
    const known = new Set(values)
    return formed("invalid_choice", (text) => known.has(text))
  },
  country: () =>
    formed(
      "invalid_country_code",
      (text) => /^[A-Za-z]{2}$/.test(text) && countries.has(text.toUpperCase()),
      Infinity,
      (text) => text.toUpperCase()
    ),
  day: () => formed("invalid_date", isDay),
  deliveryPoint: () => deliveryPoint,
  documentPath: () => documentPath,
  email: () => formed("invalid_email", (text) => emailForm.test(text), 254),
  figure: (size: Size) => figure(size, Number),
  filled: (max: number) => freeText(max, true),
  free: () => free,
  instant: () =>
    formed("invalid_datetime", isInstant, Infinity, (text) => spellInstant(instant(text))),
  phone: () => formed("invalid_phone_number", isPhone),
  words: (max: number) => freeText(max, false)
} satisfies Record<string, (options: never) => Judge>

/** On what JSON type a keyword acts; a figure judges every type itself. */
const typeOf = (kind: string) =>
  kind === "figure" || kind === "amount" ? {} : { type: kind === "free" ? "object" : "string" }

const acting = (judge: Judge): DataValidateFunction => {
  const validate: DataValidateFunction = (sent: unknown, context?: DataValidationCxt) => {
    const judged = judge(sent as never)
    if ("value" in judged) {
      if (context !== undefined && judged.value !== sent) {
        const parent = context.parentData as Record<string | number, unknown>
        parent[context.parentDataProperty] = judged.value
      }
      return true
    }
    validate.errors = judged.map((params) => ({ keyword: "field", params: { ...params } }))
    return false
  }
  return validate
}

/** Teaches Ajv every kind: `{ filled: 64 }`, `{ day: true }`, `{ choice: ["A", "B"] }`. */
export const addFields = (ajv: Ajv): void => {
  for (const [keyword, kind] of Object.entries(kinds)) {
    ajv.addKeyword({
      keyword,
      ...(typeOf(keyword) as { type: "string" }),
      modifying: true,
      compile: (options: unknown) => acting(kind(options as never))
    })
  }
}
