/**
 * Exact figures: a JSON number or a decimal string, at most 15 significant digits, which a double
 * holds. Sums and products are of integers (`bigint`), scaled by a power of ten, and so exact.
 */
import { isRawNumber } from "./Body.ts"

export interface Size {
  readonly before: number
  readonly after: number
}

const significantDigits = 15
const decimalString = /^-?\d+(\.\d+)?$/
const spelling = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/

interface Decimal {
  readonly negative: boolean
  /** Without zeros around; the value is 0.digits × 10^point. */
  readonly digits: string
  readonly point: number
}

const zero: Decimal = { negative: false, digits: "", point: 0 }

const read = (text: string): Decimal | null => {
  const match = spelling.exec(text)
  if (match === null) return null
  const [, sign, whole = "", fraction = "", exponent = "0"] = match
  const all = whole + fraction
  const digits = all.replace(/^0+/, "")
  const leading = all.length - digits.length
  const significant = digits.replace(/0+$/, "")
  if (significant === "") return zero
  const point = whole.length - leading + Number(exponent)
  return { negative: sign === "-", digits: significant, point }
}

/** Whether a number of the usual spelling fits, without taking it apart. */
const fitsAtOnce = (text: string, { after, before }: Size): boolean => {
  const point = text.indexOf(".")
  const whole = point === -1 ? text.length : point
  const decimals = point === -1 ? 0 : text.length - point - 1
  return whole <= before && decimals <= after && whole + decimals <= significantDigits
}

/** The codes of what is wrong with the figure; none where it fits. */
export const figureCodes = (input: unknown, size: Size): ReadonlyArray<string> => {
  if (input === null) return ["null"]
  if (typeof input === "string") {
    if (input.trim() === "") return ["blank"]
    if (!decimalString.test(input.trim())) return ["invalid"]
  } else if (typeof input !== "number" && !isRawNumber(input)) {
    return ["invalid_type"]
  }
  const text = isRawNumber(input) ? input.rawJSON : String(input).trim()
  if (!text.includes("e") && fitsAtOnce(text, size)) return []
  const decimal = read(text)
  if (decimal === null) return ["max_digits", "max_decimal_places"]
  const { digits, point } = decimal
  return [
    ...(point > size.before || digits.length > significantDigits ? ["max_digits"] : []),
    ...(digits.length - point > size.after ? ["max_decimal_places"] : [])
  ]
}

/** The figure × 10^scale; it has no more decimals than that. */
export const scaled = (figure: number | string, scale: number): bigint => {
  if (typeof figure === "number" && Number.isInteger(figure) && Math.abs(figure) < 1e15) {
    return BigInt(figure) * 10n ** BigInt(scale)
  }
  const { digits, negative, point } = read(String(figure)) ?? zero
  if (digits === "") return 0n
  const value = BigInt(digits) * 10n ** BigInt(scale - (digits.length - point))
  return negative ? -value : value
}

export const cents = (figure: number | string): bigint => scaled(figure, 2)

/** Rounded half away from zero from one scale to a smaller one. */
export const rounded = (value: bigint, from: number, to: number): bigint => {
  const unit = 10n ** BigInt(from - to)
  const half = value < 0n ? -unit / 2n : unit / 2n
  return from === to ? value : (value + half) / unit
}

/** How many decimals the figure has, without zeros at its end. */
export const decimalsOf = (figure: number | string): number => {
  const { digits, point } = read(String(figure)) ?? zero
  return Math.max(0, digits.length - point)
}

/** Two decimals, as in "12.50". */
export const twoDecimals = (value: bigint): string => {
  const digits = String(value < 0n ? -value : value).padStart(3, "0")
  return `${value < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
