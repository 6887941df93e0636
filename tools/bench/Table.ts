/** Markdown tables of measurements. */
import type { Comparison, Metrics } from "./Comparison.ts"

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
  "p50 ms",
  "p99 ms",
  "CPU s per 1,000",
  "of PostgreSQL",
  "the other, requests/s",
  "its CPU s per 1,000",
  "of PostgreSQL",
  "ratio",
  "ratios pair by pair"
]

const cpu = ({ postgresCpu, serviceCpu }: Metrics) => [short(serviceCpu), short(postgresCpu)]

/** One row a comparison, ours first. */
export const comparisons = (
  rows: ReadonlyArray<readonly [title: string, comparison: Comparison]>
): string =>
  table(
    head,
    rows.map(([title, { other, ours, ratio, ratios }]) => [
      title,
      short(ours.rate),
      short(ours.p50),
      short(ours.p99),
      ...cpu(ours),
      short(other.rate),
      ...cpu(other),
      `**${ratio.toFixed(2)}**`,
      ratios.map((one) => one.toFixed(2)).join(" ")
    ])
  )
