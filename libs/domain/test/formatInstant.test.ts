import { expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import fc from "fast-check"
import { formatInstant } from "../src/schema/Field.ts"

const atYear = (year: number) => Date.UTC(year, 0, 1)
const days = [atYear(1969), 0, atYear(2000), Date.UTC(2024, 1, 29), atYear(2100)]
const edges = days.flatMap((day) => [day - 1, day, day + 999, day + 1_000, day + 43_199_999])

it("an instant is formatted in whole seconds, rounded down", () => {
  const any = fc.integer({ min: atYear(1000), max: atYear(9999) })
  for (const millis of [...edges, ...fc.sample(any, 200)]) {
    const instant = DateTime.makeUnsafe(millis)
    const printed = DateTime.formatIso(instant).replace(/\.\d{3}Z$/, "Z")
    expect(formatInstant(instant)).toBe(printed)
  }
})
