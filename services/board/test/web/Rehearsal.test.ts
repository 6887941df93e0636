import { expect, it } from "vitest"
import { forecastText, hasHappened, outcomeText } from "../../web/src/text/Rehearsal.ts"

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

it.each([
  [1_999, 1_996, "99.84 % of 1,999 accounts compared; 3 went otherwise."],
  [1_000_000, 999_999, "99.99 % of 1,000,000 accounts compared; 1 went otherwise."],
  [1, 1, "100.00 % of 1 account compared; none went otherwise."]
])("the outcome of %d compared, %d as predicted, is a sentence", (compared, as_predicted, text) => {
  expect(outcomeText({ compared, as_predicted })).toBe(`As predicted: ${text}`)
})

it("says that changed accounts are nothing to compare", () => {
  const text = "Nothing to compare: what was tried had changed since."
  expect(outcomeText({ compared: 0, as_predicted: 0 })).toBe(text)
})

it.each([
  ["CHANGED", true],
  ["NOT_TRIED", false],
  ["SKIPPED", false]
] as const)("with lines %s, something has happened: %s", (happened, expected) => {
  expect(hasHappened({ table: [{ predicted: "SUCCEEDED", happened, lines: 1 }] })).toBe(expected)
})
