import { expect, it } from "vitest"
import { undoPreview } from "../../testing/sampleMigrations.ts"
import { additionsText, endingText, refusalOf, vendorsText } from "../../web/src/text/Undo.ts"

const [kept, ended] = [undoPreview(0, false), undoPreview(0, true)]

it("names what ends with the accounts", () => {
  expect(additionsText(ended)).toBe("12 transactions, 1 note and 3 payment instructions")
  expect(additionsText(kept)).toBe("")
  expect(vendorsText(ended)).toBe("3 of STRIPE")
  expect(vendorsText(kept)).toBe("")
})

it("says what becomes of one account and of many", () => {
  const one = "1 of 2 accounts ends: it stays readable by its number, and counts "
  expect(endingText({ accounts: 1, total: 2 })).toContain(one)
  const two = "2 accounts end: they stay readable by their numbers, and count "
  expect(endingText({ accounts: 2, total: 2 }).startsWith(two)).toBe(true)
})

it("says for every refusal what would allow the revert", () => {
  for (const { code } of kept.refused) expect(refusalOf(code).remedy).not.toBe("")
  expect(refusalOf("later")).toEqual({ why: "later", remedy: "" })
})
