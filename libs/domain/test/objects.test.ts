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
import { drop, get, put } from "../testing/wire.ts"
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

describe("a boolean field", () => {
  it.each([
    "unknown_occupier",
    "account_billing_options.use_industry_billing",
    "notes.0.is_pinned",
    "customers.0.customer_preferences.opted_into_sms"
  ])("%s accepts true and false only", (path) => {
    for (const like of ["true", "", 0, 1, [], {}]) {
      expect(codesAt(path, like)).toEqual(["invalid_type"])
    }
    expect(codesAt(path, null)).toEqual(["null"])
  })

  it("is_user_psr_consent_obtained accepts null", () => {
    const path = "customers.0.customer_preferences.is_user_psr_consent_obtained"
    for (const value of [null, true, false]) expect(storedAt(path, value)).toBe(value)
    expect(codesAt(path, "no")).toEqual(["invalid_type"])
  })
})

describe("an integer field", () => {
  it.each<[string, unknown, ReadonlyArray<string>]>([
    ["period_start_day", 1, []],
    ["period_start_day", 28, []],
    ["period_start_day", 0, ["min_value"]],
    ["period_start_day", -1, ["min_value"]],
    ["period_start_day", 29, ["max_value"]],
    ["period_start_day", 1e21, ["max_value"]],
    ["period_start_day", 1.5, ["invalid_type"]],
    ["period_start_day", "15", ["invalid_type"]],
    ["period_start_day", true, ["invalid_type"]],
    ["period_start_day", null, ["null"]],
    ["period_start_month", 1, []],
    ["period_start_month", 12, []],
    ["period_start_month", null, []],
    ["period_start_month", 0, ["min_value"]],
    ["period_start_month", 13, ["max_value"]],
    ["period_start_month", 1.5, ["invalid_type"]],
    ["period_start_month", "1", ["invalid_type"]]
  ])("%s is validated as an integer: %j", (field, value, codes) => {
    expect(codesAt(`account_billing_options.${field}`, value)).toEqual(codes)
  })

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

  it("is required in an address", () => {
    expect(errorsIn(sampleWith({ billing_address: {} }))).toEqual([
      "billing_address.country required"
    ])
    expect(errorsIn(drop(domesticPayload(), "billing_address"))).toEqual([])
    expect(codesAt(path, "")).toEqual(["blank"])
  })
})

describe("a delivery point identifier", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["DK80000142A", []],
    ["", []],
    ["DK80000142AB", ["invalid_delivery_point_identifier"]],
    ["dk8000", ["invalid_delivery_point_identifier"]],
    ["DK-8000", ["invalid_delivery_point_identifier"]],
    ["DK 8000", ["invalid_delivery_point_identifier"]],
    ["ÆØÅ", ["invalid_delivery_point_identifier"]],
    ["８０００", ["invalid_delivery_point_identifier"]]
  ])("accepts up to 11 capital letters and digits: %j", (identifier, codes) => {
    expect(codesAt("billing_address.delivery_point_identifier", identifier)).toEqual(codes)
  })
})

