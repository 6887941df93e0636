/**
 * Every kind of field at its bounds, and the stored value.
 * Source: docs/contract/values.md#values, docs/contract/account.md#the-account.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { sampleTime } from "../testing/samples.ts"
import { account, factsAt } from "../src/accounts/AccountValidation.ts"
import { codesAt, errorsIn, sampleWith, storedAt } from "./validationErrors.ts"

/** Path, and the greatest length in code points. */
const optionalTexts: ReadonlyArray<[string, number]> = [
  ["billing_name", 510],
  ["billing_sub_name", 256],
  ["billing_customer_reference", 256],
  ["sales_subchannel", 256],
  ["operations_team_name", 128],
  ["customers.0.given_name", 255],
  ["customers.0.title", 20],
  ["customers.0.salutation", 128],
  ["billing_address.name", 256],
  ["billing_address.organization", 256],
  ["billing_address.street_address", 512],
  ["billing_address.locality", 512],
  ["billing_address.postal_code", 32],
  ["ledgers.0.current_statement_transactions.0.reason", 128],
  ["ledgers.0.current_statement_transactions.0.display_note", 2_000],
  ["ledgers.0.current_statement_transactions.0.note", 2_000],
  ["ledgers.0.current_statement_transactions.0.reference", 512]
]

const neededTexts: ReadonlyArray<[string, number]> = [
  ["import_supplier", 32],
  ["notes.0.body", 10_000],
  ["ledgers.0.ledger_code", 64],
  ["ledgers.0.current_statement_transactions.0.transaction_id", 128],
  ["ledgers.0.current_statement_transactions.1.product_code", 64],
  ["ledgers.0.current_statement_transactions.1.line_items.0.rate_band", 64],
  ["ledgers.0.current_statement_transactions.1.tax_items.0.tax_type", 32],
  ["statements.0.statement_id", 128],
  ["metadata.0.key", 1_024],
  ["supply_addresses.0.supply_address1", 512],
  ["supply_addresses.0.supply_postcode", 10]
]

const texts = [...optionalTexts, ...neededTexts]

describe("a text field", () => {
  it.each(texts)("%s accepts up to %i code points, not UTF-16 units", (path, max) => {
    for (const character of ["x", "é", "漢", "😀"]) {
      expect(storedAt(path, character.repeat(max))).toBe(character.repeat(max))
      expect(codesAt(path, character.repeat(max + 1))).toEqual(["max_length"])
    }
  })

  it.each(texts)("%s is trimmed before it is measured and stored", (path, max) => {
    const text = "a b".padEnd(max, "c")
    expect(storedAt(path, `\t ${text}\u00a0\r\n`)).toBe(text)
    expect(codesAt(path, ` ${text}c `)).toEqual(["max_length"])
  })

  it.each(texts)("%s rejects characters that the database cannot store", (path) => {
    expect(codesAt(path, "a\0")).toEqual(["invalid"])
    expect(codesAt(path, "\ud83da")).toEqual(["invalid"])
    expect(codesAt(path, "\ude00")).toEqual(["invalid"])
    expect(storedAt(path, "e\u0301"), "no normalisation").toBe("e\u0301")
  })

  it.each(optionalTexts)("%s accepts an empty text", (path) => {
    expect(storedAt(path, "")).toBe("")
    expect(storedAt(path, " \n ")).toBe("")
  })

  it.each(neededTexts)("%s rejects a blank text", (path) => {
    for (const blank of ["", " ", "\t\n", "\u00a0\u3000"]) {
      expect(codesAt(path, blank)).toEqual(["blank"])
    }
  })

  it("family_name is measured, and required for customers of a DOMESTIC account", () => {
    expect(storedAt("customers.0.family_name", "😀".repeat(255))).toBe("😀".repeat(255))
    expect(codesAt("customers.0.family_name", "x".repeat(256))).toEqual(["max_length"])
    const nameless = { "customers.0.family_name": "  " }
    expect(errorsIn(sampleWith(nameless))).toEqual(["customers.0 customer_family_name_required"])
    expect(errorsIn(sampleWith({ ...nameless, account_type: "BUSINESS" }))).toEqual([])
  })
})

