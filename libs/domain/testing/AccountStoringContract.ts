/** How each kind of added item is stored: one part of the contract of `Accounts`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { twoDecimals } from "../src/schema/Decimal.ts"
import type { InstructionDetails, PaymentInstruction } from "../src/accounts/PaymentInstruction.ts"
import { encodeTransaction, type Transaction } from "../src/accounts/Transaction.ts"
import { expectSame, noonPlus, times } from "./freshNames.ts"
import {
  noteTimesOf,
  accountWith,
  adding,
  card,
  changeAccount,
  creditOf,
  descriptionOf,
  idsOf,
  imported,
  mayStatement,
  noteOf,
  transactionOf,
  viewOf
} from "./importedAccounts.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

/** Every member that a transaction can have, with decimals of the maximum size. */
export const supplyCharge = transactionOf({
  transaction_id: "supply",
  transaction_date: "2024-02-29",
  amount: "-9999999999.99",
  type: "SUPPLY_CHARGE",
  display_note: "näher am “Rand” \u{1F600} \\ ' \" %",
  note: "",
  product_code: "P",
  line_items: [
    {
      rate_band: "DAY",
      start_date: "2024-02-01",
      end_date: "2024-02-29",
      number_of_units: "12345678901.1234",
      net_amount: "-0.0000000001",
      price_per_unit: "12345678.7654321",
      units: ["0.0001", "99999999999.9999"]
    },
    { start_date: "2024-02-01", end_date: "2024-02-01", number_of_units: 0, net_amount: "1.50" }
  ],
  tax_items: [
    { amount: "0.10", tax_type: "VAT", value_taxed: 1, rate: "0.00001", unit_type: "PROPORTION" },
    {
      amount: "-1234567890.12345",
      tax_type: "CCL",
      value_taxed: "0.00",
      rate: "1234567890.12345",
      unit_type: "CURRENCY_PER_KWH"
    }
  ]
})

const payment = transactionOf({
  transaction_id: "payment",
  transaction_date: "0001-01-01",
  amount: "0.01",
  type: "PAYMENT",
  reason: "R",
  reference: "",
  payment_type: "CASH"
})

const transactions: ReadonlyArray<Transaction> = [
  supplyCharge,
  payment,
  creditOf("moved", { display_note: "x".repeat(2_000), transaction_date: "9999-12-31" }),
  creditOf("empty lists", { type: "CHARGE", tax_items: [] })
]

const storing = (it: It): void => {
  it.effect("stores every digit and character of transactions", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      yield* changeAccount(account, adding(...transactions))
      const view = yield* viewOf(account.key, { transactionIds: idsOf(transactions) })
      const stored = transactions.map(({ transaction_id: id }) => view.transactions.get(id))
      expect(stored.map((each) => each && encodeTransaction(each))).toEqual(
        transactions.map((each) => encodeTransaction(each))
      )
      expect(twoDecimals(view.balance)).toBe("10000000000.00")
    })
  )

  it.effect("stores notes with the document store's findings for their documents", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const note = {
        ...noteOf({
          document_paths: [{ document_path: "/b.pdf" }, { document_path: "a.pdf" }],
          is_pinned: true,
          unpin_at: "9999-12-31T23:59:59Z"
        }),
        created_at: noonPlus(1.234)
      }
      const documents = new Map([["b.pdf", { size: 2 ** 33, etag: `"e"`, checksum: "c" }]])
      const body = "first\nsecond \u{1F600}"
      const plain = { body, created_at: noonPlus(-1_000_000_000) }
      yield* changeAccount(account, () => ({ notes: [note, plain], documents }))
      const view = yield* viewOf(account.key, { notes: [note, plain] })
      expectSame(
        noteTimesOf(view),
        [note, plain].map(({ created_at }) => created_at)
      )
      const { notes } = yield* descriptionOf(account.number)
      expect(notes[0]).toEqual({
        body: null,
        documents: [
          { document_path: "/b.pdf", size: 2 ** 33, etag: `"e"`, checksum: "c" },
          { document_path: "a.pdf", size: null, etag: null, checksum: null }
        ],
        created_at: "2026-01-01T12:00:01Z",
        is_pinned: true,
        unpin_at: "9999-12-31T23:59:59Z"
      })
      expect(notes[1]).toMatchObject({ body, documents: [], is_pinned: false, unpin_at: null })
    })
  )

  it.effect("stores statements with their origin and their documents", () =>
    Effect.gen(function* () {
      const { statement_id, ...period } = mayStatement("s")
      const account = yield* imported(accountWith({ statements: [{ statement_id, ...period }] }))
      const full = mayStatement("S", {
        issued_date: "2025-06-01",
        number: "N 1",
        gross_amount: "-9999999999.99",
        statement_path: "/2025/05.pdf"
      })
      const least = mayStatement("least")
      const document = { size: 0, etag: null, checksum: "c" }
      yield* changeAccount(account, () => ({
        statements: [full, least],
        documents: new Map([["2025/05.pdf", document]])
      }))
      const statementIds = [full, least].map((each) => each.statement_id)
      const { statements } = yield* viewOf(account.key, { statementIds })
      expect([...statements.values()].map(({ origin }) => origin)).toEqual(
        times(2, "historical_statements")
      )
      const description = yield* descriptionOf(account.number)
      expect(description.statements).toMatchObject([
        { statement_id: "s", origin: "account_payload", document: null },
        {
          statement_id: "S",
          origin: "historical_statements",
          ...period,
          issued_date: "2025-06-01",
          number: "N 1",
          gross_amount: "-9999999999.99",
          document: { document_path: "/2025/05.pdf", ...document }
        },
        { statement_id: "least", number: null, gross_amount: null, document: null }
      ])
    })
  )

  it.effect.each<[PaymentInstruction, InstructionDetails, object]>([
    [
      card.instruction,
      card.details,
      { brand: "visa", last_four: "4242", expiry_month: 2, expiry_year: 2031 }
    ],
    [
      { vendor: "GOCARDLESS", reference: "x".repeat(512), type: "DIRECT_DEBIT" },
      { _tag: "DirectDebit", bankName: null, status: "active" },
      { bank_name: null, status: "active" }
    ]
  ])("stores an active instruction with its details: %#", ([wanted, details, json]) =>
    Effect.gen(function* () {
      const account = yield* imported()
      yield* changeAccount(account, () => ({ instruction: { instruction: wanted, details } }))
      expect((yield* viewOf(account.key, {})).instruction).toEqual(wanted)
      const description = yield* descriptionOf(account.number)
      expect(description.payment_instructions).toEqual([
        { ...wanted, details: json, ended_at: null }
      ])
    })
  )
}

/** Declares the tests of what `change` stores. */
export const accountStoringContract = storing
