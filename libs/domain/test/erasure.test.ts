/** After the erasure of its customer, an account keeps the money and nothing else that was sent. */
import { describe, expect, it } from "@effect/vitest"
import { BigDecimal, Result } from "effect"
import fc from "fast-check"
import { type Account, openingBalance } from "../src/account/Account.ts"
import { erasedAccount } from "../src/account/Erasure.ts"
import { balanceOf, currentTransactions, historicalTransactions } from "../src/account/Ledger.ts"
import type { Transaction } from "../src/account/Transaction.ts"
import { validateUnknownAccount } from "../src/validation/AccountValidation.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { domesticAccount, sampleTime } from "../testing/samples.ts"

const accounts = accountPayload().map((payload) =>
  Result.getOrThrow(validateUnknownAccount(payload, sampleTime))
)

const allTransactions = ({ ledgers = [] }: Account) =>
  ledgers.flatMap((ledger) => [...historicalTransactions(ledger), ...currentTransactions(ledger)])

const money = ({ amount, line_items, tax_items, transaction_date, type }: Transaction) => ({
  amount,
  date: transaction_date,
  type,
  lines: line_items?.map((item) => [
    item.start_date,
    item.end_date,
    item.number_of_units,
    item.price_per_unit,
    item.net_amount
  ]),
  tax_items
})

const namesIn = (values: ReadonlyArray<object>) =>
  [...new Set(values.flatMap((value) => Object.keys(value)))].toSorted()

describe("an erased account", () => {
  it("keeps the money of the account, in every ledger and transaction", () => {
    fc.assert(
      fc.property(accounts, (account) => {
        const erased = erasedAccount(account)
        expect(openingBalance(erased)).toEqual(openingBalance(account))
        const balances = (of: Account) =>
          (of.ledgers ?? []).map((ledger) => [
            ledger.ledger_code,
            BigDecimal.format(balanceOf(ledger))
          ])
        expect(balances(erased)).toEqual(balances(account))
        expect(allTransactions(erased).map(money)).toEqual(allTransactions(account).map(money))
      })
    )
  })

  it("has no field that could identify a person", () => {
    const kept = ["amount", "line_items", "tax_items", "transaction_date", "transaction_id", "type"]
    fc.assert(
      fc.property(accounts, (account) => {
        const erased = erasedAccount(account)
        expect(namesIn([erased]).filter((name) => !stays.includes(name))).toEqual([])
        const transactions = allTransactions(erased)
        expect(namesIn(transactions).filter((name) => !kept.includes(name))).toEqual([])
        const ids = [
          ...transactions.map((each) => each.transaction_id),
          ...(erased.statements ?? []).map((each) => each.statement_id)
        ]
        expect(ids.filter((id) => !id.startsWith("erased-"))).toEqual([])
        expect(new Set(ids).size).toBe(ids.length)
      })
    )
  })

  it("keeps the bookings of the sample", () => {
    const erased = erasedAccount(domesticAccount())
    expect(namesIn([erased])).toEqual(stays.filter((name) => name in domesticAccount()).toSorted())
    expect(JSON.stringify(erased)).not.toMatch(/Astrid|Pilevangen|NL-T-|\.pdf|NORD-VARIABEL/)
  })
})

const stays = [
  "account_type",
  "communication_preference",
  "external_account_number",
  "import_supplier",
  "ledgers",
  "sales_channel",
  "statements",
  "transfer_balance",
  "unknown_occupier"
]
