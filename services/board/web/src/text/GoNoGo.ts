/** Whether a wave is to be imported, in words. */
import type { WaveReview } from "../data/Answers.ts"
import { forecastText, hasHappened, outcomeText } from "./Rehearsal.ts"
import { counted } from "./Numbers.ts"

export const decisionWords = { GO: "go", NO_GO: "no-go" } as const

const verdicts: Readonly<Record<WaveReview["verdict"], string>> = {
  GO: "is a go",
  HALF: "is a go for one manager; another has to say so",
  NO_GO: "is a no-go",
  UNDECIDED: "is not decided yet",
  OVER: "was rehearsed again or undone since it was decided"
}

/** The newest decision, if it is of the newest rehearsal. */
export const standing = ({
  decisions,
  verdict
}: Pick<WaveReview, "decisions" | "verdict">): WaveReview["decisions"][number] | undefined =>
  verdict === "UNDECIDED" || verdict === "OVER" ? undefined : decisions[0]

/** Such as `wave-1 is a go`. */
export const ofWave = ({ cohort, verdict }: Pick<WaveReview, "cohort" | "verdict">): string =>
  `${cohort} ${verdicts[verdict]}`

/** What is known of the wave, as one sentence. */
export const evidenceOf = ({
  rehearsal,
  run,
  states
}: Pick<WaveReview, "rehearsal" | "run" | "states">) => {
  if (rehearsal === null || rehearsal.forecast === null) {
    return `It was not rehearsed. ${counted(states.PENDING + states.FAILED, "account")} would be tried.`
  }
  const { batch, forecast, outcome } = rehearsal
  if (batch.finished_at === null) return `It is being rehearsed. So far: ${forecastText(forecast)}`
  return run !== null && outcome !== null && hasHappened(outcome)
    ? outcomeText(outcome)
    : forecastText(forecast)
}

const sum = (counts: ReadonlyArray<{ readonly lines: number }>): number =>
  counts.reduce((all, { lines }) => all + lines, 0)

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
