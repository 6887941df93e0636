/**
 * Decimals: money and quantities, read exactly from a JSON number or a decimal string and never
 * rounded.
 * Source: docs/contract/values.md#numbers, docs/contract/values.md#money.
 */
import { BigDecimal, Schema, SchemaGetter } from "effect"
import type { ErrorParameters } from "../codes/CodeEntry.ts"
import { fieldCheck } from "./Field.ts"
import { withoutTrailingZeros } from "./Json.ts"
import { isRawNumber, type RawNumber } from "./RawNumber.ts"

/** The maximum number of digits before and after the point. */
export interface Size {
  readonly before: number
  readonly after: number
}

/**
 * The maximum number of significant digits, so that every JSON parser reads a decimal correctly.
 */
const significantDigits = 15

/**
 * The digits and the exponent of a decimal, without arithmetic, so that a huge exponent costs
 * nothing.
 */
interface Spelling {
  readonly negative: boolean
  /** Without leading and trailing zeros; empty for zero. */
  readonly digits: string
  /** The value is 0.digits × 10^point. Not exact, or infinite, for an exponent beyond all sizes. */
  readonly point: number
}

const scientificForm = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/
const plainForm = /^-?\d+(?:\.\d+)?$/

const sourceOf = (input: unknown): string | null => {
  if (typeof input === "number") return Number.isFinite(input) ? String(input) : null
  if (isRawNumber(input)) return input.rawJSON
  if (typeof input !== "string") return null
  const trimmed = input.trim()
  return plainForm.test(trimmed) ? trimmed : null
}

/** The source is a decimal in plain or scientific form. */
const spell = (source: string): Spelling | null => {
  const negative = source.charCodeAt(0) === 0x2d
  let [first, last, point] = [-1, -1, source.length]
  for (let index = negative ? 1 : 0; index < source.length; index++) {
    const at = source.charCodeAt(index)
    if (at === 0x2e) point = index
    else if (at < 0x30 || at > 0x39) return spellScientific(source)
    else if (at !== 0x30) {
      if (first < 0) first = index
      last = index
    }
  }
  if (first < 0) return noDigits
  const hasPointInside = first < point && point < last
  return {
    negative,
    digits: hasPointInside
      ? source.slice(first, point) + source.slice(point + 1, last + 1)
      : source.slice(first, last + 1),
    point: point < first ? point - first + 1 : point - first
  }
}

const noDigits: Spelling = { negative: false, digits: "", point: 0 }

const spellScientific = (source: string): Spelling | null => {
  const match = scientificForm.exec(source)
  if (match === null) return null
  const [, sign, whole = "", fraction = "", exponent = "0"] = match
  const digits = whole + fraction
  const start = digits.search(/[^0]/)
  if (start < 0) return noDigits
  return {
    negative: sign === "-",
    digits: withoutTrailingZeros(digits.slice(start)),
    point: whole.length - start + Number(exponent)
  }
}

/** A cache, because a decimal is checked twice and then read, and each step parses its spelling. */
const lastSpelled: { input: unknown; spelling: Spelling | null } = {
  input: undefined,
  spelling: null
}

const spellingOf = (input: unknown): Spelling | null => {
  if (input !== lastSpelled.input) {
    const source = sourceOf(input)
    lastSpelled.spelling = source === null ? null : spell(source)
    lastSpelled.input = input
  }
  return lastSpelled.spelling
}

/** Parses `input`, which must have passed the checks, so that its exponent is small. */
const read = (input: unknown): BigDecimal.BigDecimal => {
  const spelling = spellingOf(input)
  if (spelling === null || spelling.digits === "") return BigDecimal.fromBigInt(0n)
  const { digits, negative, point } = spelling
  const scale = digits.length - point
  const value = BigInt(scale < 0 ? digits.padEnd(point, "0") : digits)
  return BigDecimal.make(negative ? -value : value, Math.max(scale, 0))
}

const fits = (input: unknown, holds: (spelling: Spelling) => boolean): boolean => {
  const spelling = spellingOf(input)
  return spelling !== null && holds(spelling)
}

const isDecimalType = (input: unknown): input is DecimalInput =>
  typeof input === "number" || typeof input === "string" || isRawNumber(input)

const actualIfExact = (actual: number) => (Number.isSafeInteger(actual) ? { actual } : {})

/** The digits before the point, or all significant digits if only their total is too large. */
const digitsOf = (input: unknown, before: number): ErrorParameters => {
  const spelling = spellingOf(input)
  if (spelling === null) return { limit: before }
  const { digits, point } = spelling
  return point > before
    ? { limit: before, ...actualIfExact(point) }
    : { limit: significantDigits, actual: digits.length }
}

const placesOf = (input: unknown, after: number): ErrorParameters => {
  const spelling = spellingOf(input)
  if (spelling === null) return { limit: after }
  return { limit: after, ...actualIfExact(spelling.digits.length - spelling.point) }
}

/**
 * A decimal of at most `size`, as `BigDecimal`, encoded as a number. Codes: `invalid_type`,
 * `invalid`, `max_digits`, `max_decimal_places`. A value may have both of the last two.
 */
