/**
 * The money rules over ledgers, and the rules of a transaction.
 * Source: docs/contract/account.md#ledger-rules, docs/contract/account.md#transaction.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { validateUnknownAccount } from "../src/accounts/AccountValidation.ts"
import { sampleTime } from "../testing/samples.ts"
import type { Wire } from "../testing/wire.ts"
import { errorsIn, sampleWith } from "./validationErrors.ts"

type Row = [string, Wire, ReadonlyArray<string>]

const credit = (id: string, amount: unknown, day = "2025-06-15"): Wire => ({
  transaction_id: id,
  transaction_date: day,
  amount,
  type: "CREDIT"
})

/** An account with only these ledgers. */
const accountWith = (ledgers: ReadonlyArray<Wire>, values: Wire = {}): Wire =>
  sampleWith({
    ...values,
    ledgers: ledgers.map((ledger, index) => ({ ledger_code: `L-${index}`, ...ledger }))
  })

const errorsInLedgers = (ledgers: ReadonlyArray<Wire>, values: Wire = {}): ReadonlyArray<string> =>
  errorsIn(accountWith(ledgers, values))

const errorsInLedger = (ledger: Wire): ReadonlyArray<string> => errorsInLedgers([ledger])

describe("the sums of a ledger", () => {
  const history = ["ledgers.0 historical_statement_transactions_balance_mismatch"]
  const balance = ["ledgers.0 balance_mismatch_on_ledger_balance"]
  const closing = { last_statement_closing_date: "2025-05-31" }
  const past = (amount: unknown) => ({
    historical_statement_transactions: [credit("H", amount, "2025-05-31")],
    ...closing
  })
  const present = (amount: unknown) => ({
    current_statement_transactions: [credit("C", amount, "2025-06-01")]
  })

  it.each<Row>([
    ["history that adds up", { ...past(25), last_statement_balance: 25 }, []],
    ["history a cent too much", { ...past(25.01), last_statement_balance: 25 }, history],
    ["history a cent too little", { ...past("24.99"), last_statement_balance: "25.00" }, history],
    ["history of nothing without a balance", past(0), []],
    ["history of something without a balance", past(1), history],
    ["no history beside a balance", { last_statement_balance: 25, ...closing }, []],
    [
      "an empty history beside a balance",
      { last_statement_balance: 25, historical_statement_transactions: [] },
      []
    ],
    ["a balance of 0 alone", { ledger_balance: 0 }, []],
    ["a balance of -0", { ledger_balance: -0 }, []],
    ["a balance of something alone", { ledger_balance: 0.01 }, balance],
    [
      "a balance that adds up",
      { ...present("0.10"), last_statement_balance: 0.2, ledger_balance: 0.3 },
      []
    ],
    ["a balance a cent off", { ...present(10), ledger_balance: 10.01 }, balance],
    ["no balance", { ...present(10), last_statement_balance: 5 }, []],
    [
      "history that does not add up under a balance that does",
      { ...past(1), ...present(2), last_statement_balance: 2, ledger_balance: 4 },
      history
    ]
  ])("are checked with %s", (_name, ledger, errors) => {
    expect(errorsInLedger(ledger)).toEqual(errors)
  })

  it.each<[string, ReadonlyArray<Wire>, unknown, ReadonlyArray<string>]>([
    ["equal", [{ ledger_balance: 0 }, { ...present(0.3), ledger_balance: 0.3 }], "0.30", []],
    [
      "differ by a cent",
      [{ ledger_balance: 0 }, { ...present(0.3), ledger_balance: 0.3 }],
      0.31,
      ["non_field_errors ledger_balances_not_equal_to_transfer_balance"]
    ],
    ["as it would be stored if none is sent", [{ ledger_balance: 0 }, present(1)], 1, []],
    [
      "that has the other sign than a ledger that sends no balance",
      [{ ...present(1), last_statement_balance: 99 }],
      -100,
      ["non_field_errors ledger_balances_not_equal_to_transfer_balance"]
    ],
    [
      "beside an empty ledger",
      [{}],
      55,
      ["non_field_errors ledger_balances_not_equal_to_transfer_balance"]
    ],
    ["are not judged where there are none", [], 99, []]
  ])(
    "of all ledgers are compared with the transfer balance %s",
    (_name, ledgers, transfer_balance, errors) => {
      expect(errorsInLedgers(ledgers, { transfer_balance })).toEqual(errors)
    }
  )

  it.each([
    [
      "a sent balance is stated",
      { last_statement_balance: "-12345.67" },
      "last_statement_balance: stated -12345.67, calculated 0.30, difference -12345.97."
    ],
    [
      "a balance that was not sent is not",
      {},
      "last_statement_balance: not sent, taken as 0.00, calculated 0.30, difference -0.30."
    ]
  ])("are reported with their difference: %s", (_name, balance, detail) => {
    const account = accountWith([{ ...past("0.30"), ...balance }])
    const result = validateUnknownAccount(account, sampleTime)
    expect(Result.isFailure(result) && result.failure.map((error) => error.detail)).toEqual([
      detail
    ])
  })
})

