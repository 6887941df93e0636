/** What a rehearsal forecasts, and what happened, in words. */
import type { BatchForecast, BatchOutcome } from "../data/Answers.ts"
import { count, counted } from "./Numbers.ts"
import { stateWord } from "./Words.ts"

/** Such as `The real run would create 1,900 of 2,000 accounts; 100 would fail`. */
export const forecastText = ({ lines }: Pick<BatchForecast, "lines">): string => {
  const { already, not_tried: left, total, would_fail: failing, would_succeed: created } = lines
  const others = [
    `${failing === 0 ? "none" : count(failing)} would fail`,
    ...(already > 0 ? [`${count(already)} there before`] : []),
    ...(left > 0 ? [`${count(left)} not tried`] : [])
  ]
  return `The real run would create ${count(created)} of ${counted(total, "account")}; ${others.join(", ")}.`
}

export type Happened = BatchOutcome["table"][number]["happened"]

export const happenedWords: Readonly<Record<Happened, string>> = {
  CREATED: "created",
  FAILED_AS_PREDICTED: "failed with the same codes",
  FAILED_OTHERWISE: "failed with other codes, or broke off",
  CHANGED: "changed since",
  NOT_TRIED: "not tried yet",
  SKIPPED: "skipped",
  ERASED: "erased"
}

const untried: ReadonlySet<Happened> = new Set(["NOT_TRIED", "SKIPPED", "ERASED"])

/** Whether any line was tried since. */
export const hasHappened = ({ table }: Pick<BatchOutcome, "table">): boolean =>
  table.some(({ happened }) => !untried.has(happened))

export const presentWord = (state: BatchOutcome["surprises"][number]["finally"]): string =>
  state === "REVERTED" ? "Reverted" : state === "NEVER_STAGED" ? "Never staged" : stateWord(state)

/** Such as `As predicted: 99.97 % of 1,999 accounts compared; 3 went otherwise.` */
export const outcomeText = ({
  as_predicted: right,
  compared
}: Pick<BatchOutcome, "as_predicted" | "compared">): string => {
  if (compared === 0) return "Nothing to compare: what was tried had changed since."
  // A share with a surprise is never shown as all.
  const percent = (Math.floor((right * 10_000) / compared) / 100).toFixed(2)
  const others = right === compared ? "none" : count(compared - right)
  return `As predicted: ${percent} % of ${counted(compared, "account")} compared; ${others} went otherwise.`
}
