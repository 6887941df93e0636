import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { bodyBytes } from "@data-import/api/Limits"
import { BodyBudget, type BodyReservation, graceMillis } from "../src/http/BodyBudget.ts"

interface Told {
  readonly holder?: string
  readonly startedAt?: number
  /** By default everything that it holds. */
  readonly moved?: number
}

/** Makes bodies that record their eviction. */
const bodies = () => {
  const evicted: Array<string> = []
  const body = (name: string, { holder = name, moved, startedAt = 0 }: Told = {}) => {
    const reservation: BodyReservation = {
      holder,
      bytes: 0,
      startedAt,
      moved: () => moved ?? reservation.bytes,
      evict: () => void evicted.push(name)
    }
    return reservation
  }
  return { body, evicted }
}

describe("the budget for bodies", () => {
  it("reserves up to its limit, and again what was released", () => {
    const { body } = bodies()
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

  it("evicts the costliest exchanges, and few more than needed", () => {
    const { body, evicted } = bodies()
    const budget = new BodyBudget(160)
    const slow = body("slow", { moved: 25 })
    const slower = body("slower", { moved: 10 })
    const fast = body("fast", { startedAt: graceMillis })
    const next = body("next", { startedAt: 2 * graceMillis })
    budget.reserve(slow, 50, graceMillis)
    budget.reserve(slower, 40, graceMillis)
    budget.reserve(fast, 60, graceMillis)
    expect(budget.reserve(next, 40, 2 * graceMillis)).toBe(true)
    expect(evicted).toEqual(["slower"])
    expect([slow, slower, fast, next].map(({ bytes }) => bytes)).toEqual([50, 0, 60, 40])
    expect(budget.reserve(next, 50, 2 * graceMillis)).toBe(true)
    expect(evicted).toEqual(["slower", "slow"])
  })

  it("evicts no body that has just begun or has arrived, nor the requester", () => {
    const { body, evicted } = bodies()
    const budget = new BodyBudget(10)
    const [arrived, asking] = [body("arrived"), body("asking")]
    const begun = body("begun", { startedAt: 1 })
    budget.reserve(arrived, 5, 0)
    budget.complete(arrived)
    budget.reserve(asking, 1, 0)
    budget.reserve(begun, 4, 1)
    expect(budget.reserve(asking, 1, graceMillis)).toBe(false)
    expect(evicted).toEqual([])
    expect(budget.reserve(asking, 1, graceMillis + 1)).toBe(true)
    expect(evicted).toEqual(["begun"])
  })

  it("evicts an exchange whose answer is read slowly, but not one in progress", () => {
    const { body, evicted } = bodies()
    const budget = new BodyBudget(10)
    const [worked, read] = [body("worked"), body("read")]
    const next = body("next", { startedAt: graceMillis })
    budget.reserve(worked, 5, 0)
    budget.reserve(read, 5, 0)
    budget.complete(worked)
    budget.complete(read)
    budget.answer(read, 0, graceMillis)
    expect(budget.reserve(next, 5, 2 * graceMillis - 1)).toBe(false)
    expect(budget.reserve(next, 5, 2 * graceMillis)).toBe(true)
    expect(evicted).toEqual(["read"])
    budget.release(worked)
    budget.answer(worked, 0, graceMillis)
    expect(budget.reserve(next, 6, 3 * graceMillis)).toBe(false)
    expect(evicted).toEqual(["read"])
  })
})

describe("an answer", () => {
  it("holds the reservation of its body, or more if it is larger", () => {
    const { body } = bodies()
    const budget = new BodyBudget(40)
    const [small, large] = [body("small"), body("large")]
    budget.reserve(small, 5, 0)
    budget.reserve(large, 5, 0)
    expect(budget.answer(small, 3, 0)).toBe(true)
    expect(budget.answer(large, 12, 0)).toBe(true)
    expect([small.bytes, large.bytes, budget.used]).toEqual([5, 12, 17])
  })

  it("evicts exchanges that wait for clients, but none in progress", () => {
    const { body, evicted } = bodies()
    const budget = new BodyBudget(10)
    const [worked, waiting, answered] = [body("worked"), body("waiting"), body("answered")]
    budget.reserve(worked, 4, 0)
    budget.complete(worked)
    budget.reserve(waiting, 4, 0)
    budget.reserve(answered, 1, 0)
    budget.complete(answered)
    expect(budget.answer(answered, 7, graceMillis)).toBe(false)
    expect(evicted).toEqual(["waiting"])
    expect(budget.answer(answered, 5, graceMillis)).toBe(true)
  })

  it("larger than a quota counts as one quota", () => {
    const { body } = bodies()
    const budget = new BodyBudget(10, 6)
    const huge = body("huge")
    expect(budget.answer(huge, 1_000, 0)).toBe(true)
    expect(budget.used).toBe(6)
  })
})

/** Which of two bodies is evicted for a third, in a budget of 1,600 that they have filled. */
const givenUp = (
  [one, other]: readonly [Told & { bytes: number }, Told & { bytes: number }],
  now: number
) => {
  const { body, evicted } = bodies()
  const budget = new BodyBudget(1_600)
  budget.reserve(body("one", one), one.bytes, 0)
  budget.reserve(body("other", other), other.bytes, 0)
  const rest = body("rest", { startedAt: now })
  budget.reserve(rest, budget.limit - budget.used, now)
  budget.reserve(body("next", { startedAt: now }), 1, now)
  return evicted[0]
}

const seconds = (count: number) => count * 1_000

describe("the order of evictions", () => {
  it.each([
    [
      "unread answers go before a slow upload",
      { bytes: 500, moved: 100 },
      { bytes: 500, moved: 500 }
    ],
    [
      "small slow uploads of one holder go before a large quick one of theirs",
      { bytes: 10, holder: "same" },
      { bytes: 700, holder: "same", startedAt: seconds(8) }
    ],
    [
      "small slow uploads of many go before a large quick one",
      { bytes: 10 },
      { bytes: 100, startedAt: seconds(8) }
    ],
    ["what moves nothing goes first", { bytes: 500, moved: 0 }, { bytes: 500, moved: 2 }],
    ["of the same pace, one who holds more goes first", { bytes: 600 }, { bytes: 300 }],
    [
      "the newest answer that nobody reads goes before the oldest upload of one who holds less",
      { bytes: 800, moved: 200, startedAt: seconds(8) },
      { bytes: 300, moved: 300 }
    ]
  ])("%s", (_rule, first, second) => {
    expect(givenUp([first, second], seconds(10))).toBe("one")
    expect(givenUp([second, first], seconds(10))).toBe("other")
  })

  it("does not favour more memory, fewer bytes moved or more time taken", () => {
    const pair = fc
      .record({
        bytes: fc.integer({ min: 1, max: 799 }),
        moved: fc.integer({ min: 0, max: 2_000 }),
        startedAt: fc.integer({ min: 0, max: seconds(9) })
      })
      .chain((one) =>
        fc.record({
          one: fc.constant(one),
          worse: fc.record({
            bytes: fc.integer({ min: one.bytes + 1, max: 800 }),
            moved: fc.integer({ min: 0, max: one.moved }),
            startedAt: fc.integer({ min: 0, max: one.startedAt })
          })
        })
      )
    fc.assert(
      fc.property(pair, ({ one, worse }) => {
        expect(givenUp([one, worse], seconds(10))).toBe("other")
        expect(givenUp([worse, one], seconds(10))).toBe("one")
      })
    )
  })
})

describe("the quota of one holder", () => {
  it("limits their reservations, whatever is free, until released", () => {
    const { body } = bodies()
    const budget = new BodyBudget(100, 50)
    const [a, b, c] = [1, 2, 3].map((name) => body(`${name}`, { holder: "one" })) as [
      BodyReservation,
      BodyReservation,
      BodyReservation
    ]
    expect(budget.reserve(a, 30, 0)).toBe(true)
    expect(budget.reserve(b, 21, 0)).toBe(false)
    expect(budget.reserve(b, 20, 0)).toBe(true)
    expect(budget.reserve(body("other"), 50, 0)).toBe(true)
    budget.release(a)
    expect(budget.reserve(c, 30, 0)).toBe(true)
    expect(budget.used).toBe(100)
  })

  it("is half of the budget, and at least one body", () => {
    for (const [limit, quota] of [
      [bodyBytes, bodyBytes],
      [2 * bodyBytes, bodyBytes],
      [6 * bodyBytes, 3 * bodyBytes]
    ] as const) {
      const { body } = bodies()
      const budget = new BodyBudget(limit)
      const one = body("one")
      expect(budget.reserve(one, quota + 1, 0)).toBe(false)
      expect(budget.reserve(one, quota, 0)).toBe(true)
    }
  })

  it("is freed by evicting their own exchanges", () => {
    const { body, evicted } = bodies()
    const budget = new BodyBudget(160, 80)
    budget.reserve(body("other", { moved: 1 }), 80, 0)
    budget.reserve(body("slow", { holder: "one", moved: 10 }), 30, 0)
    const held = body("held", { holder: "one" })
    budget.reserve(held, 50, 0)
    const next = body("next", { holder: "one", startedAt: graceMillis })
    expect(budget.reserve(next, 20, graceMillis)).toBe(true)
    expect(evicted).toEqual(["slow"])
    budget.complete(held)
    expect(budget.reserve(next, 20, graceMillis)).toBe(false)
    expect(evicted).toEqual(["slow"])
  })
})
