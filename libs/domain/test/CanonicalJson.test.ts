/**
 * Canonical JSON by the examples of RFC 8785, and where it differs for exact numbers.
 * Source: docs/contract/import.md#payload-hash, RFC 8785.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { encodeAccount, accountTextInSteps } from "../src/accounts/Account.ts"
import { canonicalTextOf } from "../src/schema/CanonicalJson.ts"
import { decimalNumber } from "../src/schema/Decimal.ts"
import * as Json from "../src/schema/Json.ts"
import { finish } from "../src/support/Steps.ts"
import { domesticAccount } from "../testing/samples.ts"
import { keyOf } from "./importPrograms.ts"

const writingAnything = canonicalTextOf(Schema.Unknown)

const canonical = (text: string): string =>
  finish(writingAnything(Result.getOrThrow(finish(Json.parseInSteps(text)))))

const Price = decimalNumber({ before: 8, after: 7 })
const writingPrice = canonicalTextOf(Schema.Struct({ price_per_unit: Price }))

describe("canonical JSON", () => {
  it("matches RFC 8785, section 3.2, except for a number that no double holds", () => {
    const sent = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`
    const text = [
      '{"literals":[null,true,false],',
      '"numbers":[333333333.33333329,1e+30,4.5,0.002,1e-27],',
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`
    ].join("")
    expect(canonical(sent)).toBe(text)
  })

  it("sorts keys by their UTF-16 units, as RFC 8785 shows in section 3.2.3", () => {
    const sent = String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`
    expect(canonical(sent)).toBe(
      `{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}`
    )
  })

  it.each([
    ["0", "0"],
    ["-0", "0"],
    ["1.0", "1"],
    ["10e-1", "1"],
    ["9007199254740991", "9007199254740991"],
    ["1e21", "1e+21"],
    ["1e-7", "1e-7"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
    ["0.1234567890123456789", "0.1234567890123456789"]
  ])("writes the number %s of a free object as %s", (sent, text) => {
    expect(canonical(`[${sent}]`)).toBe(`[${text}]`)
  })

  it("does not depend on the order of keys, and is the same in steps", () => {
    const members = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(members, (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse())
        const text = finish(writingAnything(value))
        expect(finish(writingAnything(reversed))).toBe(text)
        const large = Array.from({ length: 2_001 }, () => 0)
        const inSteps = finish(writingAnything([large, value, { large, value }]))
        const zeros = `[${large.join()}]`
        expect(inSteps).toBe(`[${zeros},${text},{"large":${zeros},"value":${text}}]`)
      }),
      { numRuns: 200 }
    )
  })
})

describe("the canonical text of an account", () => {
  const account = domesticAccount(keyOf("AL-0001"))

  it("has the values that validate answers", () => {
    const text = finish(accountTextInSteps(account))
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(encodeAccount(account))))
    expect(text).toBe(canonical(text))
  })

  it.each([
    ["0.0000001", "0.0000001"],
    ["-0.0000012", "-0.0000012"],
    ["0.10", "0.1"],
    ["12345678.5", "12345678.5"],
    ["100", "100"]
  ])("writes the price %s as %s, without an exponent", (sent, written) => {
    const price_per_unit = Schema.decodeUnknownSync(Price)(sent)
    expect(finish(writingPrice({ price_per_unit }))).toBe(`{"price_per_unit":${written}}`)
  })
})
