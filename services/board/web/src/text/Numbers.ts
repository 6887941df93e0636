/** Counts, shares and money as the board writes them. */

const whole = new Intl.NumberFormat("en-GB")

/** With thousands separated, such as `61,204`. */
export const count = (value: number): string => whole.format(value)

/** A count with its noun, such as `1 account` or `412 accounts`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** `present` with one, `presents` with many: `1 fails`, `2 fail`. */
export const verb = (value: number, one: string, many: string): string => (value === 1 ? one : many)

/** The verb of a part of a whole: `0 of 1 wave is`, `1 of 4 waves is`, `0 of 4 waves are`. */
export const verbOf = (part: number, whole: number, one: string, many: string): string =>
  verb(whole === 1 ? whole : part, one, many)

/**
 * A share as percent. Only nothing is `0 %` and only everything is `100 %`; an empty whole has no
 * share.
 */
export const share = (part: number, total: number): string => {
  if (total <= 0) return "–"
  if (part <= 0) return "0 %"
  if (part >= total) return "100 %"
  const percent = Math.round((part / total) * 100)
  if (percent === 0) return "<1 %"
  return percent === 100 ? ">99 %" : `${percent} %`
}

/** An exact decimal text with thousands separated; it is never read as a number. */
export const money = (exact: string): string => {
  const [, sign = "", digits = exact, rest = ""] = /^(-?)(\d+)(.*)$/.exec(exact) ?? []
  const grouped = digits.replace(/\B(?=(\d{3})+$)/g, ",")
  return `${sign === "-" ? "−" : ""}${grouped}${rest}`
}

const hundredthsOf = (exact: string): bigint => BigInt(exact.replace(".", ""))

/** The exact difference of two amounts with two decimals, with its sign. */
export const moneyDifference = (from: string, to: string): string => {
  const difference = hundredthsOf(to) - hundredthsOf(from)
  const digits = String(difference < 0n ? -difference : difference).padStart(3, "0")
  return `${difference < 0n ? "−" : "+"}${money(`${digits.slice(0, -2)}.${digits.slice(-2)}`)}`
}

/** Short for axes: `950`, `9.5k`, `1.2M`. */
export const short = (value: number): string => {
  const scaled = (by: number, unit: string) => `${Number((value / by).toPrecision(3))}${unit}`
  if (value >= 1_000_000) return scaled(1_000_000, "M")
  return value >= 10_000 ? scaled(1_000, "k") : count(value)
}

/** Lines or accounts in a second, such as `1,200 a second`. */
export const rate = (perSecond: number): string =>
  perSecond >= 10 ? `${count(Math.round(perSecond))} a second` : `${perSecond.toFixed(1)} a second`
