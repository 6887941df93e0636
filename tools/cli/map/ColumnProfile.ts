/**
 * What all cells of a column look like: how many there are, the forms in which all or most of them
 * can be read, and their different values if they are few.
 */
import { isPhoneCountry, internationalPhone } from "@data-import/domain/schema/Phone"
import { converterOf } from "../book/Cell.ts"
import { isExistingDay } from "../book/CellFormat.ts"
import { isWrongCell } from "../book/WrongCell.ts"
import type { Kind } from "./Synonyms.ts"

/** A cell, and its row. */
export interface Example {
  readonly row: number
  readonly text: string
}

/** Cells that can be read in the same forms. */
interface Alike {
  readonly forms: ReadonlyArray<string>
  readonly first: Example
  count: number
}

/** Words of databases and spreadsheets for no value. */
const noValue =
  /^(?:null|\(null\)|n\/a|#n\/a|nan|none|-{1,3}|00?[./-]00?[./-]0000|0000[./-]00[./-]00)$/i

/** Words of people for no value. In a text they may be meant: somebody is named None. */
const noValueOfPeople =
  /^(?:keine?|keine angaben?|k\.? ?a\.?|nicht bekannt|unbekannt|not known|unknown|not given)$/i

/** Of the countries where mobile numbers can be told from others. */
const mobileNumber = /^\+(?:3[34][67]|316|3247|3538|393|417|436|447|491[567])/

const pad = (part: string): string => part.padStart(2, "0")

const isDay = (year: string, month: string, day: string): boolean =>
  isExistingDay(`${year}-${pad(month)}-${pad(day)}`)

const datePattern =
  /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:([ T])\d{1,2}:\d{2}(:\d{2}(?:[.,]\d+)?)?)?$/

/** The formats in which a text is an existing day. */
const dateFormsOf = (text: string): ReadonlyArray<string> => {
  if (/^\d{8}$/.test(text)) {
    return isDay(text.slice(0, 4), text.slice(4, 6), text.slice(6)) ? ["YYYYMMDD"] : []
  }
  const [, one = "", by = "", two = "", three = "", between, seconds] = datePattern.exec(text) ?? []
  const time = between === undefined ? "" : `${between}hh:mm${seconds === undefined ? "" : ":ss"}`
  if (one.length === 4) {
    return isDay(one, two, three) ? [`YYYY${by}MM${by}DD${time}`] : []
  }
  if (three.length !== 4) return []
  return [
    ...(isDay(three, two, one) ? [`DD${by}MM${by}YYYY${time}`] : []),
    ...(isDay(three, one, two) ? [`MM${by}DD${by}YYYY${time}`] : [])
  ]
}

/** The separators of numbers: the point, and the group or nothing. Simple ones come first. */
const separators = [".", ",", ".,", ",.", ". ", ", ", ".'", ",'"]

export const separatorsOf = ([point = ".", group]: string) => ({
  ...(point !== "." && { point }),
  ...(group !== undefined && { group })
})

const numbers = separators.map((form) => ({
  form,
  convert: converterOf({ type: "decimal", ...separatorsOf(form) })
}))

/** Money has two decimals at most. */
const isMoney = (value: unknown): boolean =>
  typeof value === "string" && !isWrongCell(value) && !/\.\d{3}/.test(value)

const numberFormsOf = (text: string): ReadonlyArray<string> =>
  numbers.flatMap(({ convert, form }) => (isMoney(convert(text)) ? [form] : []))

export const international = "international"
const national = "national"

const phoneFormsOf = (country: string | null) => (text: string) => {
  if (text.startsWith("+")) return [international, national]
  if (country === null || !isPhoneCountry(country)) return []
  return internationalPhone(text, country) === null ? [] : [national]
}

const formsFor = (kind: Kind, country: string | null) => {
  if (kind === "date") return dateFormsOf
  if (kind === "money") return numberFormsOf
  return kind === "phone" ? phoneFormsOf(country) : null
}

/** Different values that are remembered. */
const mostValues = 20

/** A form with the number of cells that can be read in it. */
export interface Fit {
  readonly form: string
  readonly cells: number
}

export class ColumnProfile {
  readonly kind: Kind
  readonly #formsOf: ((text: string) => ReadonlyArray<string>) | null
  readonly #alike = new Map<string, Alike>()
  readonly #values = new Map<string, Example>()
  readonly #nothing = new Set<string>()
  /** Cells with a value. */
  filled = 0
  emails = 0
  positive = 0
  negative = 0
  /** Cells with the number of a mobile phone. */
  mobile = 0
  readonly #country: string | null

  constructor(kind: Kind, country: string | null) {
    this.kind = kind
    this.#country = country
    this.#formsOf = formsFor(kind, country)
  }

  add(text: string, row: number): void {
    if (text === "") return
    if (this.#isNothing(text)) {
      if (this.#nothing.size < mostValues) this.#nothing.add(text)
      return
    }
    this.filled++
    if (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text)) this.emails++
    if (this.#values.size <= mostValues && !this.#values.has(text)) {
      this.#values.set(text, { row, text })
    }
    if (this.#formsOf === null) return
    const forms = this.#formsOf(text)
    if (this.kind === "money" && /[1-9]/.test(text)) {
      if (text.startsWith("-")) this.negative++
      else this.positive++
    }
    if (this.kind === "phone" && this.#isMobile(text)) this.mobile++
    const key = forms.join("|")
    const alike = this.#alike.get(key)
    if (alike === undefined) this.#alike.set(key, { forms, first: { row, text }, count: 1 })
    else alike.count++
  }

  #isNothing(text: string): boolean {
    const isOfForm = this.kind === "email" || this.#formsOf !== null
    return noValue.test(text) || (isOfForm && noValueOfPeople.test(text))
  }

  #isMobile(text: string): boolean {
    const number = internationalPhone(text, this.#country ?? undefined) ?? ""
    return mobileNumber.test(`+${number.replaceAll(/\D/g, "")}`)
  }

  /** Words that stand for no value. */
  get nothing(): ReadonlyArray<string> {
    return [...this.#nothing]
  }

  /** The different values with the rows where they are first; null if they are many. */
  get values(): ReadonlyArray<Example> | null {
    return this.#values.size > mostValues ? null : [...this.#values.values()]
  }

  /** The forms that read any cell, those that read the most first. */
  get fits(): ReadonlyArray<Fit> {
    const cells = new Map<string, number>()
    for (const { count, forms } of this.#alike.values()) {
      for (const form of forms) cells.set(form, (cells.get(form) ?? 0) + count)
    }
    const order = ({ form }: Fit) => separators.indexOf(form)
    return [...cells]
      .map(([form, count]): Fit => ({ form, cells: count }))
      .toSorted((one, other) => other.cells - one.cells || order(one) - order(other))
  }

  /** The first cell that the form does not read. */
  unfit(form: string): Example | null {
    const others = [...this.#alike.values()].filter(({ forms }) => !forms.includes(form))
    const rows = others.map(({ first }) => first).toSorted((one, other) => one.row - other.row)
    return rows[0] ?? null
  }
}
