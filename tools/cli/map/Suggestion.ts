/**
 * A map for a CSV file, from the names of its columns and all their cells, and what a person has to
 * look at.
 */
import { isCountryCode } from "@data-import/domain/schema/Country"
import { inEnglish } from "@data-import/terminal/Answer"
import { shownValue } from "../book/WrongCell.ts"
import { type ColumnProfile, international, separatorsOf } from "./ColumnProfile.ts"
import { countryNames } from "./Countries.ts"
import type { CsvForm } from "./CsvForm.ts"
import { type Field, wordOf } from "./Synonyms.ts"

/** A column with its cells, and the field that its name says; null if it says none. */
export interface SeenColumn {
  readonly name: string
  readonly field: Field | null
  readonly profile: ColumnProfile
}

/** How a column is described, besides its target. */
interface Described {
  readonly how: Readonly<Record<string, unknown>>
  readonly remarks: ReadonlyArray<string>
}

const cellsText = (count: number): string => (count === 1 ? "1 cell" : `${inEnglish(count)} cells`)

/** What is said of the cells that a form does not read. */
const unfitRemarks = (profile: ColumnProfile, form: string, cells: number) => {
  const left = profile.filled - cells
  const example = profile.unfit(form)
  if (left === 0 || example === null) return []
  const { row, text } = example
  return [`${cellsText(left)} of another form, first ${shownValue(text)} in row ${row}`]
}

const describeDate = (profile: ColumnProfile): Described => {
  const [best, second] = profile.fits
  if (best === undefined) {
    const [example] = profile.values ?? []
    const like = example === undefined ? "" : `, like ${shownValue(example.text)}`
    return {
      how: { type: "date" },
      remarks: profile.filled === 0 ? [] : [`no cell is a date with a year of four digits${like}`]
    }
  }
  const { cells, form } = best
  // Nobody writes the month first with points.
  const isAmbiguous = second?.cells === cells && !form.includes(".")
  const ambiguous = isAmbiguous
    ? [
        `ambiguous: ${cells === profile.filled ? "every date fits" : `${cellsText(cells)} fit`} ` +
          `${form} and ${second.form}; the map says ${form}. Ask whoever knows the old system`
      ]
    : []
  return {
    how: { type: "date", ...(form !== "YYYY-MM-DD" && { format: form }) },
    remarks: [...ambiguous, ...unfitRemarks(profile, form, cells)]
  }
}

const signRemark = ({ negative, positive }: ColumnProfile, isDebt: boolean): string => {
  const counts = `${inEnglish(positive)} positive, ${inEnglish(negative)} negative`
  return isDebt
    ? `${counts}. By its name a positive number is a debt, so "negate" reverses the sign`
    : `${counts}. A credit must be positive: if the old system writes a debt so, add "negate": true`
}

const describeMoney = (profile: ColumnProfile, { isDebt = false }: Field): Described => {
  const [best = { form: ".", cells: 0 }] = profile.fits
  const { cells, form } = best
  const grouped = form.length > 1 ? profile.unfit(form.slice(0, 1)) : null
  const reading =
    grouped === null
      ? []
      : [`${shownValue(grouped.text)} is read with "${form[1]}" between groups of three digits`]
  return {
    how: { type: "decimal", ...separatorsOf(form), ...(isDebt && { negate: true }) },
    remarks: [
      ...reading,
      ...unfitRemarks(profile, form, cells),
      ...(profile.filled === 0 ? [] : [signRemark(profile, isDebt)])
    ]
  }
}

const describePhone = (profile: ColumnProfile, country: string | null): Described => {
  const [best = { form: international, cells: 0 }] = profile.fits
  const { cells, form } = best
  const how = { type: "phone", ...(country !== null && { country }) }
  if (country !== null) return { how, remarks: unfitRemarks(profile, form, cells) }
  const example = profile.unfit(form)
  if (example === null) return { how, remarks: [] }
  const without = `${cellsText(profile.filled - cells)} without a calling code`
  const where = `first ${shownValue(example.text)} in row ${example.row}`
  return {
    how,
    remarks: [`${without}, ${where}: give --country, like --country GB`]
  }
}