describe("a free object", () => {
  const free = {
    "": null,
    "a.b": [1, [], {}, "", "é😀"],
    constructor: { toString: true },
    deep: { er: { and: { deeper: [{}] } } }
  }

  it("is stored as it was sent", () => {
    expect(storedAt("metadata.0.value", free)).toEqual(free)
    const street = { street_address: undefined, structured_street_address: free }
    const address = JSON.parse(
      JSON.stringify({ ...domesticPayload().billing_address, ...street })
    ) as unknown
    expect(storedAt("billing_address", address)).toMatchObject({ structured_street_address: free })
  })

  it("stores inherited property names as keys, and numbers that no double holds", () => {
    const value = '{"__proto__":{"x":1},"n":12345678901234567890.123456789,"e":1e400,"z":0.10}'
    const text = JSON.stringify(sampleWith({ "metadata.0.value": "HERE" }))
    const payload = Result.getOrThrow(parse(text.replace('"HERE"', value)))
    const stored = get(accept(payload), "metadata.0.value")
    expect(Object.keys(stored as object)).toEqual(["__proto__", "n", "e", "z"])
    expect(JSON.stringify(stored)).toBe(value.replace("0.10", "0.1"))
    expect(isRawNumber(get(stored, "e"))).toBe(true)
  })

  it.each<[unknown, string]>([
    [null, "null"],
    ["{}", "not_an_object"],
    [[], "not_an_object"],
    [5, "not_an_object"],
    [false, "not_an_object"]
  ])("rejects %j", (value, code) => {
    expect(codesAt("metadata.0.value", value)).toEqual([code])
    const nullable = value === null ? [] : [code]
    expect(codesAt("billing_address.structured_street_address", value)).toEqual(nullable)
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

describe("a list", () => {
  const lists = [
    "customers",
    "notes",
    "notes.0.document_paths",
    "ledgers",
    "ledgers.0.current_statement_transactions",
    "ledgers.0.historical_statement_transactions",
    `${transaction}.line_items`,
    `${transaction}.tax_items`,
    `${transaction}.line_items.0.units`,
    "statements",
    "metadata",
    "supply_addresses"
  ]

  it.each(lists)("%s rejects more elements than the limit, without validating them", (path) => {
    const element = (get(domesticPayload(), path) as ReadonlyArray<unknown>)[0]
    const tooLong = new Array<unknown>(listElements + 1).fill(element)
    expect(codesAt(path, tooLong)).toEqual(["max_length"])
    expect(codesAt(path, tooLong.fill(null, 1))).toEqual(["max_length"])
    const longest = codesAt(path, tooLong.slice(1).fill(element))
    expect(longest).not.toContain("max_length")
  })

  it.each(lists)("%s must be a list", (path) => {
    for (const other of [{}, "x", 5, true]) expect(codesAt(path, other)).toEqual(["not_a_list"])
    expect(codesAt(path, null)).toEqual(["null"])
    expect(codesAt(`${path}.0`, null)).toEqual(["null"])
  })

  it.each(
    lists.filter((path) => !path.includes("line_items.0") && path !== "notes.0.document_paths")
  )("%s must contain objects", (path) => {
    for (const other of [[], "x", 5]) expect(codesAt(`${path}.0`, other)).toEqual(["not_an_object"])
  })

  it("is reported together with other errors", () => {
    const payload = sampleWith({
      billing_email: "x",
      notes: new Array<unknown>(listElements + 1).fill({}),
      transfer_balance: 51
    })
    expect(errorsIn(payload)).toEqual([
      "billing_email invalid_email",
      "notes max_length",
      "non_field_errors ledger_balances_not_equal_to_transfer_balance"
    ])
  })

  it("may be empty inside an account, except for the customers", () => {
    const empty = sampleWith({
      notes: [],
      ledgers: [],
      statements: [],
      metadata: [],
      supply_addresses: []
    })
    expect(errorsIn(empty)).toEqual([])
    expect(accept(empty)).toMatchObject({ notes: [], ledgers: [], metadata: [] })
    expect(codesAt("customers", [])).toEqual(["required"])
    expect(errorsIn(drop(domesticPayload(), "customers"))).toEqual(["customers required"])
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

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "length", "0", "", "a.b"])(
    "%j is rejected at every depth",
    (name) => {
      for (const parent of ["", "customers.0", "billing_address", `${transaction}.line_items.0`]) {
        const segments =
          parent === ""
            ? []
            : parent.split(".").map((part) => (/^\d$/.test(part) ? Number(part) : part))
        const errors = errorsIn(put(domesticPayload(), [...segments, name], { a: 1 }))
        expect(errors).toEqual([`${[...segments, name].join(".")} unknown_field`])
      }
    }
  )

  it("is rejected for a name of any length", () => {
    const name = "customer".repeat(1_000)
    expect(errorsIn(put(domesticPayload(), [name], 1))).toEqual([`${name} unknown_field`])
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
