/** Whether a wave is to be imported, in words. */
import type { WaveReview } from "../data/Answers.ts"
import { forecastText } from "./Rehearsal.ts"
import { counted } from "./Numbers.ts"

export const decisionWords = { GO: "go", NO_GO: "no-go" } as const

/** The newest decision, if it is of the newest rehearsal; a decision of an earlier one is over. */
export const standing = ({
  decisions,
  rehearsal
}: Pick<WaveReview, "decisions" | "rehearsal">): WaveReview["decisions"][number] | null => {
  const [newest] = decisions
  const id = rehearsal?.batch.batch_id ?? null
  return newest !== undefined && newest.rehearsal_id === id ? newest : null
}

/** Such as `wave-1 is a go`. */
export const ofWave = (review: Pick<WaveReview, "cohort" | "decisions" | "rehearsal">): string => {
  const decision = standing(review)
  if (decision !== null) return `${review.cohort} is a ${decisionWords[decision.decision]}`
  if (review.decisions.length === 0) return `${review.cohort} is not decided yet`
  return `${review.cohort} was rehearsed again since it was decided`
}

/** What is known of the wave, as one sentence. */
export const evidenceOf = ({ rehearsal, states }: WaveReview): string =>
  rehearsal === null
    ? `It was not rehearsed. ${counted(states.PENDING + states.FAILED, "account")} would be tried.`
    : forecastText(rehearsal.forecast)