/** A table of the values that are known, and the others named. */
const describeValues = (
  { values }: ColumnProfile,
  valueOf: (text: string) => unknown,
  what: string
): Described => {
  if (values === null) {
    return { how: { values: {} }, remarks: [`too many different values for ${what}`] }
  }
  const known = values.map(({ text }) => [text, valueOf(text)] as const)
  const unknown = values.filter((_, at) => known[at]?.[1] === undefined)
  const listed = unknown.map(({ row, text }) => `${shownValue(text)} (row ${row})`).join(", ")
  return {
    how: { values: Object.fromEntries(known.filter(([, value]) => value !== undefined)) },
    remarks: unknown.length === 0 ? [] : [`add to its "values" what these mean: ${listed}`]
  }
}

const choiceOf = (words: Readonly<Record<string, string>>) => {
  const byWord = new Map(
    Object.entries(words).flatMap(([value, list]) => [
      [wordOf(value), value] as const,
      ...list.split(" ").map((word) => [word, value] as const)
    ])
  )
  return (text: string): unknown => {
    const value = byWord.get(wordOf(text)) ?? (/^[A-Z_]{3,}$/.test(text) ? text : undefined)
    return value === "true" ? true : value === "false" ? false : value
  }
}

const countryOf = () => {
  const byName = countryNames()
  return (text: string) => {
    const code = text.toUpperCase()
    return isCountryCode(code) ? code : byName.get(wordOf(text))
  }
}

/** A table in which every value stands for itself is none. */
const withoutIdentity = ({ how, remarks }: Described): Described => {
  const values = how["values"] as Record<string, unknown> | undefined
  const isNeeded = Object.entries(values ?? {}).some(([cell, value]) => cell !== value)
  return isNeeded ? { how, remarks } : { how: {}, remarks }
}

const described = (profile: ColumnProfile, field: Field, country: string | null): Described => {
  const { kind } = field
  if (typeof kind === "object") {
    return withoutIdentity(describeValues(profile, choiceOf(kind.words), "a choice"))
  }
  switch (kind) {
    case "text":
    case "email":
      return { how: {}, remarks: [] }
    case "integer":
      return { how: { type: "integer" }, remarks: [] }
    case "date":
      return describeDate(profile)
    case "money":
      return describeMoney(profile, field)
    case "phone":
      return describePhone(profile, country)
    case "country":
      return withoutIdentity(describeValues(profile, countryOf(), "countries"))
  }
}

/** Words for no value leave the field out. */
const withNothing = (how: Described["how"], nothing: ReadonlyArray<string>) => {
  if (nothing.length === 0) return how
  const words = Object.fromEntries(nothing.map((text) => [text, null]))
  return { ...how, values: { ...(how["values"] as object | undefined), ...words } }
}

const nothingRemark = (nothing: ReadonlyArray<string>): ReadonlyArray<string> =>
  nothing.length === 0 ? [] : [`read as no value: ${nothing.map(shownValue).join(", ")}`]

/** Whether a column is a phone of unknown kind, and most of its numbers are those of mobiles. */
export const isMobile = ({ field, profile }: SeenColumn): boolean =>
  field?.isAnyPhone === true && profile.mobile * 2 > profile.filled

const mobileRemark = (field: Field, { filled, mobile }: ColumnProfile): ReadonlyArray<string> =>
  field.isAnyPhone === true && mobile > 0
    ? [
        `${inEnglish(mobile)} of ${inEnglish(filled)} numbers are those of mobiles, ` +
          `so it goes to ${field.to}`
      ]
    : []

/** The description of a column in the map, and remarks about it. */
export const suggestColumn = (
  { field, profile }: SeenColumn & { readonly field: Field },
  to: string,
  country: string | null
) => {
  const { how, remarks } = described(profile, field, country)
  const whole = withNothing(how, profile.nothing)
  return {
    column: Object.keys(whole).length === 0 ? to : { to, ...whole },
    remarks: [...mobileRemark(field, profile), ...remarks, ...nothingRemark(profile.nothing)]
  }
}

export const formRemark = (book: string, rows: number, columns: number, form: CsvForm): string => {
  const between = form.delimiter === "\t" ? "tabs" : `"${form.delimiter}"`
  const guessed =
    form.encoding === "windows-1252"
      ? " (it is not UTF-8; look whether letters like é and ü are right)"
      : ""
  return (
    `${book}: ${inEnglish(rows)} rows, ${columns} columns with ${between} between cells, ` +
    `${form.encoding}${guessed}`
  )
}
