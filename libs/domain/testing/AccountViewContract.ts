/** The view of an account: one part of the contract of `Accounts`. */
import type { StoredDocument } from "../src/accounts/StoredDocument.ts"
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
import type { SupplierCode } from "../src/suppliers/Supplier.ts"
import { TransactionId } from "../src/accounts/Transaction.ts"
import { expectSame, freshAccountNumber, freshSupplierCode } from "./freshNames.ts"
import { arrange, importStates } from "./importStates.ts"
import {
  noteTimesOf,
  accountWith,
  creditOf,
  descriptionOf,
  imported,
  importedAt,
  mayStatement,
  noteOf,
  normalized,
  viewOf
} from "./importedAccounts.ts"
import { domesticAccount } from "./samples.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

const unimported = importStates.filter((state) => state !== "imported")

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

const missing = (it: It): void => {
  it.effect.each(unimported)("returns None if the import is: %s", (state) =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { account, key } = yield* arrange(state)
      expect(Option.isNone(yield* accounts.view(key, {}))).toBe(true)
      expect(yield* Stream.runCollect(accounts.describe([account.number]))).toEqual([])
    })
  )

  it.effect("returns None for any other key, compared exactly", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { key } = yield* imported()
      for (const stranger of strangers(key)) {
        const found = yield* accounts.view(stranger, { notes: [noteOf({ body: "a" })] })
        expect(Option.isNone(found), JSON.stringify(stranger)).toBe(true)
      }
      expect(yield* Stream.runCollect(accounts.describe([freshAccountNumber()]))).toEqual([])
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
  it.effect("returns an account without items", () =>
    Effect.gen(function* () {
      const { key, number } = yield* imported()
      expectSame(normalized(yield* viewOf(key, all)), {
        number,
        balance: "0.00",
        lastClosingDate: null,
        instruction: null,
        noteTimes: [null, null],
        transactions: [],
        unreadTransaction: null,
        statements: []
      })
    })
  )

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

  it.effect("gives a note without a time the time of the import", () =>
    Effect.gen(function* () {
      const { key } = yield* imported(accountWith({ notes: [{ body: "a" }] }))
      const view = yield* viewOf(key, { notes: [noteOf({ body: "a" })] })
      expectSame(noteTimesOf(view), [importedAt])
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

  it.effect("describes an account without items", () =>
    Effect.gen(function* () {
      const { number } = yield* imported()
      const { ledgers, notes, statements, transactions } = yield* descriptionOf(number)
      expect([ledgers, notes, statements, transactions]).toEqual([[], [], [], []])
    })
  )

  it.effect("returns the document store's findings for the documents of the import", () =>
    Effect.gen(function* () {
      const note = { size: 7, etag: `"e1"`, checksum: "crc" }
      const statement = { size: 2 ** 40, etag: null, checksum: null }
      const documents = new Map<string, StoredDocument>([
        ["notes/a.pdf", note],
        ["2025/05.pdf", statement]
      ])
      const { number } = yield* imported(
        accountWith({
          notes: [
            { document_paths: [{ document_path: "/notes/a.pdf" }, { document_path: "b.pdf" }] }
          ],
          statements: [mayStatement("s1", { statement_path: "2025/05.pdf" })]
        }),
        documents
      )
      const { notes, statements } = yield* descriptionOf(number)
      expect(notes.map((each) => each["documents"])).toEqual([
        [
          { document_path: "/notes/a.pdf", ...note },
          { document_path: "b.pdf", size: null, etag: null, checksum: null }
        ]
      ])
      expect(statements.map((each) => each["document"])).toEqual([
        { document_path: "2025/05.pdf", ...statement }
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