export const decimalNumber = (size: Size) => decimal(size, numberOf)

/** The amount of a transaction: money, encoded as a string with two decimals. */
export const amount = (size: Size) => decimal(size, twoDecimals)

const powersOfTen = Array.from({ length: 16 }, (_, power) => 10 ** power)

/**
 * The nearest double. A quotient of two integers that doubles hold is rounded once, so it is what
 * the parser makes of the text, which takes several times as long.
 */
const numberOf = (value: BigDecimal.BigDecimal): number => {
  const [digits, power] = [Number(value.value), powersOfTen[value.scale]]
  return power !== undefined && Number.isSafeInteger(digits)
    ? digits / power
    : Number(BigDecimal.format(value))
}

const hundredths = [100n, 10n, 1n] as const

/** In units of 0.01. The value must not have more decimals. */
export const hundredthsOf = ({ scale, value }: BigDecimal.BigDecimal): bigint => {
  const factor = hundredths[scale]
  return factor === undefined
    ? BigDecimal.scale(BigDecimal.make(value, scale), 2).value
    : value * factor
}

/** Two decimals, as in "12.50". The value must not have more. */
export const twoDecimals = (value: BigDecimal.BigDecimal): string => {
  const cents = hundredthsOf(value)
  const digits = String(cents < 0n ? -cents : cents).padStart(3, "0")
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** A number, or text such as "12.50". */
export type DecimalInput = number | string | RawNumber

const decimal = (
  { after, before }: Size,
  encode: (value: BigDecimal.BigDecimal) => number | string
): Schema.Codec<BigDecimal.BigDecimal, DecimalInput> =>
  (Schema.Unknown as Schema.Codec<DecimalInput, DecimalInput>)
    .check(
      fieldCheck(isDecimalType, {
        code: "invalid_type",
        detail: "Must be a number or a decimal string.",
        parameters: { expected: "decimal" },
        jsonSchema: { type: ["number", "string"] },
        abort: true
      }),
      fieldCheck((input) => typeof input !== "string" || input.trim() !== "", {
        code: "blank",
        detail: "Must not be empty.",
        abort: true
      }),
      fieldCheck((input) => typeof input !== "string" || sourceOf(input) !== null, {
        code: "invalid",
        detail: 'Must be a decimal, like 12.5 or "12.50".',
        abort: true
      }),
      fieldCheck(
        (input) =>
          fits(input, ({ digits, point }) => point <= before && digits.length <= significantDigits),
        {
          code: "max_digits",
          detail: `Must have at most ${before} digits before the point and ${significantDigits} in all.`,
          parameters: (input) => digitsOf(input, before)
        }
      ),
      fieldCheck((input) => fits(input, ({ digits, point }) => digits.length - point <= after), {
        code: "max_decimal_places",
        detail: `Must have at most ${after} digits after the point.`,
        parameters: (input) => placesOf(input, after)
      })
    )
    .pipe(
      Schema.decodeTo(Schema.BigDecimal, {
        decode: SchemaGetter.transform((input: DecimalInput) => read(input)),
        encode: SchemaGetter.transform(encode)
      })
    )

/** Money: at most 10 digits before and 2 after the point. */
export const moneySize: Size = { before: 10, after: 2 }

export const Money = decimalNumber(moneySize)
export type Money = typeof Money.Type

export const zero = BigDecimal.fromBigInt(0n)

export const sum = (decimals: Iterable<BigDecimal.BigDecimal>): BigDecimal.BigDecimal =>
  BigDecimal.sumAll(decimals)

export const isEqual = (a: BigDecimal.BigDecimal, b: BigDecimal.BigDecimal): boolean =>
  BigDecimal.equals(a, b)

/**
 * The error if two decimals that should be equal differ. `name` describes what was sent. A missing
 * decimal counts as zero.
 */
export const difference = (
  name: string,
  sent: BigDecimal.BigDecimal | undefined,
  calculated: BigDecimal.BigDecimal
) => {
  const actual = exactText(sent ?? zero)
  const expected = exactText(calculated)
  const by = exactText(BigDecimal.subtract(sent ?? zero, calculated))
  const first = sent === undefined ? "not sent, taken as 0.00" : `stated ${actual}`
  return {
    detail: `${name}: ${first}, calculated ${expected}, difference ${by}.`,
    parameters: { actual, expected, difference: by }
  }
}

/** At least two decimals, and never an exponent. */
export const exactText = (value: BigDecimal.BigDecimal): string => {
  const normal = BigDecimal.normalize(value)
  if (normal.scale <= 2) return twoDecimals(value)
  const digits = String(normal.value < 0n ? -normal.value : normal.value).padStart(
    normal.scale + 1,
    "0"
  )
  const sign = normal.value < 0n ? "-" : ""
  return `${sign}${digits.slice(0, -normal.scale)}.${digits.slice(-normal.scale)}`
}

/** Rounded half away from zero to `decimals` after the point. */
export const roundHalfUp = (value: BigDecimal.BigDecimal, decimals: number) =>
  value.scale <= decimals
    ? value
    : BigDecimal.round(value, { scale: decimals, mode: "half-from-zero" })
