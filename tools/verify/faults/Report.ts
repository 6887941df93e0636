/** What a scenario reports: one line with its figures, and whether each meets its target. */
import { Findings } from "./Findings.ts"

/** A figure with its target, a maximum or a minimum. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly atMost?: number
  readonly atLeast?: number
}

export interface Report {
  readonly scenario: string
  readonly acknowledged: number
  readonly findings: Findings
  /** The recovery time after each fault, in seconds. */
  readonly recoveries: ReadonlyArray<number>
  /** The longest recovery time allowed, in seconds. */
  readonly recoveryLimit: number
  readonly figures: ReadonlyArray<Figure>
  /** Why the scenario could not be run here. */
  readonly skipped?: string
}

/** A report without findings and figures. */
export const empty = (scenario: string): Report => ({
  scenario,
  acknowledged: 0,
  findings: new Findings(),
  recoveries: [],
  recoveryLimit: 5,
  figures: []
})

const isMet = ({ atLeast = -Infinity, atMost = Infinity, value }: Figure): boolean =>
  value >= atLeast && value <= atMost

const worst = ({ recoveries }: Report): number => Math.max(0, ...recoveries)

/** Whether everything except the times is as it must be. A busy machine is slow. */
export const isRight = ({ figures, findings }: Report): boolean =>
  findings.total === 0 && figures.filter(({ unit }) => unit !== "s" && unit !== "ms").every(isMet)

export const isPassed = (report: Report): boolean =>
  isRight(report) && worst(report) <= report.recoveryLimit && report.figures.every(isMet)

const rounded = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(2)

const figureText = (figure: Figure): string => {
  const { atLeast, atMost, name, unit, value } = figure
  const target = [
    ...(atMost === undefined ? [] : [`≤ ${atMost}`]),
    ...(atLeast === undefined ? [] : [`≥ ${atLeast}`])
  ]
  const bound = target.length === 0 ? "" : ` (${target.join(", ")})`
  return `${name} ${rounded(value)}${unit === "" ? "" : ` ${unit}`}${bound}`
}

/** One line. */
export const line = (report: Report): string => {
  const { acknowledged, figures, findings, recoveries, recoveryLimit, scenario, skipped } = report
  if (skipped !== undefined) return `${scenario}: skipped, ${skipped}`
  const recovery =
    recoveries.length === 0 ? "none to measure" : `${worst(report).toFixed(2)} (≤ ${recoveryLimit})`
  const parts = [
    `acknowledged ${acknowledged}`,
    `lost ${findings.count("lost")}`,
    `doubled ${findings.count("doubled")}`,
    `half made ${findings.count("halfMade")}`,
    `wrong answers ${findings.count("wrong")}`,
    `seconds to recover ${recovery}`,
    ...figures.map(figureText)
  ]
  return `${isPassed(report) ? "passed" : "FAILED"}  ${scenario}: ${parts.join(", ")}`
}
