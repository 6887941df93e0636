/**
 * Every kind of field at its bounds, and the stored value.
 * Source: docs/contract/values.md#values, docs/contract/account.md#the-account.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { sampleTime } from "../testing/samples.ts"
import { account, factsAt } from "../src/accounts/AccountValidation.ts"
import { codesAt, sampleWith, storedAt } from "./validationErrors.ts"

describe("a text field", () => {
  it.each([
    ["billing_name", 510],
    ["ledgers.0.ledger_code", 64]
  ])("%s is trimmed before it is measured in code points and stored", (path, max) => {
    for (const character of ["x", "é", "😀"]) {
      const text = character.repeat(max)
      expect(storedAt(path, `\t ${text}\u00a0\r\n`)).toBe(text)
      expect(codesAt(path, ` ${text}c `)).toEqual(["max_length"])
    }
    expect(storedAt(path, "e\u0301"), "no normalisation").toBe("e\u0301")
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
})
