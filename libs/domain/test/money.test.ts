/**
 * Decimals: their limits, in every spelling, and that they are stored exactly.
 * Source: docs/contract/values.md#numbers, docs/contract/values.md#money.
 */
import { describe, expect, it } from "@effect/vitest"
import { BigDecimal, Result, Schema } from "effect"
import fc from "fast-check"
import { difference, Money, roundHalfUp, twoDecimals } from "../src/schema/Decimal.ts"
import { parse } from "../src/schema/Json.ts"
import { get, put } from "../testing/wire.ts"
import { accept, errorsInText, sampleWith } from "./validationErrors.ts"

const item = {
  start_date: "2025-01-01",
  end_date: "2025-01-31",
  number_of_units: 1,
  net_amount: 0,
  units: [0, 1]
}
const tax = { amount: 0, tax_type: "VAT", value_taxed: 0, rate: 0, unit_type: "PROPORTION" }

/** A separate ledger, whose decimals affect only the sum of its one supply charge. */
const payload = sampleWith({
  "ledgers.1": {
    ledger_code: "GAS_LEDGER",
    last_statement_balance: 0,
    current_statement_transactions: [
      { transaction_id: "G-1", transaction_date: "2025-05-01", amount: 0, type: "CREDIT" },
      {
        transaction_id: "G-2",
        transaction_date: "2025-05-01",
        amount: 0,
        type: "SUPPLY_CHARGE",
        product_code: "GAS",
        line_items: [item],
        tax_items: [tax]
      }
    ]
  }
})

const balance = "ledgers.1.last_statement_balance"
const amount = "ledgers.1.current_statement_transactions.0.amount"
const lineItem = "ledgers.1.current_statement_transactions.1.line_items.0"
const taxItem = "ledgers.1.current_statement_transactions.1.tax_items.0"

/** The payload as text, with this spelling at the path. */
const textWith = (path: string, spelling: string): string =>
  JSON.stringify(put(payload, path, "SPELLING")).replace('"SPELLING"', () => spelling)

const codesOf = (path: string, spelling: string): ReadonlyArray<string> =>
  errorsInText(textWith(path, spelling)).flatMap((error) =>
    error.startsWith(`${path} `) ? [error.slice(path.length + 1)] : []
  )

const storedOf = (path: string, spelling: string): unknown =>
  get(accept(Result.getOrThrow(parse(textWith(path, spelling)))), path)

describe("an amount of money", () => {
  it.each<[string, number]>([
    ["0", 0],
    ["-0", 0],
    ["0e400", 0],
    ["0e99999999999", 0],
    ["0.00", 0],
    ["12.5", 12.5],
    ["12.50", 12.5],
    ["12.500000000000000000000000000000", 12.5],
    ["-12.05", -12.05],
    ["9999999999.99", 9999999999.99],
    ["-9999999999.99", -9999999999.99],
    ["1e2", 100],
    ["1.25E+1", 12.5],
    ["125000000000000000000e-19", 12.5],
    ["0.0000000000125e12", 12.5],
    ['"12.50"', 12.5],
    ['"0012.5"', 12.5],
    ['"-0.01"', -0.01],
    ['"12"', 12],
    ['" 12.50 "', 12.5],
    ['"9999999999.990000000000"', 9999999999.99]
  ])("%s is accepted and stored as %d", (spelling, stored) => {
    expect(codesOf(balance, spelling)).toEqual([])
    expect(storedOf(balance, spelling)).toBe(stored)
    expect(storedOf(amount, spelling)).toBe(stored.toFixed(2))
  })

  it.each<[string, ReadonlyArray<string>]>([
    ["10000000000", ["max_digits"]],
    ["-10000000000.00", ["max_digits"]],
    ["1e10", ["max_digits"]],
    ["1e400", ["max_digits"]],
    ["1e99999999999", ["max_digits"]],
    ["1e-99999999999", ["max_decimal_places"]],
    ["12345678901234567890", ["max_digits"]],
    ["1.005", ["max_decimal_places"]],
    ["0.001", ["max_decimal_places"]],
    ["1e-3", ["max_decimal_places"]],
    ["1e-400", ["max_decimal_places"]],
    ["12345678901.005", ["max_digits", "max_decimal_places"]],
    ["0.1000000000000000055511151231257827", ["max_digits", "max_decimal_places"]],
    ['"10000000000"', ["max_digits"]],
    ['"1.005"', ["max_decimal_places"]],
    ['"12,50"', ["invalid"]],
    ['"1e2"', ["invalid"]],
    ['"1.250,00"', ["invalid"]],
    ['"+1"', ["invalid"]],
    ['".5"', ["invalid"]],
    ['"5."', ["invalid"]],
    ['"--5"', ["invalid"]],
    ['"0x10"', ["invalid"]],
    ['"１"', ["invalid"]],
    ['"NaN"', ["invalid"]],
    ['"Infinity"', ["invalid"]],
    ['"12 50"', ["invalid"]],
    ['"5\\u0000"', ["invalid"]],
    ['""', ["blank"]],
    ['" "', ["blank"]],
    ["true", ["invalid_type"]],
    ["[1]", ["invalid_type"]],
    ["{}", ["invalid_type"]],
    ['{"rawJSON":"1"}', ["invalid_type"]],
    ["null", ["null"]]
  ])("%s is rejected", (spelling, codes) => {
    expect(codesOf(balance, spelling)).toEqual(codes)
    expect(codesOf(amount, spelling)).toEqual(codes)
    expect(codesOf("transfer_balance", spelling)).toEqual(codes)
  })

  it("is rejected with an exponent of any length", () => {
    const nines = "9".repeat(400)
    expect(codesOf(balance, `1e${nines}`)).toEqual(["max_digits"])
    expect(codesOf(balance, `1e-${nines}`)).toEqual(["max_decimal_places"])
  })

  it("must be a number, and is not coerced from another type", () => {
    for (const value of [NaN, Infinity, -Infinity]) {
      expect(Result.isFailure(Schema.decodeUnknownResult(Money)(value))).toBe(true)
    }
  })
})

