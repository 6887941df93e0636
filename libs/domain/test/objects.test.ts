/**
 * Booleans, integers, lists, objects and paths, and undocumented fields.
 * Source: docs/contract/values.md#types-and-null, docs/contract/account.md#the-account.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { validateUnknownAccount } from "../src/accounts/AccountValidation.ts"
import { listElements, parse } from "../src/schema/Json.ts"
import { isRawNumber } from "../src/schema/RawNumber.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import { get, put } from "../testing/wire.ts"
import {
  accept,
  codesAt,
  errorsIn,
  errorsInProcess,
  errorsInText,
  sampleWith,
  storedAt
} from "./validationErrors.ts"

const transaction = "ledgers.0.current_statement_transactions.1"

describe("an integer field", () => {
  it("accepts a fraction of zero and an exponent", () => {
    const text = JSON.stringify(domesticPayload())
    for (const spelling of ["20.0", "2e1", "2.0E+1", "200e-1", "20.000000000000000000"]) {
      expect(
        errorsInText(text.replace('"period_start_day":20', `"period_start_day":${spelling}`))
      ).toEqual([])
    }
  })
})

describe("a country", () => {
  const path = "billing_address.country"

  it.each([
    ["DK", "DK"],
    ["dk", "DK"],
    [" gB ", "GB"],
    ["ax", "AX"]
  ])("accepts %j and stores %s", (sent, stored) => {
    expect(storedAt(path, sent)).toBe(stored)
  })

  it.each(["Denmark", "DNK", "D", "XX", "UK", "EU", "ß", "ﬁ", "fı", "ſe", "D\u212a", "toString"])(
    "rejects %j",
    (code) => {
      expect(codesAt(path, code)).toEqual(["invalid_country_code"])
    }
  )
})

describe("a free object", () => {
  it("stores inherited property names as keys, and numbers that no double holds", () => {
    const value = '{"__proto__":{"x":1},"n":12345678901234567890.123456789,"e":1e400,"z":0.10}'
    const text = JSON.stringify(sampleWith({ "metadata.0.value": "HERE" }))
    const payload = Result.getOrThrow(parse(text.replace('"HERE"', value)))
    const stored = get(accept(payload), "metadata.0.value")
    expect(Object.keys(stored as object)).toEqual(["__proto__", "n", "e", "z"])
    expect(JSON.stringify(stored)).toBe(value.replace("0.10", "0.1"))
    expect(isRawNumber(get(stored, "e"))).toBe(true)
  })

  it("rejects text that the database cannot store, also in keys", () => {
    const at = (value: unknown) => errorsIn(sampleWith({ "metadata.1.value": value }))
    expect(at({ a: ["x", "\ud800"] })).toEqual(["metadata.1.value.a.1 invalid"])
    expect(at({ a: { "b\0": 1, "c\0": 2 } })).toEqual(["metadata.1.value.a invalid"])
    expect(at({ "\udc00": 1 })).toEqual(["metadata.1.value invalid"])
  })

  it("rejects lists over the maximum length", () => {
    const listOf = (length: number) => Array.from({ length }, () => 0)
    const at = (value: unknown) => errorsIn(sampleWith({ "metadata.1.value": value }))
    expect(at({ a: [listOf(listElements)] })).toEqual([])
    expect(at({ a: [1, listOf(listElements + 1)], b: "\0" })).toEqual([
      "metadata.1.value.a.1 max_length",
      "metadata.1.value.b invalid"
    ])
  })
})

describe("a document path", () => {
  const paths = ["notes.0.document_paths.0.document_path", "statements.0.statement_path"]

  it.each([
    "a.pdf",
    "/a.pdf",
    "a/b c/d.pdf",
    "a/..b/c..d/...",
    "é/漢字/😀.pdf",
    "100%.pdf",
    "a%20b",
    "a_b:c/d",
    " a.pdf "
  ])("accepts %j", (path) => {
    for (const at of paths) expect(storedAt(at, path)).toBe(path.trim())
  })

  it.each([
    "..",
    "../a",
    "a/../b",
    "./a",
    "a/.",
    "a//b",
    "//a",
    "/",
    "a/",
    "a\\b",
    "a\0b",
    "a\tb",
    "a\u007fb",
    "a\u0085b",
    "\ud800",
    "C:/a",
    "c:a",
    "s3://bucket/a",
    "file:a",
    "a/%2e%2e/b",
    "a%2Fb",
    "a%5cb",
    "a%00"
  ])("rejects %j", (path) => {
    for (const at of paths) expect(codesAt(at, path)).toEqual(["invalid_document_path"])
  })

  it("has at most 1,024 code points", () => {
    for (const at of paths) {
      expect(storedAt(at, "😀".repeat(1_024))).toBe("😀".repeat(1_024))
      expect(codesAt(at, "😀".repeat(1_025))).toEqual(["max_length"])
      expect(codesAt(at, " ")).toEqual(["blank"])
    }
  })
})

describe("an undocumented field", () => {
  const detailOf = (path: string, value: unknown): ReadonlyArray<string> => {
    const result = validateUnknownAccount(put(domesticPayload(), path, value), sampleTime)
    return Result.isSuccess(result)
      ? []
      : result.failure.map((error) => `${error.attr} ${error.code}: ${error.detail}`)
  }

  it.each([
    ["billing_mail", "billing_email"],
    ["Account_Type", "account_type"],
    ["customers.1.given_nam", "given_name"],
    ["customers.0.customer_preferences.opted_into_offer", "opted_into_offers"],
    ["billing_address.post_code", "postal_code"],
    ["account_billing_options.start_day", "period_start_day"],
    ["notes.0.document_paths.0.path", "document_path"],
    [`${transaction}.line_items.0.nett_amount`, "net_amount"],
    [`${transaction}.tax_items.0.ratee`, "rate"],
    ["statements.1.document_path", "statement_path"],
    ["metadata.0.values", "value"],
    ["supply_addresses.0.supply_address2", "supply_address1"]
  ])("%s is rejected, and the nearest documented name is suggested", (path, nearest) => {
    for (const value of [1, null, {}, "\0"]) {
      expect(detailOf(path, value)).toEqual([
        `${path} unknown_field: Not a documented field; the nearest is ${nearest}.`
      ])
    }
  })

  it("is rejected in task_params", () => {
    const { external_account_number, import_supplier } = domesticPayload()
    const payload = { import_supplier, external_account_number, operations_team_name: "T" }
    expect(errorsInProcess({ payload, task_params: {} })).toEqual([])
    expect(errorsInProcess({ payload })).toEqual([])
    expect(errorsInProcess({ payload, task_params: { x: 1, toString: "\0" } })).toEqual([
      "task_params.x unknown_field",
      "task_params.toString unknown_field"
    ])
    expect(errorsInProcess({ payload, task_params: null })).toEqual(["task_params null"])
    expect(errorsInProcess({ payload, task_params: [] })).toEqual(["task_params not_an_object"])
  })
})

describe("the body of a process request", () => {
  const payload = {
    import_supplier: "DEMO_ENERGY",
    external_account_number: "NL-0004711",
    operations_team_name: "Migration Team"
  }

  it.each<[string, unknown, ReadonlyArray<string>]>([
    ["dry_run", true, []],
    ["dry_run", null, ["payload.dry_run null"]],
    ["dry_run", "true", ["payload.dry_run invalid_type"]],
    ["operations_team_name", "T".repeat(128), []],
    ["operations_team_name", "T".repeat(129), ["payload.operations_team_name max_length"]],
    ["operations_team_name", " ", ["payload.operations_team_name blank"]],
    ["external_account_number", "..", ["payload.external_account_number invalid"]],
    ["customers", [], ["payload.customers unknown_field"]]
  ])("is validated in %s: %j", (field, value, errors) => {
    const inside = errors.map((error) => error.replace("payload.", ""))
    expect(errorsInProcess({ payload: { ...payload, [field]: value } })).toEqual(inside)
  })

  it("requires supplier, number and team", () => {
    expect(errorsInProcess({ payload: {} })).toEqual([
      "import_supplier required",
      "external_account_number required",
      "operations_team_name required"
    ])
  })
})
