/** Whether a wave is to be imported, in words. */
import type { BatchDetail, WaveReview } from "../data/Answers.ts"
import { forecastText, hasHappened, outcomeText } from "./Rehearsal.ts"
import { counted } from "./Numbers.ts"

export const decisionWords = { GO: "go", NO_GO: "no-go" } as const

const verdicts = {
  GO: "is a go",
  HALF: "is a go for one manager; another has to say so",
  NO_GO: "is a no-go",
  UNDECIDED: "is not decided yet"
} as const

type Decided = Pick<WaveReview, "decisions" | "undone_at" | "verdict">

const verdictText = ({ decisions, undone_at: undone, verdict }: Decided): string => {
  if (verdict !== "OVER") return verdicts[verdict]
  const [{ at } = { at: "" }] = decisions
  return undone !== null && Date.parse(undone) >= Date.parse(at)
    ? "was undone since it was decided"
    : "was rehearsed again since it was decided"
}

/** The newest decision, if it is of the newest rehearsal. */
export const standing = ({
  decisions,
  verdict
}: Pick<WaveReview, "decisions" | "verdict">): WaveReview["decisions"][number] | undefined =>
  verdict === "UNDECIDED" || verdict === "OVER" ? undefined : decisions[0]

/** Such as `wave-1 is a go`. */
export const ofWave = ({ cohort, ...decided }: Decided & Pick<WaveReview, "cohort">): string =>
  `${cohort} ${verdictText(decided)}`

/** What is known of the wave, as one sentence. */
export const evidenceOf = ({
  rehearsal,
  states,
  undone_at: undone
}: Pick<WaveReview, "rehearsal" | "states" | "undone_at">) => {
  if (rehearsal === null || rehearsal.forecast === null) {
    const since = undone === null ? "" : " since it was undone"
    const open = counted(states.PENDING + states.FAILED, "account")
    return `It was not rehearsed${since}. ${open} would be tried.`
  }
  const { batch, forecast, outcome } = rehearsal
  if (batch.finished_at === null) return `It is being rehearsed. So far: ${forecastText(forecast)}`
  return outcome !== null && hasHappened(outcome) ? outcomeText(outcome) : forecastText(forecast)
}

const sum = (counts: ReadonlyArray<{ readonly lines: number }>): number =>
  counts.reduce((all, { lines }) => all + lines, 0)

/** Of the accounts that would fail, how many are still to be imported. */
export const openFailures = ({ batch, outcome }: Pick<BatchDetail, "batch" | "outcome">): number =>
  batch.counts.failed - (outcome?.failures_settled ?? 0)

const settled: ReadonlySet<string> = new Set(["IMPORTED", "SKIPPED", "ERASED"])

/** Whether no account of the rehearsal is to be imported any more, so that it forecasts nothing. */
export const isOver = ({ batch, outcome }: NonNullable<WaveReview["rehearsal"]>): boolean => {
  const ended = (outcome?.finally ?? []).filter(({ state }) => settled.has(state))
  return ended.length > 0 && sum(ended) >= batch.counts.received - batch.counts.cancelled
}

/** What is known to have changed since the rehearsal; zero of both without one. */
export const changesOf = ({ rehearsal, states }: Pick<WaveReview, "rehearsal" | "states">) => {
  if (rehearsal === null || rehearsal.outcome === null) return { notRehearsed: 0, changed: 0 }
  const { batch, outcome } = rehearsal
  const { cancelled, received } = batch.counts
  const settled = outcome.finally.filter(({ state }) => state !== "PENDING" && state !== "FAILED")
  // Lines that are not counted yet are taken for open, so that no account seems new while they are.
  const rehearsed = received - cancelled - sum(settled)
  return {
    /** Open accounts that it did not try: staged since, or moved here. */
    notRehearsed: Math.max(0, states.PENDING + states.FAILED + states.IN_PROGRESS - rehearsed),
    /** Accounts that were tried since, and were others by then. */
    changed: sum(outcome.table.filter(({ happened }) => happened === "CHANGED"))
  }
}