describe("an external account number", () => {
  const path = "external_account_number"

  it.each(["x".repeat(128), "😀".repeat(128), "NL/0004711", "...", "a b", "%2F", "é", "-"])(
    "accepts any text up to 128 code points",
    (number) => {
      expect(storedAt(path, number)).toBe(number)
    }
  )

  it.each<[string, ReadonlyArray<string>]>([
    ["", ["blank"]],
    [" ", ["blank"]],
    [" a", ["invalid"]],
    ["a\u00a0", ["invalid"]],
    ["a\tb", ["invalid"]],
    ["a\0b", ["invalid"]],
    ["a\u0085b", ["invalid"]],
    ["a\u007fb", ["invalid"]],
    ["a\ud800b", ["invalid"]],
    [".", ["invalid"]],
    ["..", ["invalid"]],
    ["x".repeat(129), ["max_length"]]
  ])("rejects %j", (number, codes) => {
    expect(codesAt(path, number)).toEqual(codes)
  })
})

describe("a code", () => {
  it.each([
    ["account_type", "BUSINESS_VACANT"],
    ["sales_channel", "GIFT_OF_KIT"],
    ["communication_preference", "PRINT"],
    ["document_accessibility", "SPOKEN"],
    ["account_billing_options.period_length", "MONTHLY"],
    ["ledgers.0.current_statement_transactions.0.payment_type", "DCA_COLLECTION"],
    ["ledgers.0.current_statement_transactions.1.tax_items.0.unit_type", "CURRENCY_PER_KWH"]
  ])("is matched exactly: %s", (path, value) => {
    expect(storedAt(path, value)).toBe(value)
    for (const other of [value.toLowerCase(), `${value}S`, "constructor", "__proto__"]) {
      expect(codesAt(path, other)).toEqual(["invalid_choice"])
    }
    expect(codesAt(path, "")).toEqual(["blank"])
  })

  it.each([
    ["sales_channel", "sales_channel", "DOOR"],
    ["payment_type", "ledgers.0.current_statement_transactions.0.payment_type", "SHELLS"],
    ["reason", "ledgers.0.current_statement_transactions.0.reason", "WHY"],
    ["product_code", "ledgers.0.current_statement_transactions.1.product_code", "P-1"],
    ["ledger_code", "ledgers.0.ledger_code", "WATER_LEDGER"]
  ])("of %s can be added by the operator", (list, path, value) => {
    const facts = { ...factsAt(sampleTime), codeLists: { [list]: [value] } }
    const result = account.validate(sampleWith({ [path]: value }), facts)
    const others = Result.isFailure(result)
      ? result.failure.filter(({ attr }) => attr === path)
      : []
    expect(others).toEqual([])
  })

  it.each(["reason", "product_code", "ledger_code"] as const)(
    "of %s can be any text until the operator adds the first one",
    (list) => {
      const named = { ...factsAt(sampleTime), codeLists: { [list]: ["ELSE"] } }
      const result = account.validate(sampleWith({}), named)
      const codes = Result.isFailure(result) ? result.failure.map(({ code }) => code) : []
      expect(new Set(codes)).toEqual(new Set(["invalid_choice"]))
      const empty = { ...factsAt(sampleTime), codeLists: { [list]: [] } }
      expect(Result.isSuccess(account.validate(sampleWith({}), empty))).toBe(true)
    }
  )
})

describe("a date", () => {
  const path = "date_of_sale"

  it.each(["0001-01-01", "2024-02-29", "2000-02-29", "9999-12-31", " 2025-01-31 "])(
    "accepts the day %j",
    (date) => {
      expect(storedAt(path, date)).toBe(date.trim())
    }
  )

  it.each([
    "2025-02-29",
    "1900-02-29",
    "2025-04-31",
    "2025-13-01",
    "2025-00-10",
    "2025-01-00",
    "0000-01-01",
    "2025-1-31",
    "20250131",
    "31-01-2025",
    "2025-01-31T00:00:00Z",
    "2025-W05-5",
    "+2025-01-31",
    "２０２５-01-31",
    "today"
  ])("rejects %j", (date) => {
    expect(codesAt(path, date)).toEqual(["invalid_date"])
  })

  it.each(["2025-01-31\0", "2025-01-31\ud800"])("rejects %j, which is not text", (date) => {
    expect(codesAt(path, date)).toEqual(["invalid"])
  })

  it.each([
    ["1899-12-31", ["min_value"]],
    ["1900-01-01", []],
    ["2026-01-15", []],
    ["2026-01-16", ["max_value"]]
  ])("of birth, %s, is accepted on its bounds", (date, codes) => {
    expect(codesAt("customers.0.date_of_birth", date)).toEqual(codes)
  })
})

