import { describe, expect, it } from "vitest"
import { offsetAt } from "../../web/src/text/Times.ts"
import { linear, path, spread, ticks, timeTicks } from "../../web/src/charts/Scale.ts"

const hour = 3_600_000

describe("scales", () => {
  it("maps the ends of values to the ends of pixels", () => {
    const y = linear([0, 100], [200, 0])
    expect([0, 25, 100].map(y)).toEqual([200, 150, 0])
  })

  it("maps everything to one place where all values are the same", () => {
    expect(linear([5, 5], [10, 20])(5)).toBe(10)
  })

  it.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [95_000, [0, 50_000, 100_000]],
    [61_204, [0, 20_000, 40_000, 60_000, 80_000]]
  ])("has round ticks from zero that reach %i", (most, expected) => {
    expect(ticks(most)).toEqual(expected)
  })

  it("has whole ticks only, because accounts are whole", () => {
    for (let most = 1; most < 2_000; most += 7) {
      const found = ticks(most)
      expect(found.every(Number.isInteger)).toBe(true)
      expect(found.at(-1)).toBeGreaterThanOrEqual(most)
      expect(found.length).toBeLessThanOrEqual(6)
    }
  })

  it("has at most as many time ticks as wanted", () => {
    const from = Date.parse("2026-11-20T05:30:00Z")
    for (const hours of [2, 30, 200, 5_000, 50_000]) {
      const found = timeTicks(from, from + hours * hour, 6)
      expect(found.length).toBeGreaterThan(0)
      expect(found.length).toBeLessThanOrEqual(7)
    }
  })

  it("has time ticks that are round by the clock of a zone, also across a clock change", () => {
    const from = Date.parse("2026-10-22T05:30:00Z")
    const berlin = (at: number) => offsetAt(at, "Europe/Berlin")
    const found = timeTicks(from, from + 6 * 24 * hour, 6, berlin)
    expect(found.map((at) => new Date(at).toISOString())).toEqual([
      "2026-10-22T22:00:00.000Z",
      "2026-10-23T22:00:00.000Z",
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T23:00:00.000Z",
      "2026-10-26T23:00:00.000Z",
      "2026-10-27T23:00:00.000Z"
    ])
  })

  it("draws a path through points", () => {
    const points = [
      [0, 10],
      [5.04, 2.5]
    ] as const
    expect(path(points)).toBe("M0 10L5 2.5")
    expect(path([])).toBe("")
  })
})

describe("labels", () => {
  it("stay where they are if they do not overlap", () => {
    expect(spread([10, 40, 80], 16, [0, 100])).toEqual([10, 40, 80])
  })

  it("move apart, in their order, and stay within the chart", () => {
    const placed = spread([98, 99, 97], 16, [0, 100])
    expect(placed).toEqual([84, 100, 68])
  })
})