describe("the dates of a ledger", () => {
  const day = (last_statement_closing_date: string, ledger: Wire) => ({
    last_statement_closing_date,
    ...ledger
  })
  const past = (date: string) => ({ historical_statement_transactions: [credit("H", 0, date)] })
  const present = (date: string) => ({ current_statement_transactions: [credit("C", 0, date)] })

  it("must lie in the past, or be today", () => {
    expect(errorsInLedger(present("2026-01-15"))).toEqual([])
    const at = (list: string) => `ledgers.0.${list}.0.transaction_date transaction_in_future`
    expect(errorsInLedger(present("2026-01-16"))).toEqual([at("current_statement_transactions")])
    expect(errorsInLedger(day("2026-01-15", past("2026-01-16")))).toEqual([
      at("historical_statement_transactions"),
      "ledgers.0 historical_statement_transaction_after_last_statement_closing_date"
    ])
  })
})

describe("the ids of an account", () => {
  const twice = ["non_field_errors duplicate_transaction_ids"]
  const list = (...ids: ReadonlyArray<string>) => ids.map((id) => credit(id, 0))

  it.each<[string, ReadonlyArray<Wire>, ReadonlyArray<string>]>([
    ["in one list", [{ current_statement_transactions: list("a", "b", "a") }], twice],
    [
      "in both lists of a ledger",
      [
        {
          last_statement_closing_date: "2025-06-15",
          historical_statement_transactions: list("a"),
          current_statement_transactions: [credit(" a ", 0, "2025-06-16")]
        }
      ],
      twice
    ],
    [
      "on two ledgers",
      [
        { current_statement_transactions: list("a") },
        { current_statement_transactions: list("a") }
      ],
      twice
    ],
    ["in two cases", [{ current_statement_transactions: list("a", "A") }], []],
    [
      "of two ledgers",
      [{ ledger_code: "E" }, { ledger_code: "E" }],
      ["ledgers duplicate_ledger_entries_found"]
    ],
    ["of two ledgers in two cases", [{ ledger_code: "E" }, { ledger_code: "e" }], []]
  ])("are compared exactly, across all lists: the same %s", (_name, ledgers, errors) => {
    expect(errorsInLedgers(ledgers)).toEqual(errors)
  })
})

describe("a transaction", () => {
  const at = "ledgers.0.current_statement_transactions.0"
  const errorsInOne = (transaction: Wire): ReadonlyArray<string> =>
    errorsInLedger({ current_statement_transactions: [{ ...credit("T", 5), ...transaction }] })
  const fields: Wire = {
    reason: "R",
    display_note: "D",
    note: "N",
    reference: "X",
    payment_type: "CHEQUE",
    product_code: "P",
    line_items: [],
    tax_items: []
  }

  it.each([
    ["PAYMENT", ["product_code", "line_items", "tax_items"]],
    ["REPAYMENT", ["product_code", "line_items", "tax_items"]],
    ["CHARGE", ["reference", "payment_type", "product_code", "line_items"]],
    ["CREDIT", ["reference", "payment_type", "product_code", "line_items", "tax_items"]],
    ["SUPPLY_CHARGE", ["reason", "reference", "payment_type"]]
  ])("of type %s accepts only the fields of its type", (type, without) => {
    for (const [name, value] of Object.entries(fields)) {
      const product = type === "SUPPLY_CHARGE" ? { product_code: "P" } : {}
      const amount = name === "line_items" ? 0 : 5
      const expected =
        name === "line_items" && (type === "PAYMENT" || type === "REPAYMENT")
          ? [`${at}.amount min_value`]
          : []
      const errors = without.includes(name)
        ? [`${at}.${name} field_not_allowed_for_transaction_type`]
        : []
      const sent = { type, amount, ...product, [name]: value }
      expect(errorsInOne(sent), name).toEqual([...expected, ...errors])
    }
  })

  it.each([
    ["PAYMENT", "CHEQUE", []],
    ["PAYMENT", "CARD_REFUND", ["invalid_choice"]],
    ["REPAYMENT", "CHEQUE", []],
    ["REPAYMENT", "CASH", ["invalid_choice"]]
  ])("of type %s is paid by %s: %j", (type, payment_type, codes) => {
    const errors = codes.map((code) => `${at}.payment_type ${code}`)
    expect(errorsInOne({ type, payment_type })).toEqual(errors)
  })
})