describe("a datetime", () => {
  const path = "notes.0.created_at"

  it.each([
    ["2025-01-31T10:00:00Z", "2025-01-31T10:00:00Z"],
    ["2025-01-31T10:00:00+01:00", "2025-01-31T09:00:00Z"],
    ["2025-01-01T00:30:00+01:00", "2024-12-31T23:30:00Z"],
    ["2024-12-31T23:30:00-00:30", "2025-01-01T00:00:00Z"],
    ["2025-01-31T10:00:59.999999Z", "2025-01-31T10:00:59Z"],
    ["2025-01-31T10:00:00.1+05:45", "2025-01-31T04:15:00Z"],
    [`2025-01-31T10:00:00.${"9".repeat(43)}Z`, "2025-01-31T10:00:00Z"],
    ["1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z"],
    [" 2025-01-31T10:00:00Z ", "2025-01-31T10:00:00Z"]
  ])("accepts %j and stores %s", (sent, stored) => {
    expect(storedAt(path, sent)).toBe(stored)
  })

  it.each([
    "2025-01-31T10:00:00",
    "2025-01-31 10:00:00Z",
    "2025-01-31",
    "2025-02-29T10:00:00Z",
    "2025-01-31T24:00:00Z",
    "2025-01-31T10:60:00Z",
    "2025-01-31T10:00:60Z",
    "2025-01-31T10:00Z",
    "2025-01-31T10:00:00+0100",
    "2025-01-31T10:00:00+24:00",
    "2025-01-31T10:00:00.Z",
    "2025-01-31t10:00:00z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "1738317600",
    `2025-01-31T10:00:00.${"0".repeat(44)}Z`
  ])("rejects %j", (sent) => {
    expect(codesAt(path, sent)).toEqual(["invalid_datetime"])
  })
})

describe("an e-mail address", () => {
  const longest = `${"a".repeat(242)}@example.com`

  it.each([
    "a@b.dk",
    "first.last+tag@sub.example.co.uk",
    "x@xn--bcher-kva.example",
    `a@${"b".repeat(63)}.${"c".repeat(63)}`,
    longest
  ])("accepts %s", (email) => {
    expect(storedAt("customers.0.email", ` ${email} `)).toBe(email)
    expect(storedAt("billing_email", email)).toBe(email)
  })

  it.each([
    ["a@bücher.example", "a@xn--bcher-kva.example"],
    ["a@BÜCHER.example", "a@xn--bcher-kva.example"],
    ["a@例え.テスト", "a@xn--r8jz45g.xn--zckzah"]
  ])("stores the domain of %s as %s", (email, stored) => {
    expect(storedAt("billing_email", email)).toBe(stored)
    expect(storedAt("billing_email", stored)).toBe(stored)
  })

  it.each<[string, ReadonlyArray<string>]>([
    ["a.b.c", ["invalid_email"]],
    ["@example.com", ["invalid_email"]],
    ["a@", ["invalid_email"]],
    ["a@localhost", ["invalid_email"]],
    ["a@b@example.com", ["invalid_email"]],
    ["a b@example.com", ["invalid_email"]],
    [`a@${"b".repeat(64)}.com`, ["invalid_email"]],
    [`a@example.${"c".repeat(64)}`, ["invalid_email"]],
    ["a@-example.com", ["invalid_email"]],
    ["a@example..com", ["invalid_email"]],
    ["jürgen@example.com", ["invalid_email"]],
    ["a@bücher/x.example", ["invalid_email"]],
    [`${"a".repeat(230)}@bücher.example.com`, ["invalid_email"]],
    ["", ["blank"]],
    [`a${longest}`, ["max_length"]]
  ])("rejects %s", (email, codes) => {
    expect(codesAt("customers.0.email", email)).toEqual(codes)
    expect(codesAt("billing_email", email)).toEqual(codes)
  })
})

describe("a phone number", () => {
  it.each([
    "+4520314579",
    "+44 20 7946 0958",
    "+1 (212) 555-0100",
    "+49-30-1234567",
    " +4533716420 "
  ])("accepts %s", (number) => {
    expect(storedAt("customers.0.landline", number)).toBe(number.trim())
    expect(storedAt("customers.0.mobile", number)).toBe(number.trim())
  })

  it.each(["12345", "004520314579", "20314579", "+45", "+45203", "+9991234567", "call me", "+"])(
    "rejects %s",
    (number) => {
      expect(codesAt("customers.0.landline", number)).toEqual(["invalid_phone_number"])
      expect(codesAt("customers.0.mobile", number)).toEqual(["invalid_phone_number"])
    }
  )

  it("is reported as blank if it is empty, not as invalid", () => {
    expect(codesAt("customers.0.mobile", "")).toEqual(["blank"])
  })
})
