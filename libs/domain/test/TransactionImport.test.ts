/**
 * The decision about the transactions of one request: the open period, moved dates, known ids, and
 * the balance.
 * Source: docs/contract/post-import.md#create-transactions,
 * docs/contract/post-import.md#open-statement-period.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { readableOf, sizeOf } from "../src/accounts/AccountChange.ts"
import { twoDecimals } from "../src/schema/Decimal.ts"
import { type Transaction } from "../src/accounts/Transaction.ts"
import {
  decideTransactions,
  openPeriod,
  type TransactionImportOptions,
  transactionLookup
} from "../src/additions/TransactionImport.ts"
import type { Wire } from "../testing/wire.ts"
import {
  accountWith,
  afterChange,
  dayOf,
  instantOf,
  moneyOf,
  transactionOf
} from "./accountModel.ts"

const options: TransactionImportOptions = {
  checkPreviouslyAdded: true,
  forceAddToCurrentStatement: true,
  onDifference: "keep" as const,
  today: dayOf("2026-01-15"),
  now: instantOf("2026-01-15T12:00:00Z")
}
const unforced = { ...options, forceAddToCurrentStatement: false }
const unchecked = { ...options, checkPreviouslyAdded: false }

const credit = (id: string, date = "2026-01-10", values: object = {}): Transaction =>
  transactionOf({
    transaction_id: id,
    transaction_date: date,
    amount: "10.00",
    type: "CREDIT",
    ...values
  })

/** The transactions on the account after a request, as JSON. */
const stored = (
  sent: ReadonlyArray<Transaction>,
  account = accountWith(),
  parameters = options
) => {
  const { answer, change } = Result.getOrThrow(decideTransactions(sent, parameters)(account))
  return { answer, change, account: afterChange(account, change) }
}

const refusal = (
  sent: ReadonlyArray<Transaction>,
  account = accountWith(),
  parameters = unforced
) => {
  const decided = decideTransactions(sent, parameters)(account)
  if (Result.isSuccess(decided)) throw new Error("Nothing was refused")
  const { code, detail, transaction } = decided.failure
  return { code, detail, id: transaction.transaction_id }
}

describe("the open statement period", () => {
  it.each([
    [null, "2026-01-15", null, "2026-01-15"],
    ["2025-12-31", "2026-01-15", "2026-01-01", "2026-01-15"],
    ["2026-01-14", "2026-01-15", "2026-01-15", "2026-01-15"],
    ["2026-01-15", "2026-01-15", "2026-01-16", "2026-01-15"],
    ["2024-02-28", "2024-03-10", "2024-02-29", "2024-03-10"],
    ["2024-02-29", "2024-03-10", "2024-03-01", "2024-03-10"],
    ["2025-02-28", "2025-03-10", "2025-03-01", "2025-03-10"],
    ["1900-02-28", "2025-03-10", "1900-03-01", "2025-03-10"],
    ["2000-02-28", "2025-03-10", "2000-02-29", "2025-03-10"]
  ])("after %s, on %s, goes from %s to %s", (closed, today, from, to) => {
    const period = openPeriod(closed === null ? null : dayOf(closed), dayOf(today))
    expect(period).toEqual({ from, to })
  })

  /** Closing date, date sent, date stored. A changed date is refused without the force flag. */
  const dates: ReadonlyArray<[string | null, string, string]> = [
    [null, "0001-01-01", "0001-01-01"],
    [null, "2026-01-15", "2026-01-15"],
    [null, "2026-01-16", "2026-01-15"],
    [null, "9999-12-31", "2026-01-15"],
    ["2025-12-31", "2026-01-01", "2026-01-01"],
    ["2025-12-31", "2025-12-31", "2026-01-01"],
    ["2025-12-31", "1999-05-05", "2026-01-01"],
    ["2025-12-31", "2026-01-15", "2026-01-15"],
    ["2025-12-31", "2026-01-16", "2026-01-15"],
    ["2026-01-14", "2026-01-14", "2026-01-15"],
    ["2026-01-14", "2026-01-15", "2026-01-15"],
    ["2026-01-14", "2026-01-16", "2026-01-15"],
    ["2026-01-15", "2026-01-14", "2026-01-15"],
    ["2026-01-15", "2026-01-16", "2026-01-15"],
    ["2024-02-28", "2024-02-28", "2024-02-29"]
  ]

  const closedOn = (closed: string | null) =>
    accountWith({ lastClosingDate: closed === null ? null : dayOf(closed) })

  it.each(dates)("after %s, moves a transaction dated %s to the date %s", (closed, sent, added) => {
    const { change } = stored([credit("t1", sent)], closedOn(closed))
    expect(change.transactions.map((each) => [each.transaction.transaction_date, each.movedFrom]))
      // If the date was moved, the original date is kept.
      .toEqual([[added, sent === added ? null : sent]])
    expect(change.notes).toHaveLength(sent === added ? 0 : 1)
  })

  it.each(dates)(
    "after %s, refuses a transaction dated %s that may not be moved",
    (closed, sent, added) => {
      const decided = decideTransactions([credit("t1", sent)], unforced)(closedOn(closed))
      expect(Result.isSuccess(decided)).toBe(sent === added)
      if (Result.isFailure(decided)) {
        expect(decided.failure.code).toBe("transaction_outside_open_period")
        expect(decided.failure.detail).toContain(sent)
      }
    }
  )

  it("if empty, accepts a transaction of today only with the force flag, and unmoved", () => {
    const account = closedOn("2026-01-15")
    const today = credit("t1", "2026-01-15")
    const { change } = stored([today], account)
    expect(change.transactions).toEqual([{ transaction: today, movedFrom: null }])
    expect(change.notes).toEqual([])
    expect(refusal([today], account)).toMatchObject({ code: "transaction_outside_open_period" })
  })
})

