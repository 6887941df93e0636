import { expect, it } from "vitest"
import { migrations } from "../../testing/sampleMigrations.ts"
import { evidenceOf } from "../../web/src/text/Evidence.ts"

const all = migrations(Date.parse("2026-11-24T08:00:00Z"))

it.each([
  ["stuck", "/#batches"],
  ["failing", "/problems/"],
  ["slow", "/#progress"],
  ["waiting", "/imports/?state=PENDING"],
  ["paused", "/imports/"],
  ["running", "/#progress"],
  ["done", "/imports/?state=IMPORTED"]
])("links the reason of a migration that is %s to %s", (condition, place) => {
  const found = all.find((migration) => migration.condition === condition)
  if (found === undefined) throw new Error("There is no such sample")
  expect(evidenceOf(found)).toBe(`/board/migrations/${found.import_supplier}${place}`)
})

it("links to the oldest accounts, or to the problems if only failed imports are open", () => {
  const [found] = all
  if (found === undefined) throw new Error("There is no sample")
  const reason = "3 accounts wait, and none was imported for 30 hours."
  expect(evidenceOf({ ...found, condition: "stuck", reason })).toMatch(/#oldest$/)
  const states = { ...found.states, PENDING: 0, IN_PROGRESS: 0 }
  expect(evidenceOf({ ...found, condition: "waiting", states })).toMatch(/\/problems\/$/)
  const missing = { ...found, condition: "waiting", states: { ...states, FAILED: 0 } } as const
  expect(evidenceOf({ ...missing, lines_refused: 1 })).toMatch(/#batches$/)
  expect(evidenceOf({ ...missing, lines_remaining: 0 })).toMatch(/#control-totals$/)
})
