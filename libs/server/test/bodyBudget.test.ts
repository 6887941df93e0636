import { describe, expect, it } from "@effect/vitest"
import { BodyBudget, type BodyReservation, stalledAfter } from "../src/BodyBudget.ts"

const body = (name: string, evicted: Array<string> = []): BodyReservation => ({
  bytes: 0,
  lastProgressAt: 0,
  evict: () => void evicted.push(name)
})

describe("the budget for bodies", () => {
  it("reserves up to its limit, and again what was released", () => {
    const budget = new BodyBudget(10)
    const [a, b] = [body("a"), body("b")]
    expect(budget.reserve(a, 6, 0)).toBe(true)
    expect(budget.reserve(b, 5, 0)).toBe(false)
    expect(budget.reserve(b, 4, 0)).toBe(true)
    budget.release(a)
    budget.release(a)
    expect(budget.used).toBe(4)
    expect(budget.reserve(b, 6, 0)).toBe(true)
    expect(budget.used).toBe(10)
  })

  it("gives up the bodies that have stalled the longest, and no more of them than needed", () => {
    const evicted: Array<string> = []
    const budget = new BodyBudget(10)
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => body(name, evicted)) as [
      BodyReservation,
      BodyReservation,
      BodyReservation,
      BodyReservation
    ]
    budget.reserve(a, 3, 0)
    budget.reserve(b, 3, 1)
    budget.reserve(c, 3, 2)
    budget.reserve(a, 1, 3)
    expect(budget.reserve(d, 4, stalledAfter + 3)).toBe(true)
    expect(evicted).toEqual(["b", "c"])
    expect([a, b, c, d].map(({ bytes }) => bytes)).toEqual([4, 0, 0, 4])
  })

  it("gives up neither a body that is arriving nor one that has arrived", () => {
    const evicted: Array<string> = []
    const budget = new BodyBudget(10)
    const [arrived, arriving, next] = [body("a", evicted), body("b", evicted), body("c", evicted)]
    budget.reserve(arrived, 5, 0)
    budget.complete(arrived)
    budget.reserve(arriving, 5, 1)
    expect(budget.reserve(next, 1, stalledAfter)).toBe(false)
    expect(budget.reserve(next, 1, stalledAfter + 1)).toBe(true)
    expect(evicted).toEqual(["b"])
    expect(budget.used).toBe(6)
  })
})