describe("a moved date", () => {
  const sentence = "Moved into the open statement period; originally dated 2026-02-01."

  it.each([
    [{}, sentence],
    [{ display_note: "" }, sentence],
    [{ display_note: "Goodwill" }, `Goodwill ${sentence}`],
    [{ display_note: "x".repeat(2_000) }, `${"x".repeat(2_000)} ${sentence}`]
  ])("is appended to the text of the display note: %#", (values, note) => {
    const { answer } = stored([credit("t1", "2026-02-01", values)])
    expect(answer.map(({ transaction }) => transaction.display_note)).toEqual([note])
  })

  it("leaves every other field of the transaction unchanged", () => {
    const sent = credit("t1", "2026-02-01", { note: "internal", reason: "GOODWILL" })
    const [added] = stored([sent]).answer
    expect(added?.transaction).toEqual({
      ...sent,
      transaction_date: "2026-01-15",
      display_note: sentence
    })
  })

  it("appears in one pinned note for each request, which lists only the moved transactions", () => {
    const { change } = stored([
      credit("t1", "2026-02-01"),
      credit("t2", "2026-01-10"),
      credit("t3", "2026-03-01")
    ])
    expect(change.notes).toHaveLength(1)
    expect(change.notes[0]).toMatchObject({ is_pinned: true, created_at: options.now })
    const body = change.notes[0]?.body ?? ""
    expect(body.split("\n").slice(1)).toEqual([
      "t1: 2026-02-01 to 2026-01-15",
      "t3: 2026-03-01 to 2026-01-15"
    ])
  })

  it("of a transaction that exists already is neither reported nor noted", () => {
    const sent = [credit("t1", "2026-02-01")]
    const first = stored(sent)
    const { answer, change } = stored(sent, first.account)
    expect(change.notes).toEqual([])
    const transaction = first.answer[0]?.transaction
    expect(answer).toEqual([{ status: "TRANSACTION_ALREADY_EXISTS", transaction, sent: sent[0] }])
  })
})

