import { expect, it } from "vitest"
import { alerts } from "../../testing/sampleAlerts.ts"
import { draftOf, isStored, testHeldBy, toggled } from "../../web/src/text/Alerts.ts"
import type { Alerts } from "../../web/src/data/Answers.ts"

const stored = alerts(0) as Alerts
const draft = draftOf(stored)

it("a choice that was made and taken back is what is stored", () => {
  const without = { ...draft, kinds: toggled(draft.kinds, "stuck") }
  expect(isStored(without, stored)).toBe(false)
  expect(isStored({ ...without, kinds: toggled(without.kinds, "stuck") }, stored)).toBe(true)
  expect(isStored({ ...draft, suppliers: [] }, stored)).toBe(false)
  expect(isStored({ ...draft, webhook: null }, stored)).toBe(false)
})

it.each([
  ["webhook", draft, stored, null],
  ["webhook", { ...draft, suppliers: [] }, stored, /^Save first/],
  ["webhook", draft, { ...stored, webhook: null }, /^Enter where/],
  ["email", draft, { ...stored, sends_email: false }, /not set up to send e-mail/]
] as const)("a test by %s says what it waits for", (way, typed, has, said) => {
  const heldBy = testHeldBy(way, typed, has)
  if (said === null) expect(heldBy).toBeNull()
  else expect(heldBy).toMatch(said)
})
