import { describe, expect, it } from "@effect/vitest"
import { Shares } from "../src/support/Shares.ts"

const lately = 9_999

const held = (parts: number, ...keys: ReadonlyArray<string>) => {
  const shares = new Shares<string>(parts)
  for (const key of keys) {
    shares.want(key, 0)
    shares.take(key)
  }
  return shares
}

describe("a share", () => {
  it.each([
    ["half, while another wants some", ["b", "a", "a"], lately, true],
    ["half, long after another wanted some", ["b", "a", "a"], lately + 1, true],
    ["half, alone", ["a", "a"], 0, false],
    ["all but one, alone", ["a", "a", "a"], 0, true],
    ["less than half", ["b", "a", "b"], 0, false]
  ] as const)("of four is full with %s", (_, keys, now, isFull) => {
    expect(held(4, ...keys).isFull("a", now)).toBe(isFull)
  })

  it("of one is everything", () => {
    expect(held(1).isFull("a", 0)).toBe(false)
    expect(held(1, "a").isFull("a", 0)).toBe(true)
  })

  it("is released, and ends to be more than half", () => {
    const shares = held(4, "a", "a", "a", "b")
    expect(shares.busy).toEqual({ keys: ["a"], wait: true })
    shares.release("a")
    shares.release("a")
    expect([shares.free, shares.heldBy("a")]).toEqual([2, 1])
    expect(shares.busy).toEqual({ keys: [], wait: false })
  })
})