describe("a transaction id that was added before", () => {
  const there = credit("t1", "2026-01-02", { amount: "7.77", note: "as stored" })
  const account = accountWith({
    balance: moneyOf("7.77"),
    transactions: new Map([[there.transaction_id, there]])
  })

  it("is skipped, and the response has the stored transaction", () => {
    const { answer, change } = stored([credit("t0"), credit("t1"), credit("t2")], account)
    expect(answer.map(({ status }) => status)).toEqual([
      "TRANSACTION_ADDED_TO_ACCOUNT",
      "TRANSACTION_ALREADY_EXISTS",
      "TRANSACTION_ADDED_TO_ACCOUNT"
    ])
    expect(answer[1]).toEqual({
      status: "TRANSACTION_ALREADY_EXISTS",
      transaction: there,
      sent: credit("t1"),
      differs: true
    })
    expect(change.transactions.map(({ transaction }) => transaction.transaction_id)).toEqual([
      "t0",
      "t2"
    ])
    expect(twoDecimals(change.balance)).toBe("27.77")
  })

  const existing = (sent: Transaction, of: Transaction) => {
    const { answer } = stored([sent], accountWith({ transactions: new Map([["t1" as never, of]]) }))
    return answer.map(({ differs = false, status }) => [status, differs])
  }
  const same = [["TRANSACTION_ALREADY_EXISTS", false]]
  const other = [["TRANSACTION_ALREADY_EXISTS", true]]

  it("differs if any field has another value, is missing or was not sent before", () => {
    expect(existing(there, there)).toEqual(same)
    expect(
      existing(credit("t1", "2026-01-02", { amount: "7.770", note: "as stored" }), there)
    ).toEqual(same)
    for (const fields of [
      { amount: "7.78", note: "as stored" },
      { amount: "7.77", note: "other" },
      { amount: "7.77" },
      { amount: "7.77", note: "as stored", reason: "GOODWILL" }
    ]) {
      expect(existing(credit("t1", "2026-01-02", fields), there)).toEqual(other)
    }
    expect(
      existing(credit("t1", "2026-01-03", { amount: "7.77", note: "as stored" }), there)
    ).toEqual(other)
  })

  it("fails the request if it differs and the request asks for that", () => {
    const failing = { ...options, onDifference: "fail" as const }
    const sent = [credit("t0"), credit("t1")]
    const decided = decideTransactions(sent, failing)(account)
    const refused = { code: "transaction_differs", transaction: sent[1] }
    expect(Result.isFailure(decided) && decided.failure).toMatchObject(refused)
  })

  it("does not differ from the stored one if only its date was moved", () => {
    const sent = credit("t1", "2026-02-01", { display_note: "Refund." })
    const first = stored([sent])
    expect(first.answer[0]?.isMoved).toBe(true)
    const moved = first.answer[0]?.transaction as Transaction
    expect(existing(sent, moved)).toEqual(same)
    expect(existing(moved, moved)).toEqual(same)
    expect(existing({ ...sent, display_note: "Other." }, moved)).toEqual(other)
  })

  it("is compared with its items", () => {
    const item = {
      start_date: "2026-01-01",
      end_date: "2026-01-31",
      number_of_units: "10",
      net_amount: "5.00"
    }
    const charge = (...line_items: ReadonlyArray<Wire>) =>
      credit("t1", "2026-01-02", { type: "SUPPLY_CHARGE", product_code: "P", line_items })
    expect(existing(charge(item), charge({ ...item, net_amount: "5.0" }))).toEqual(same)
    expect(existing(charge(item), charge({ ...item, net_amount: "5.01" }))).toEqual(other)
    expect(existing(charge(item), charge(item, item))).toEqual(other)
  })

  it("is skipped even if its date could not be added", () => {
    const { answer } = stored([credit("t1", "2027-01-01")], account, unforced)
    expect(answer.map(({ status }) => status)).toEqual(["TRANSACTION_ALREADY_EXISTS"])
  })

  it("is added again as a separate entry when duplicates are not checked", () => {
    const { answer, change } = stored([credit("t1")], account, unchecked)
    expect(answer.map(({ status }) => status)).toEqual(["TRANSACTION_ADDED_TO_ACCOUNT"])
    expect(change.transactions).toEqual([{ transaction: credit("t1"), movedFrom: null }])
    expect(twoDecimals(change.balance)).toBe("17.77")
  })

  it("is matched exactly, including case", () => {
    const { change } = stored([credit("T1")], account)
    expect(change.transactions).toHaveLength(1)
  })
})

