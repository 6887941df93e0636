/** The parameters of errors match their detail, and are documented for the code. */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { registry } from "../src/codes/Code.ts"
import type { FieldError } from "../src/schema/FieldErrors.ts"
import { validateUnknownAccount } from "../src/accounts/AccountValidation.ts"
import { rawNumber } from "../src/schema/RawNumber.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { mutant, mutationsOf } from "../testing/mutants.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import { sampleWith } from "./validationErrors.ts"

const errorsIn = (payload: unknown): ReadonlyArray<FieldError> => {
  const result = validateUnknownAccount(payload, sampleTime)
  return Result.isFailure(result) ? result.failure : []
}

const number = /^-?\d+(\.\d+)?$/
const dayOrInstant = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?$/

/** Text of the payload could hold personal data. */
const isNumeric = (value: unknown): boolean =>
  typeof value === "number" || number.test(String(value)) || dayOrInstant.test(String(value))

const expectDocumented = ({ code, parameters = {} }: FieldError): void => {
  const { allowed: _, ids: __, nearest: ___, reason: ____, ...others } = parameters
  const { expected, ...decimals } = others
  const types = ["text", "number", "integer", "decimal", "boolean", "list", "object"]
  expect(isNumeric(expected ?? 0) || types.includes(String(expected)), code).toBe(true)
  expect(registry[code].parameters, code).toEqual(expect.arrayContaining(Object.keys(parameters)))
  expect(Object.values(decimals).every(isNumeric), code).toBe(true)
}

