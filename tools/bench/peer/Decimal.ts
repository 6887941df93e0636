/**
 * Exact arithmetic with decimals: cents, and for finer values `bigint` integers that are scaled by
 * a power of ten. A decimal is a number or a text that the schema of the request has checked.
 */

const spelling = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/** The value is `digits` × 10^-scale; zeros at the end are left out. */
const read = (decimal: unknown): { readonly digits: bigint; readonly scale: number } => {
  const [, sign = "", whole = "0", fraction = "", exponent = "0"] =
    spelling.exec(String(decimal).trim()) ?? []
  const shown = fraction.replace(/0+$/, "")
  return { digits: BigInt(sign + whole + shown), scale: shown.length - Number(exponent) }
}

/** The decimal × 10^scale, truncated. */
export const scaled = (decimal: unknown, scale: number): bigint => {
  const { digits, scale: own } = read(decimal)
  return own <= scale ? digits * 10n ** BigInt(scale - own) : digits / 10n ** BigInt(own - scale)
}

/**
 * The cents of an amount with two decimals and ten digits before them, for which a number is exact.
 */
export const cents = (decimal: unknown): number => Math.round(Number(decimal) * 100)

/** Rounded half away from zero from one scale to a smaller one. */
export const rounded = (value: bigint, from: number, to: number): bigint => {
  if (from === to) return value
  const unit = 10n ** BigInt(from - to)
  return (value + (value < 0n ? -unit : unit) / 2n) / unit
}

export const decimalsOf = (decimal: unknown): number => Math.max(0, read(decimal).scale)

/** Cents with two decimals, as in "12.50". */
export const twoDecimals = (value: number): string => ((value + 0) / 100).toFixed(2)