describe("existing transactions with many items", () => {
  const sized = [3, 0, 4, 1].map((bytes, index) => ({
    id: credit(`t${index}`).transaction_id,
    bytes
  }))

  it.each<[limit: number, read: ReadonlyArray<string>, bytes: number, unread: string | null]>([
    [8, ["t0", "t1", "t2", "t3"], 8, null],
    [7, ["t0", "t1", "t2"], 7, "t3"],
    [6, ["t0", "t1"], 3, "t2"],
    [0, [], 0, "t0"]
  ])("are read in order up to %s bytes", (byteLimit, ids, bytes, unread) => {
    expect(readableOf(sized, { byteLimit })).toEqual({ ids, bytes, unread })
  })

  it("are sized by their items and the bytes of their texts", () => {
    const items = { line_items: [{}, {}], tax_items: [{}] } as unknown as Partial<Transaction>
    const texts = { display_note: "é", note: "ab", reference: "c" }
    const { display_note, note, reference, ...bare } = credit("t")
    expect(sizeOf(bare)).toBe(100)
    expect(sizeOf({ ...bare, ...items, ...texts })).toBe(100 + 3 * 80 + 5)
  })

  it("may be twice as large as those of the request, and 256 KiB more", () => {
    const sent = [credit("a"), { ...credit("b"), note: "x".repeat(1_000) }]
    const bytes = sent.map(sizeOf).reduce((one, other) => one + other)
    expect(transactionLookup(sent, options).byteLimit).toBe(256 * 1024 + 2 * bytes)
  })

  it("are refused at the first one that is too large to read, and nothing is added", () => {
    const large = credit("large")
    const account = accountWith({ unreadTransaction: large.transaction_id })
    const sent = [credit("a"), large, credit("b", "2027-01-01")]
    expect(refusal(sent, account)).toMatchObject({ code: "too_many_existing_items", id: "large" })
    const earlier = refusal([credit("a", "2027-01-01"), large], account)
    expect(earlier).toMatchObject({ code: "transaction_outside_open_period", id: "a" })
    expect(stored(sent, account, unchecked).change.transactions).toHaveLength(3)
  })
})

describe("the first failing transaction of a request", () => {
  it.each([
    ["the second of an id", [credit("a"), credit("b"), credit("a")], "a"],
    ["one outside the period", [credit("a"), credit("b", "2027-01-01"), credit("a")], "b"],
    ["a repeated id before a date", [credit("a"), credit("a"), credit("b", "2027-01-01")], "a"],
    ["one of two dates", [credit("a", "2027-01-02"), credit("b", "2027-01-01")], "a"]
  ])("is the one reported: %s", (_name, sent, id) => {
    expect(refusal(sent).id).toBe(id)
  })

  it.each([
    ["checked", options],
    ["unchecked", unchecked],
    ["unforced", unforced]
  ])("is the second occurrence of a repeated id, as it was sent: %s", (_name, parameters) => {
    const second = credit("a", "2026-01-12", { amount: "99.00" })
    const decided = decideTransactions([credit("a"), second], parameters)(accountWith())
    expect(Result.isFailure(decided) && decided.failure).toMatchObject({
      code: "duplicate_transaction_ids",
      transaction: second
    })
  })

  it("is the repeated id even if the id was added before", () => {
    const account = stored([credit("a")]).account
    expect(refusal([credit("a"), credit("a")], account, options).code).toBe(
      "duplicate_transaction_ids"
    )
  })
})

describe("the account balance", () => {
  it.each([
    ["PAYMENT", "10.00"],
    ["CREDIT", "10.00"],
    ["CHARGE", "-10.00"],
    ["SUPPLY_CHARGE", "-10.00"],
    ["REPAYMENT", "-10.00"]
  ])("is moved by a %s of 10 to %s", (type, balance) => {
    const { change } = stored([credit("t1", "2026-01-10", { type })])
    expect(twoDecimals(change.balance)).toBe(balance)
  })

  it("falls with a reversed credit and rises with a reversed charge", () => {
    const { change } = stored([
      credit("t1", "2026-01-10", { amount: "-3.10" }),
      credit("t2", "2026-01-10", { amount: "-0.05", type: "CHARGE" })
    ])
    expect(twoDecimals(change.balance)).toBe("-3.05")
  })
})