describe("the parameters of an error", () => {
  it("are those of its code and contain no text of the payload", { timeout: 60_000 }, () => {
    const mutants = accountPayload().chain((payload) => mutant(payload))
    fc.assert(fc.property(mutants, ({ body }) => errorsIn(body).forEach(expectDocumented)))
  })

  it("exist for every code that documents parameters", () => {
    const bodies = [
      ...mutationsOf(domesticPayload()).map(({ make }) => make().body),
      { ...domesticPayload(), unknown_occupier: true, supply_addresses: twoAddresses }
    ]
    const seen = new Map<string, ReadonlyArray<string>>()
    for (const { code, parameters = {} } of bodies.flatMap((body) => errorsIn(body))) {
      seen.set(code, [...new Set([...(seen.get(code) ?? []), ...Object.keys(parameters)])].sort())
    }
    // Of queries, and of a request as a whole: services/post-import/test/openPeriod.test.ts.
    const ofOthers = new Set(["unknown_parameter", "transaction_outside_open_period"])
    for (const [code, { parameters }] of Object.entries(registry)) {
      if (parameters.length === 0 || ofOthers.has(code)) continue
      expect(seen.get(code), code).toEqual([...parameters].sort())
    }
  })

  it.each([
    [
      "account_type",
      "DOMESTICC",
      "invalid_choice",
      { allowed: expect.arrayContaining(["SYSTEM"]) }
    ],
    ["title", "x".repeat(21), "max_length", { limit: 20 }],
    ["account_billing_options.period_start_day", 29, "max_value", { limit: 28 }],
    ["date_of_birth", "1899-12-31", "min_value", { limit: "1900-01-01" }],
    ["transfer_balance", "12345678901", "max_digits", { limit: 10, actual: 11 }],
    ["transfer_balance", "1234567890.123456", "max_digits", { limit: 15, actual: 16 }],
    ["transfer_balance", rawNumber("1e99999999999"), "max_digits", { actual: 100_000_000_000 }],
    ["transfer_balance", "1.005", "max_decimal_places", { limit: 2, actual: 3 }],
    ["billing_nam", "Ada", "unknown_field", { nearest: "billing_name" }],
    ["date_of_birth", "2027-01-01", "max_value", { business_day: "2026-01-15" }],
    ["billing_name", 1, "invalid_type", { expected: "text" }],
    ["unknown_occupier", "no", "invalid_type", { expected: "boolean" }],
    ["transfer_balance", [], "invalid_type", { expected: "decimal" }],
    ["account_billing_options.period_start_day", 1.5, "invalid_type", { expected: "integer" }],
    ["account_billing_options.period_start_month", "1", "invalid_type", { expected: "number" }],
    ["customers", {}, "not_a_list", { expected: "list" }],
    ["billing_address", "a", "not_an_object", { expected: "object" }]
  ])("are exact: %s %j is %s with %j", (field, value, code, parameters) => {
    const path = ["title", "date_of_birth"].includes(field) ? `customers.0.${field}` : field
    const found = errorsIn(sampleWith({ [path]: value })).filter((error) => error.code === code)
    expect(found).toMatchObject([{ attr: path, parameters }])
  })

  it.each([
    ["07700 900123", "no_plus"],
    ["+44 7700 900l23", "foreign_characters"],
    ["+999 123456", "unknown_country"],
    ["+44 77", "too_short"],
    ["+44 7700 900123 456789", "too_long"],
    [`+44${" ".repeat(70)}7700900123`, "too_long"]
  ])("name the reason for which %s is no phone number: %s", (mobile, reason) => {
    const found = errorsIn(sampleWith({ "customers.0.mobile": mobile }))
    expect(found).toMatchObject([{ code: "invalid_phone_number", parameters: { reason } }])
  })

  it.each([
    ["2025-01-31 10:00:00Z", "separator"],
    ["2025-01-31T10:00Z", "seconds"],
    ["2025-01-31T10:00:00", "offset"],
    ["2025-01-31T10:00:00+0100", "offset"],
    ["2025-02-30T10:00:00Z", "no_such_day"],
    ["31.01.2025 10:00", "form"],
    ["2025-01-31T25:00:00Z", "form"],
    ["0001-01-01T00:00:00+01:00", "range"],
    [`2025-01-31T10:00:00.${"0".repeat(60)}Z`, "too_long"]
  ])("name the reason for which %s is no datetime: %s", (created_at, reason) => {
    const found = errorsIn(sampleWith({ notes: [{ body: "a", created_at }] }))
    expect(found).toMatchObject([{ code: "invalid_datetime", parameters: { reason } }])
  })

  it.each([
    ["a\\b.pdf", "backslash"],
    ["C:/b.pdf", "scheme"],
    ["a%2fb.pdf", "escape"],
    ["../b.pdf", "segment"],
    ["a\u0001.pdf", "characters"]
  ])("name the reason for which %j is no document path: %s", (statement_path, reason) => {
    const found = errorsIn(sampleWith({ "statements.0.statement_path": statement_path }))
    expect(found).toMatchObject([{ code: "invalid_document_path", parameters: { reason } }])
  })

  it("name the transactions on the wrong side of the closing date, and the equal addresses", () => {
    const [first, second] = twoAddresses
    const ledger = {
      ledger_code: "L",
      last_statement_closing_date: "2025-06-15",
      current_statement_transactions: ["2025-06-15", "2025-06-16"].map((transaction_date) => ({
        transaction_id: `T ${transaction_date}`,
        transaction_date,
        amount: 1,
        type: "CREDIT"
      }))
    }
    const found = errorsIn(
      sampleWith({ ledgers: [ledger], supply_addresses: [first, second, first] })
    )
    expect(found.map(({ parameters }) => parameters?.ids)).toEqual([["T 2025-06-15"], [0, 2]])
    expect(found[0]?.detail).toContain("T 2025-06-15 is not")
  })

  it("name the repeated codes, ids and keys", () => {
    const [ledger, statement, entry] = [
      { ledger_code: "L" },
      statementOf("S"),
      { key: "k", value: {} }
    ]
    const found = errorsIn(
      sampleWith({
        transfer_balance: 0,
        ledgers: [ledger, ledger],
        statements: [statement, statement],
        metadata: [entry, entry]
      })
    )
    expect(found.map(({ code, parameters }) => [code, parameters?.ids])).toEqual([
      ["duplicate_ledger_entries_found", ["L"]],
      ["duplicate_statement_ids", ["S"]],
      ["metadata_has_duplicate_keys", ["k"]]
    ])
  })

  it.each([
    ["2025-02-30", "no_such_day"],
    ["2025-13-01", "no_such_day"],
    ["31.01.2025", "form"],
    ["2025-01-31T00:00:00Z", "form"]
  ])("name the reason for which %s is no date: %s", (date_of_sale, reason) => {
    expect(errorsIn(sampleWith({ date_of_sale }))).toMatchObject([
      { code: "invalid_date", parameters: { reason } }
    ])
  })

  it("state both sums and their difference as exact text", () => {
    const errors = errorsIn({ ...domesticPayload(), transfer_balance: "1000000000.10" })
    const [error] = errors.filter(({ parameters }) => parameters?.difference !== undefined)
    const { actual, difference = "", expected } = error?.parameters ?? {}
    expect(actual).toBe("1000000000.10")
    expect(error?.detail).toContain(`calculated ${expected}, difference ${difference}`)
    expect(difference).toMatch(/^\d+\.\d{2}$/)
  })

  it("are omitted if there are none", () => {
    const [error] = errorsIn(sampleWith({ billing_email: "a.b.c" }))
    expect(error).not.toHaveProperty("parameters")
  })
})

const statementOf = (statement_id: string) => ({
  statement_id,
  bill_period_from_date: "2025-01-01",
  bill_period_to_date: "2025-01-31"
})
const address = {
  customer_at_supply_address_from_date: "2025-01-01",
  supply_postcode: "1000",
  supply_address1: "Pilevangen"
}
const twoAddresses = [
  { ...address, supply_address1: "Pilevangen 1" },
  { ...address, supply_address1: "Pilevangen 2" }
]
