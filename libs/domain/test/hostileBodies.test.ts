/**
 * Bodies made to keep a service busy: as large as the limit allows, and validated about as fast as
 * any other of that size. A vulnerable validator would take minutes or hours, so the bound is
 * generous.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { parse } from "../src/schema/Json.ts"
import { domesticPayload } from "../testing/samples.ts"
import { put } from "../testing/wire.ts"
import { codesAt, errorsIn } from "./validationErrors.ts"

const bodySize = 10 * 1024 * 1024
const bound = 20_000

const filled = (unit: string): string => unit.repeat(Math.floor(bodySize / unit.length))

describe("a text of ten megabytes", () => {
  it.each([
    ["lists without an end", filled("[")],
    ["objects without an end", filled('{"a":')],
    ["objects in lists without an end", filled('[{"a":')],
    ["a string without an end", `"${filled("a")}`],
    ["a string of escapes", `["${filled('\\"')}"]`],
    ["escapes without an end", `"${filled("\\")}`],
    ["commas", filled(",")],
    ["quotes", filled('"')],
    ["minus signs", filled("-")],
    ["a number of zeros between ones", `[1${filled("0")}1]`],
    ["a fraction of zeros between ones", `[1.${filled("0")}1]`],
    ["a number of dots", `[1${filled(".")}1]`],
    ["an exponent", `[1e${filled("9")}]`],
    ["lists beside each other", `[${filled("[],")}[]]`],
    ["objects beside each other", `[${filled("{},")}{}]`],
    ["keys", `{${Array.from({ length: 600_000 }, (_, index) => `"k${index}":1`).join(",")}}`]
  ])("is parsed or rejected within the time limit: %s", { timeout: bound }, (_name, text) => {
    expect(Result.isResult(parse(text))).toBe(true)
  })
})

describe("a field of ten megabytes", () => {
  const transaction = "ledgers.0.current_statement_transactions.1"
  const units = ["a", " ", "0", ".a", "😀"]

  it.each([
    ["external_account_number"],
    ["account_type"],
    ["billing_email"],
    ["billing_address.country"],
    ["billing_address.delivery_point_identifier"],
    ["billing_name"],
    ["customers.0.landline"],
    ["customers.0.date_of_birth"],
    ["notes.0.created_at"],
    ["statements.0.statement_path"],
    ["transfer_balance"],
    [`${transaction}.amount`],
    [`${transaction}.line_items.0.net_amount`]
  ])("is rejected within the time limit: %s", { timeout: bound * 3 }, (path) => {
    for (const unit of units) {
      const value = filled(unit)
      const result = errorsIn(put(domesticPayload(), path, `1${value}1`))
      expect(result.length, unit).toBeGreaterThan(0)
      expect(
        result.every((error) => error.startsWith(`${path} `)),
        unit
      ).toBe(true)
    }
  })

  it("is rejected quickly as an e-mail address of a million labels", { timeout: bound }, () => {
    expect(codesAt("billing_email", `a@a${filled(".a")}`)).toEqual(["max_length"])
    expect(codesAt("billing_email", `a@a${filled(".a")}!`)).toEqual(["max_length", "invalid_email"])
  })
})
