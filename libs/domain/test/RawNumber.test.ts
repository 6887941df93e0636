import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { rawJsonOf, stringify } from "../src/schema/RawNumber.ts"

const withoutPlatform = rawJsonOf({})

describe("without raw JSON support in Node", () => {
  it("stringify agrees with JSON.stringify", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(withoutPlatform.stringify(value)).toBe(JSON.stringify(value))
      })
    )
    const value = { a: undefined, list: [undefined, null], day: new Date(0), __proto__: null }
    expect(withoutPlatform.stringify(value)).toBe(JSON.stringify(value))
  })

  it("stringify keeps the spelling of a raw number at any depth", () => {
    const number = withoutPlatform.rawNumber("12345678901234567890.10")
    expect(withoutPlatform.stringify({ list: [number, { number }] })).toBe(
      '{"list":[12345678901234567890.10,{"number":12345678901234567890.10}]}'
    )
  })

  it("JSON.stringify throws on a raw number, because it would lose digits", () => {
    const number = withoutPlatform.rawNumber("12345678901234567890")
    expect(() => JSON.stringify({ number })).toThrow(/use `stringify` of @data-import\/domain/)
  })

  it("a raw number is distinguished from an object of the same form", () => {
    expect(withoutPlatform.isRawNumber(withoutPlatform.rawNumber("1e400"))).toBe(true)
    expect(withoutPlatform.isRawNumber({ rawJSON: "1e400" })).toBe(false)
  })
})

it("stringify keeps the spelling of the platform's raw numbers", () => {
  const { isRawNumber, rawNumber } = rawJsonOf(JSON as Parameters<typeof rawJsonOf>[0])
  expect(stringify([rawNumber("1e400")])).toBe("[1e400]")
  expect(isRawNumber(rawNumber("1e400"))).toBe(true)
})
