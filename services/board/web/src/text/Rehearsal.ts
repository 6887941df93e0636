/** What a rehearsal forecasts, in words. */
import type { BatchForecast } from "../data/Answers.ts"
import { count, counted } from "./Numbers.ts"

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
