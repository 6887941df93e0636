/**
 * Line items, tax items and the sums over them.
 * Source: docs/contract/account.md#line-items, docs/contract/account.md#sum-of-a-supply-charge.
 */
import { describe, expect, it } from "@effect/vitest"
import type { Wire } from "../testing/wire.ts"
import { errorsIn, sampleWith } from "./validationErrors.ts"

const at = "ledgers.0.current_statement_transactions.0"
const sum = `${at} ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount`

const item = (net_amount: unknown, fields: Wire = {}): Wire => ({
  start_date: "2025-01-01",
  end_date: "2025-01-31",
  number_of_units: 1,
  net_amount,
  ...fields
})

const tax = (amount: unknown): Wire => ({
  amount,
  tax_type: "VAT",
  value_taxed: 1,
  rate: 0.25,
  unit_type: "PROPORTION"
})

const errorsInCharge = (charge: Wire): ReadonlyArray<string> =>
  errorsIn(
    sampleWith({
      ledgers: [
        {
          ledger_code: "E",
          current_statement_transactions: [
            {
              transaction_id: "T",
              transaction_date: "2025-02-01",
              type: "SUPPLY_CHARGE",
              product_code: "P",
              ...charge
            }
          ]
        }
      ]
    })
  )

const errorsInItem = (net_amount: unknown, fields: Wire): ReadonlyArray<string> =>
  errorsInCharge({ amount: 0, line_items: [item(net_amount, fields)] }).filter(
    (error) => error !== sum
  )

describe("the amount of a supply charge", () => {
  it.each<[string, unknown, ReadonlyArray<unknown>, ReadonlyArray<unknown> | null, boolean]>([
    ["net and tax", 337.5, [270], [67.5], true],
    ["net without tax", 270, [270], null, true],
    ["several of each", "6.00", ["1", 2], ["1.5", "1.50"], true],
    ["a cent off", 337.51, [270], [67.5], false],
    ["nothing but no items", 0, [], [], true],
    ["something of no items", 1, [], [], false],
    ["tax of no line items", 1, [], [1], true],
    ["half a cent up", "0.01", ["0.005"], null, true],
    ["half a cent down", "0.00", ["0.005"], null, false],
    ["less than half a cent down", "0.00", ["0.0049999999"], null, true],
    ["half a cent backwards, away from zero", "-0.01", ["-0.005"], null, true],
    ["half a cent backwards, towards zero", "-0.00", ["-0.005"], null, false],
    ["what only the exact sum rounds to", "0.01", ["0.0025", "0.0025"], null, true],
    ["what the rounded parts would add up to", "0.02", ["0.005", "0.005"], null, false],
    ["net and tax that round only together", "0.01", ["0.003"], ["0.002"], true],
    ["what doubles get wrong", "0.30", [0.1], [0.2], true],
    ["a reversal", -10.5, ["-8.4"], ["-2.1"], true],
    ["the greatest", "9999999999.99", ["9999999999"], ["0.99"], true]
  ])("is compared with the sum of its items: %s", (_name, amount, nets, taxes, holds) => {
    const tax_items = taxes === null ? {} : { tax_items: taxes.map(tax) }
    const line_items = nets.map((net) => item(net))
    expect(errorsInCharge({ amount, line_items, ...tax_items })).toEqual(holds ? [] : [sum])
  })

  it("is not compared without line items", () => {
    expect(errorsInCharge({ amount: 5 })).toEqual([])
    expect(errorsInCharge({ amount: 5, tax_items: [tax(1)] })).toEqual([])
  })
})

describe("the net amount of a line item", () => {
  const broken = [`${at}.line_items.0 incorrect_line_item_net_amount`]

  it.each<[unknown, unknown, unknown, boolean]>([
    [216, 1.25, 270, true],
    [216, 1.25, 271, false],
    [216, 1.25, "270.0000000", true],
    [3, "0.3333333", "1.00", true],
    [3, "0.3333333", "1", true],
    [3, "0.3333333", "0.9999999", true],
    [3, "0.3333333", "0.999999", false],
    [3, "0.3333333", "1.0000000", true],
    [1, "0.005", "0.01", true],
    [1, "0.005", "0.005", true],
    [1, "0.005", 0, false],
    [-1, "0.005", "-0.01", true],
    [1, "-0.005", "-0.01", true],
    [-1, "0.005", 0, false],
    [-1, "-0.005", "0.01", true],
    ["0.0001", "0.0000001", 0, true],
    ["0.0001", "0.0000001", "0.0000000001", false],
    ["12345678.1234", "1.0000001", "12345679.35797", true],
    ["12345678.1234", "1.0000001", "12345679.35798", false]
  ])("for %s units at %s is %s: %s", (number_of_units, price_per_unit, net, holds) => {
    expect(errorsInItem(net, { number_of_units, price_per_unit })).toEqual(holds ? [] : broken)
  })

  it("is not checked without a price", () => {
    expect(errorsInItem(99, { number_of_units: 2 })).toEqual([])
  })
})

describe("a line item", () => {
  it.each<[string, Wire, ReadonlyArray<string>]>([
    ["of one day", { start_date: "2025-01-31" }, []],
    [
      "that ends before it starts",
      { start_date: "2025-02-01" },
      [" start_date_later_than_end_date"]
    ],
    ["with two readings", { units: [1, "2.5"] }, []],
    ["with a counter that went round", { units: [99_999, 3] }, []],
    ["with no readings", { units: [] }, [".units line_item_units_must_be_two_values"]],
    ["with one reading", { units: [1] }, [".units line_item_units_must_be_two_values"]],
    ["with three readings", { units: [1, 2, 3] }, [".units line_item_units_must_be_two_values"]],
    [
      "with a reading that is none",
      { units: [1, "x", null] },
      [".units.1 invalid", ".units.2 null", ".units line_item_units_must_be_two_values"]
    ]
  ])("is validated as one %s", (_name, fields, errors) => {
    expect(errorsInItem(0, fields)).toEqual(errors.map((error) => `${at}.line_items.0${error}`))
  })

  it("requires its amount, as does a tax item", () => {
    const needed = [
      ...["start_date", "end_date", "number_of_units", "net_amount"].map(
        (name) => `line_items.0.${name}`
      ),
      ...["amount", "tax_type", "value_taxed", "rate", "unit_type"].map(
        (name) => `tax_items.0.${name}`
      )
    ]
    expect(errorsInCharge({ amount: 0, line_items: [{}], tax_items: [{}] })).toEqual(
      needed.map((name) => `${at}.${name} required`)
    )
  })
})