describe("a quantity", () => {
  /** Path, digits before the point, digits after it. */
  it.each<[string, number, number]>([
    [`${lineItem}.number_of_units`, 12, 4],
    [`${lineItem}.units.0`, 12, 4],
    [`${lineItem}.net_amount`, 10, 10],
    [`${lineItem}.price_per_unit`, 8, 7],
    [`${taxItem}.amount`, 10, 10],
    [`${taxItem}.value_taxed`, 15, 5],
    [`${taxItem}.rate`, 15, 5]
  ])(
    "%s has at most %i digits before the point and %i after it, and 15 in all",
    (path, before, after) => {
      const whole = "9".repeat(before)
      const fraction = "9".repeat(after)
      expect(codesOf(path, whole)).toEqual([])
      expect(codesOf(path, `-${whole}`)).toEqual([])
      expect(codesOf(path, `1${"0".repeat(before)}`)).toEqual(["max_digits"])
      expect(codesOf(path, `0.${fraction}`)).toEqual([])
      expect(codesOf(path, `0.${"0".repeat(after)}1`)).toEqual(["max_decimal_places"])
      const left = 15 - after
      const most = `${"9".repeat(left)}.${fraction}`
      for (const spelling of [most, `"${most}"`, `${most}0`, `-${most}`]) {
        expect(codesOf(path, spelling)).toEqual(left <= before ? [] : ["max_digits"])
      }
      const tooMany = `${"9".repeat(left + 1)}.${fraction}`
      for (const spelling of [tooMany, `"${tooMany}"`]) {
        expect(codesOf(path, spelling)).toEqual(["max_digits"])
      }
    }
  )

  it("is accepted in any spelling", () => {
    for (const spelling of ["216", "216.0", "2.16e2", '"216.0000"', "21600000000000000000e-17"]) {
      expect(codesOf(`${lineItem}.number_of_units`, spelling)).toEqual([])
    }
  })
})

const cents = fc.bigInt({ min: -999_999_999_999n, max: 999_999_999_999n })

/** The decimal in hundredths, as a decimal string. */
const inWords = (hundredths: bigint): string => {
  const digits = String(hundredths < 0n ? -hundredths : hundredths).padStart(3, "0")
  return `${hundredths < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

describe("any decimal of hundredths", () => {
  it("is read, stored and written exactly, as a number and as a string", () => {
    fc.assert(
      fc.property(cents, (hundredths) => {
        const spelling = inWords(hundredths)
        const decode = Schema.decodeUnknownSync(Money)
        for (const sent of [spelling, Number(spelling), Result.getOrThrow(parse(spelling))]) {
          const decimal = decode(sent)
          expect(BigDecimal.scale(decimal, 2).value).toBe(hundredths)
          expect(twoDecimals(decimal)).toBe(spelling)
          expect(Schema.encodeSync(Money)(decimal)).toBe(Number(spelling) + 0)
        }
      }),
      { numRuns: 500 }
    )
  })

  it("has an exact difference to another one in the error detail", () => {
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        const decimal = (value: bigint) => BigDecimal.make(value, 2)
        const [actual, expected, by] = [inWords(a), inWords(b), inWords(a - b)]
        expect(difference("sum", decimal(a), decimal(b))).toEqual({
          detail: `sum: stated ${actual}, calculated ${expected}, difference ${by}.`,
          parameters: { actual, expected, difference: by }
        })
      })
    )
  })
})

describe("rounding to hundredths", () => {
  it.each([
    ["0.005", "0.01"],
    ["-0.005", "-0.01"],
    ["0.0049999999", "0.00"],
    ["-0.0049999999", "0.00"],
    ["2.675", "2.68"],
    ["-2.675", "-2.68"],
    ["1.004999", "1.00"],
    ["9999999999.995", "10000000000.00"]
  ])("of %s gives %s", (decimal, rounded) => {
    expect(twoDecimals(roundHalfUp(BigDecimal.fromStringUnsafe(decimal), 2))).toBe(rounded)
  })

  it("is half away from zero for every decimal", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (value) => {
        const size = value < 0n ? -value : value
        const rounded = (size + 5_000n) / 10_000n
        const expected = value < 0n ? -rounded : rounded
        const decimal = roundHalfUp(BigDecimal.make(value, 6), 2)
        expect(BigDecimal.scale(decimal, 2).value).toBe(expected)
      })
    )
  })
})
