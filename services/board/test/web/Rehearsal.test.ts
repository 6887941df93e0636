import { expect, it } from "vitest"
import { forecastText } from "../../web/src/text/Rehearsal.ts"

const none = { total: 0, would_succeed: 0, already: 0, would_fail: 0, not_tried: 0 }

it.each([
  [
    { total: 2_000, would_succeed: 1_900, would_fail: 100 },
    "1,900 of 2,000 accounts; 100 would fail."
  ],
  [{ total: 1, would_succeed: 1 }, "1 of 1 account; none would fail."],
  [
    { total: 4, would_succeed: 1, already: 1, not_tried: 2 },
    "1 of 4 accounts; none would fail, 1 there before, 2 not tried."
  ]
])("the forecast %j is a sentence", (lines, expected) => {
  const text = forecastText({ lines: { ...none, ...lines } })
  expect(text).toBe(`The real run would create ${expected}`)
})
