/** The view of an account: one part of the contract of `Accounts`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { accountTextInSteps, type ExternalAccountNumber } from "../src/accounts/Account.ts"
import type { Lookup } from "../src/accounts/AccountChange.ts"
import type { ImportKey } from "../src/imports/ImportProcess.ts"
import { finish } from "../src/support/Steps.ts"
import { StatementId } from "../src/accounts/Statement.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import type { SupplierCode } from "../src/suppliers/Supplier.ts"
import { TransactionId } from "../src/accounts/Transaction.ts"
import { expectSame, freshSupplierCode } from "./freshNames.ts"
import { arrange, importStates, tracesOf } from "./importStates.ts"
import {
  accountWith,
  changeAccount,
  creditOf,
  descriptionOf,
  imported,
  importedAt,
  noteOf,
  normalized,
  viewOf
} from "./importedAccounts.ts"
import { domesticAccount } from "./samples.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

/** Keys similar to this one without an account, including some that cannot be stored. */
export const strangers = (key: ImportKey): ReadonlyArray<ImportKey> => {
  const number = (text: string) => ({
    ...key,
    external_account_number: text as ExternalAccountNumber
  })
  const supplier = (text: string) => ({ ...key, import_supplier: text as SupplierCode })
  const { external_account_number, import_supplier } = key
  return [
    number(external_account_number.toUpperCase()),
    number(`${external_account_number} `),
    number(`${external_account_number}\0`),
    number(`${external_account_number}\uD800`),
    supplier(freshSupplierCode()),
    supplier(import_supplier.toLowerCase()),
    supplier(`${import_supplier}\0`),
    supplier("\uDC00")
  ]
}

/** Expects that there is no account under the key, and that a change of it is not even decided. */
const expectNone = Effect.fnUntraced(function* (key: ImportKey, caller: Caller) {
  const accounts = yield* Accounts
  const found = yield* accounts.view(key, { notes: [noteOf({ body: "a" })] })
  expect(Option.isNone(found), JSON.stringify(key)).toBe(true)
  const changed = yield* changeAccount({ caller, key }, () => {
    throw new Error(`There is nothing to decide on for ${JSON.stringify(key)}`)
  })
  expect(Option.isNone(changed), JSON.stringify(key)).toBe(true)
})

const missing = (it: It): void => {
  it.effect.each(importStates.filter((state) => state !== "imported"))(
    "there is no account if the import is: %s",
    (state) =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const { account, caller, key } = yield* arrange(state)
        const before = yield* tracesOf(key)
        yield* expectNone(key, caller)
        expectSame(yield* tracesOf(key), before)
        expect(Option.isNone(yield* accounts.locate(account.number))).toBe(true)
        expect(yield* Stream.runCollect(accounts.describe([account.number]))).toEqual([])
        expect(yield* Stream.runCollect(accounts.read([account.number]))).toEqual([])
      })
  )

  it.effect("there is none under any other key, compared exactly", () =>
    Effect.gen(function* () {
      const { caller, key } = yield* imported()
      const before = yield* tracesOf(key)
      for (const stranger of strangers(key)) yield* expectNone(stranger, caller)
      expectSame(yield* tracesOf(key), before)
    })
  )
}

const ids = (...texts: ReadonlyArray<string>) => texts.map((text) => TransactionId.make(text))
const statementIds = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => StatementId.make(text))

/** A lookup of all items of the sample account. */
const all: Lookup = {
  notes: [
    "Customer asked for large print letters. Recorded by legacy CRM.",
    "Account migrated in wave 3; check first bill."
  ].map((body) => noteOf({ body })),
  transactionIds: ids("NL-T-1001", "NL-T-1004", "NL-T-1005"),
  statementIds: statementIds("NL-S-2025-01", "NL-S-2025-02")
}

const payload = (it: It): void => {
  it.effect("returns the imported account with every digit", () =>
    Effect.gen(function* () {
      const { key, number } = yield* imported(domesticAccount)
      const { ledgers = [], notes = [], statements = [] } = domesticAccount(key)
      const view = normalized(yield* viewOf(key, all))
      const [payment, supplyCharge] = ledgers[0]?.current_statement_transactions ?? []
      const [charge] = ledgers[0]?.historical_statement_transactions ?? []
      expectSame(
        view,
        normalized({
          number,
          balance: creditOf("any", { amount: 50 }).amount,
          lastClosingDate: ledgers[0]?.last_statement_closing_date ?? null,
          instruction: null,
          knownNotes: notes.map(({ created_at = importedAt }) => ({ created_at })),
          transactions: new Map(
            [payment, supplyCharge, charge].flatMap((each) =>
              each === undefined ? [] : [[each.transaction_id, each] as const]
            )
          ),
          unreadTransaction: null,
          statements: new Map(
            statements.map((statement) => [
              statement.statement_id,
              { statement, origin: "account_payload" }
            ])
          )
        })
      )
      expect(view.transactions).toHaveLength(3)
    })
  )

  it.effect.each([
    [{ transfer_balance: "-12.30" }, "-12.30", null],
    [{ transfer_balance: "9999999999.99", ledgers: [] }, "9999999999.99", null],
    [{ ledgers: [{ ledger_code: "A" }] }, "0.00", null],
    [
      {
        ledgers: [
          { ledger_code: "A", ledger_balance: "0.10", last_statement_closing_date: "2024-02-29" },
          { ledger_code: "B", last_statement_balance: "0.20" },
          { ledger_code: "C", last_statement_closing_date: "2023-12-31" }
        ]
      },
      "0.30",
      "2024-02-29"
    ]
  ] as const)("adds up the ledgers and returns the latest closing date: %#", ([values, sum, day]) =>
    Effect.gen(function* () {
      const { key } = yield* imported(accountWith(values))
      const { balance, lastClosingDate } = normalized(yield* viewOf(key, {}))
      expect({ balance, lastClosingDate }).toEqual({ balance: sum, lastClosingDate: day })
    })
  )
}

const describing = (it: It): void => {
  it.effect("describes the whole account", () =>
    Effect.gen(function* () {
      const { key, number } = yield* imported(domesticAccount)
      const description = yield* descriptionOf(number)
      expect(description).toMatchObject({
        ...key,
        kraken_account_number: number,
        account_created_at: "2026-01-01T12:00:20Z",
        operations_team_name: "Migration Team",
        balance: "50.00",
        payload: finish(accountTextInSteps(domesticAccount(key))),
        ledgers: [
          {
            ledger_code: "ELECTRICITY_LEDGER",
            ledger_balance: "50.00",
            last_statement_balance: "25.00",
            last_statement_closing_date: "2025-02-28"
          }
        ],
        payment_instructions: []
      })
      expect(description.transactions.map((each) => each["transaction_id"])).toEqual([
        "NL-T-1001",
        "NL-T-1002",
        "NL-T-1003",
        "NL-T-1004",
        "NL-T-1005",
        "NL-T-1006",
        "NL-T-1007"
      ])
      expect(description.notes.map((each) => each["is_pinned"])).toEqual([false, true])
      expect(description.statements.map((each) => each["origin"])).toEqual([
        "account_payload",
        "account_payload"
      ])
    })
  )
}

/** Declares the tests of `view`. */
export const accountViewContract = (it: It): void => {
  missing(it)
  payload(it)
}

/** Declares the tests of `describe`. */
export const accountDescriptionContract = describing
