import { expect, it } from "vitest"
import { uncaught } from "./ledger.ts"

it("names the planted defects that no passed test reveals", () => {
  const passed = new Set(["a.test.ts > finds this", "a.test.ts > another"])
  expect(uncaught(passed, "a.test.ts > finds this\na.test.ts > finds that\n")).toEqual([
    "not caught: a.test.ts > finds that"
  ])
})

it("knows planted defects", () => {
  expect(uncaught(new Set()).length).toBeGreaterThan(100)
})
