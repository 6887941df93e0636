/** Markdown tables of measurements. */
import type { Comparison, Metrics } from "./Comparison.ts"
import type { Centre } from "./Statistics.ts"

/** Columns after the first are aligned to the right. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string => {
  const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"))
  return [line(head), line(rule), ...rows.map(line)].join("\n")
}

/** Three significant figures, with commas in thousands. */
export const short = (value: number): string => {
  if (value === 0) return "0"
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  const options = { maximumFractionDigits: digits, minimumFractionDigits: digits }
  return value.toLocaleString("en-GB", options)
}

const head = [
  "workload",
  "requests/s",
  "the other's",
  "ratio",
  "its interval of 95 %",
  "pairs",
  "p50 ms",
  "the other's",
  "p99 ms",
  "the other's",
  "CPU s per 1,000, without PostgreSQL",
  "the other's",
  "ratio",
  "of PostgreSQL",
  "the other's",
  "ratio"
]

/** Two decimals, or three if rounding to two would be a large share of the number. */
export const decimals = (value: number): string => value.toFixed(value < 0.3 ? 3 : 2)

const orDash = (value: number): string =>
  Number.isFinite(value) && value > 0 ? decimals(value) : "–"

/** A ratio, or a dash if one of its times was too short for the clock of hundredths of a second. */
export const asRatio = ({ value }: Centre): string => orDash(value)

/** The interval of a ratio. */
export const asInterval = ({ interval }: Centre): string => interval.map(orDash).join(" to ")

export const percent = (share: number): string => `${Math.round(100 * share)} %`

/** One row per comparison, ours first. */
export const comparisons = (
  rows: ReadonlyArray<readonly [title: string, comparison: Comparison]>
): string =>
  table(
    head,
    rows.map(([title, { isDisturbed, other, ours, pairs, ratioOf }]) => {
      const both = (name: keyof Metrics) => [short(ours[name]), short(other[name])]
      return [
        isDisturbed ? `${title} (disturbed)` : title,
        ...both("rate"),
        `**${asRatio(ratioOf.rate)}**`,
        asInterval(ratioOf.rate),
        String(pairs),
        ...both("p50"),
        ...both("p99"),
        ...both("serviceCpu"),
        asRatio(ratioOf.serviceCpu),
        ...both("postgresCpu"),
        asRatio(ratioOf.postgresCpu)
      ]
    })
  )
