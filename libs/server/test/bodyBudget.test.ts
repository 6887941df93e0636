import { describe, expect, it } from "@effect/vitest"
import { BodyBudget, type BodyReservation, graceMillis } from "../src/BodyBudget.ts"

const body = (name: string, startedAt = 0, evicted: Array<string> = []): BodyReservation => ({
  bytes: 0,
  startedAt,
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

  it("gives up the slowest bodies first, and few more than are needed", () => {
    const evicted: Array<string> = []
    const budget = new BodyBudget(160)
    const slow = body("slow", 0, evicted)
    const slower = body("slower", 0, evicted)
    const fast = body("fast", graceMillis, evicted)
    const next = body("next", 2 * graceMillis, evicted)
    budget.reserve(slow, 50, graceMillis)
    budget.reserve(slower, 40, graceMillis)
    budget.reserve(fast, 60, graceMillis)
    expect(budget.reserve(next, 40, 2 * graceMillis)).toBe(true)
    expect(evicted).toEqual(["slower"])
    expect([slow, slower, fast, next].map(({ bytes }) => bytes)).toEqual([50, 0, 60, 40])
    expect(budget.reserve(next, 50, 2 * graceMillis)).toBe(true)
    expect(evicted).toEqual(["slower", "slow"])
  })

  it("gives up no body that has just begun or has arrived, and not the one that asks", () => {
    const evicted: Array<string> = []
    const budget = new BodyBudget(10)
    const [arrived, asking] = [body("arrived", 0, evicted), body("asking", 0, evicted)]
    const begun = body("begun", 1, evicted)
    budget.reserve(arrived, 5, 0)
    budget.complete(arrived)
    budget.reserve(asking, 1, 0)
    budget.reserve(begun, 4, 1)
    expect(budget.reserve(asking, 1, graceMillis)).toBe(false)
    expect(evicted).toEqual([])
    expect(budget.reserve(asking, 1, graceMillis + 1)).toBe(true)
    expect(evicted).toEqual(["begun"])
  })

  it("gives up an exchange whose answer is read slowly, but not one that is worked on", () => {
    const evicted: Array<string> = []
    const budget = new BodyBudget(10)
    const [worked, read] = [body("worked", 0, evicted), body("read", 0, evicted)]
    const next = body("next", graceMillis, evicted)
    budget.reserve(worked, 5, 0)
    budget.reserve(read, 5, 0)
    budget.complete(worked)
    budget.complete(read)
    budget.answer(read, graceMillis)
    expect(budget.reserve(next, 5, 2 * graceMillis - 1)).toBe(false)
    expect(budget.reserve(next, 5, 2 * graceMillis)).toBe(true)
    expect(evicted).toEqual(["read"])
    budget.release(worked)
    budget.answer(worked, graceMillis)
    expect(budget.reserve(next, 6, 3 * graceMillis)).toBe(false)
    expect(evicted).toEqual(["read"])
  })
})
