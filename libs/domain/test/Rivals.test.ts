import { describe, expect, it } from "@effect/vitest"
import { Rivals } from "../src/support/Rivals.ts"

const lately = 9

describe("a rival", () => {
  it.each([
    ["is nobody before the first wish", [], 0, false],
    ["is not oneself", ["a", "a"], 0, false],
    ["is another that wanted something lately", ["b", "a"], lately, true],
    ["is another whose wish was the last", ["a", "b"], lately, true],
    ["is the other of two that alternate", ["b", "a", "b", "a"], lately, true],
    ["is nobody long after the wish of another", ["b", "a"], lately + 1, false]
  ] as const)("%s", (_, keys, now, hasRival) => {
    const rivals = new Rivals<string>(10)
    for (const key of keys) rivals.want(key, 0)
    expect(rivals.hasRival("a", now)).toBe(hasRival)
  })

  it("remains one as long as it wants something", () => {
    const rivals = new Rivals<string>(10)
    for (const now of [0, 8, 16]) {
      rivals.want("b", now)
      rivals.want("a", now)
    }
    expect(rivals.hasRival("a", 16 + lately)).toBe(true)
  })
})
