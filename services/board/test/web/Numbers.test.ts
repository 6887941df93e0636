import { describe, expect, it } from "vitest"
import {
  count,
  counted,
  money,
  moneyDifference,
  rate,
  share,
  short
} from "../../web/src/text/Numbers.ts"

describe("counts", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [61_204, "61,204"],
    [1_000_000, "1,000,000"]
  ])("%i is %s", (value, text) => expect(count(value)).toBe(text))

  it("agrees with its noun in number", () => {
    expect([0, 1, 2].map((value) => counted(value, "batch", "batches"))).toEqual([
      "0 batches",
      "1 batch",
      "2 batches"
    ])
  })

  it.each([
    [950, "950"],
    [9_500, "9,500"],
    [95_000, "95k"],
    [1_200_000, "1.2M"]
  ])("%i is %s on an axis", (value, text) => expect(short(value)).toBe(text))

  it("gives a rate a decimal only below 10", () => {
    expect([rate(0.25), rate(1_240.4)]).toEqual(["0.3 a second", "1,240 a second"])
  })
})

describe("shares", () => {
  it.each([
    [0, 412, "0 %"],
    [1, 100_000, "<1 %"],
    [1, 3, "33 %"],
    [99_999, 100_000, ">99 %"],
    [412, 412, "100 %"],
    [0, 0, "–"]
  ])("%i of %i is %s", (part, total, text) => expect(share(part, total)).toBe(text))
})

describe("money", () => {
  it.each([
    ["0.00", "0.00"],
    ["-1204518.36", "−1,204,518.36"],
    ["123456789012345678.90", "123,456,789,012,345,678.90"],
    ["999.99", "999.99"]
  ])("%s is %s, with every digit", (exact, text) => expect(money(exact)).toBe(text))
})

describe("the difference of two amounts", () => {
  it.each([
    ["-1204518.36", "-1204506.02", "+12.34"],
    ["0.05", "-0.04", "−0.09"],
    ["90071992547409.93", "90071992547409.92", "−0.01"],
    ["0.00", "1234.50", "+1,234.50"]
  ])("from %s to %s is %s", (from, to, text) => expect(moneyDifference(from, to)).toBe(text))
})
