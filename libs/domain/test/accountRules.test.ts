/**
 * Rules between the fields of an account, at their bounds.
 * Source: docs/contract/account.md#the-account.
 */
import { describe, expect, it } from "@effect/vitest"
import { type Wire } from "../testing/wire.ts"
import { errorsIn, sampleWith } from "./validationErrors.ts"

type Row = [string, Wire, ReadonlyArray<string>]

/** The minimal payload with these fields. */
const least = (values: Wire): Wire => ({
  import_supplier: "DEMO_ENERGY",
  external_account_number: "1",
  ...values
})

const address = (line: string, postcode = "8000"): Wire => ({
  supply_address1: line,
  supply_postcode: postcode,
  customer_at_supply_address_from_date: "2020-01-01"
})

describe("customers", () => {
  const customer = { family_name: "Holm" }

  it.each([
    ["DOMESTIC", true],
    ["BUSINESS", true],
    ["MANAGED", true],
    ["PORTFOLIO_LEAD", true],
    ["DOMESTIC_THIRD_PARTY_BILLED", true],
    ["BUSINESS_THIRD_PARTY_BILLED", true],
    ["SYSTEM", false],
    ["DOMESTIC_VACANT", false],
    ["BUSINESS_VACANT", false],
    ["DOMESTIC_OCCUPIER", false],
    ["BUSINESS_OCCUPIER", false]
  ])("on an account of type %s are required: %s", (account_type, needed) => {
    const errors = needed ? ["customers required"] : []
    expect(errorsIn(least({ account_type }))).toEqual(errors)
    expect(errorsIn(least({ account_type, customers: [] }))).toEqual(errors)
    expect(errorsIn(least({ account_type, unknown_occupier: false }))).toEqual(errors)
    expect(errorsIn(least({ account_type, unknown_occupier: true }))).toEqual([])
    expect(errorsIn(least({ account_type, customers: [customer] }))).toEqual([])
    const nameless =
      account_type === "DOMESTIC" ? ["customers.1 customer_family_name_required"] : []
    expect(errorsIn(least({ account_type, customers: [customer, {}] }))).toEqual(nameless)
  })
})

describe("supply addresses", () => {
  const twice = ["supply_addresses duplicate_supply_addresses_found"]

  it.each<[string, Wire, Wire, ReadonlyArray<string>]>([
    ["are the same", address("A 1"), address("A 1"), twice],
    ["are the same once trimmed", address("A 1"), address(" A 1 ", " 8000"), twice],
    ["differ in line", address("A 1"), address("A 2"), []],
    ["differ in postcode", address("A 1"), address("A 1", "8001"), []],
    ["differ in case", address("A 1"), address("a 1"), []],
    ["differ in where the line ends", address("A", "1 8000"), address("A 1", "8000"), []]
  ])(
    "are duplicates only if all of line and postcode are equal: %s",
    (_name, one, other, errors) => {
      expect(errorsIn(sampleWith({ supply_addresses: [one, other] }))).toEqual(errors)
    }
  )
})

describe("the billing options", () => {
  const at = "account_billing_options"
  const needed = [`${at} ${at}_period_data_required`]
  const industry = [`${at} ${at}_industry_billing_with_period_data`]
  const month = [`${at} ${at}_period_start_month_required`]
  const use_industry_billing = true

  it.each<Row>([
    ["nothing", {}, needed],
    ["industry billing off and nothing else", { use_industry_billing: false }, needed],
    ["a length without a day", { period_length: "MONTHLY" }, needed],
    ["a day without a length", { period_start_day: 1 }, needed],
    ["a month alone", { period_start_month: 1 }, needed],
    ["a month's length and day", { period_length: "MONTHLY", period_start_day: 1 }, []],
    [
      "a month's length, day and null month",
      { period_length: "MONTHLY", period_start_day: 1, period_start_month: null },
      []
    ],
    [
      "a month's length, day and month",
      { period_length: "MONTHLY", period_start_day: 1, period_start_month: 12 },
      []
    ],
    ["a quarter without month", { period_length: "QUARTERLY", period_start_day: 1 }, month],
    [
      "a quarter with null month",
      { period_length: "QUARTERLY", period_start_day: 1, period_start_month: null },
      month
    ],
    [
      "a quarter with month",
      { period_length: "QUARTERLY", period_start_day: 1, period_start_month: 12 },
      []
    ],
    ["a quarter without day and month", { period_length: "QUARTERLY" }, [...needed, ...month]],
    ["industry billing alone", { use_industry_billing }, []],
    ["industry billing and null month", { use_industry_billing, period_start_month: null }, []],
    ["industry billing and month", { use_industry_billing, period_start_month: 1 }, industry],
    ["industry billing and day", { use_industry_billing, period_start_day: 1 }, industry],
    ["industry billing and quarter", { use_industry_billing, period_length: "QUARTERLY" }, industry]
  ])("are checked with %s", (_name, account_billing_options, errors) => {
    expect(errorsIn(sampleWith({ account_billing_options }))).toEqual(errors)
  })
})

describe("metadata", () => {
  const entry = (key: string): Wire => ({ key, value: {} })

  it.each<[string, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["two keys", ["a", "b"], []],
    ["a key twice", ["a", "b", "a"], ["metadata metadata_has_duplicate_keys"]],
    ["a key twice once trimmed", ["a", " a"], ["metadata metadata_has_duplicate_keys"]],
    ["two cases of a key", ["a", "A"], []],
    ["keys that every object inherits", ["__proto__", "constructor", "toString"], []],
    ["one of those twice", ["__proto__", "__proto__"], ["metadata metadata_has_duplicate_keys"]]
  ])("is checked for keys with %s", (_name, keys, errors) => {
    expect(errorsIn(sampleWith({ metadata: keys.map(entry) }))).toEqual(errors)
  })
})

describe("a note", () => {
  const empty = ["notes.0 note_body_or_document_path_not_found"]
  const early = ["notes.0 note_unpin_at_earlier_than_creation_date"]
  const body = "Hello"

  it.each<Row>([
    ["without anything", {}, empty],
    ["with no document paths", { document_paths: [] }, empty],
    ["with a body and no document paths", { body, document_paths: [] }, []],
    ["with a document path", { document_paths: [{ document_path: "a.pdf" }] }, []],
    ["with a blank body", { body: " " }, ["notes.0.body blank"]],
    [
      "unpinned as it is created",
      { body, created_at: "2025-01-01T00:00:00Z", unpin_at: "2025-01-01T01:00:00+01:00" },
      []
    ],
    [
      "unpinned a second before",
      { body, created_at: "2025-01-01T00:00:00Z", unpin_at: "2024-12-31T23:59:59Z" },
      early
    ],
    ["unpinned now", { body, unpin_at: "2026-01-15T12:00:00Z" }, []],
    ["unpinned a second ago", { body, unpin_at: "2026-01-15T11:59:59Z" }, early],
    ["unpinned long ago and empty", { unpin_at: "2020-01-01T00:00:00Z" }, [...empty, ...early]],
    ["created in the future", { body, created_at: "2030-01-01T00:00:00Z" }, []]
  ])("is checked against its own fields: %s", (_name, note, errors) => {
    expect(errorsIn(sampleWith({ notes: [note] }))).toEqual(errors)
  })
})
