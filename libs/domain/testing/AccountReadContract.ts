/** Accounts that are read back: one part of the contract of `Accounts`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import fc from "fast-check"
import { Account, accountTextInSteps } from "../src/accounts/Account.ts"
import type { AccountNumber } from "../src/accounts/Account.ts"
import type { StoredDocument } from "../src/accounts/StoredDocument.ts"
import { accountLines, accountText } from "../src/accounts/AccountText.ts"
import { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { finish } from "../src/support/Steps.ts"
import { accountPayload } from "./arbitraries.ts"
import { freshAccountNumber } from "./freshNames.ts"
import {
  accountWith,
  adding,
  card,
  changeAccount,
  changedAt,
  creditOf,
  imported,
  mayStatement,
  noteOf
} from "./importedAccounts.ts"
import { domesticAccount } from "./samples.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

/** An account as parsed from its text. */
interface Read {
  readonly account: object
  readonly added: Readonly<Record<string, ReadonlyArray<object>>>
  readonly documents: ReadonlyArray<object>
}

const textOf = Effect.fnUntraced(function* (number: AccountNumber) {
  const accounts = yield* Accounts
  return yield* Stream.mkString(
    accountText(Option.getOrThrow(yield* Stream.runHead(accounts.read([number]))))
  )
})

const read = (number: AccountNumber) =>
  Effect.map(textOf(number), (text) => JSON.parse(text) as Read)

const decodeAccount = Schema.decodeUnknownSync(Account)

const missing = (it: It): void => {
  it.effect("locates an account by its number", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { key, number } = yield* imported()
      expect(Option.getOrThrow(yield* accounts.locate(number))).toEqual(key)
      expect(Option.isNone(yield* accounts.locate(freshAccountNumber()))).toBe(true)
    })
  )
}

const payloads = (it: It): void => {
  it.effect("reads generated accounts back exactly as validate answers them", () =>
    Effect.gen(function* () {
      for (const payload of fc.sample(accountPayload(), 20)) {
        const { key, number } = yield* imported((pair) => decodeAccount({ ...payload, ...pair }))
        const validated = finish(accountTextInSteps(decodeAccount({ ...payload, ...key })))
        const text = yield* textOf(number)
        expect(text).toContain(`"account":${validated},"added":`)
        expect((JSON.parse(text) as Read).account).toEqual(JSON.parse(validated))
      }
    })
  )

  it.effect("reads a payload of several slices to the letter", () =>
    Effect.gen(function* () {
      const text = "é\u{1F600}x".repeat(250_000)
      const account = accountWith({ metadata: [{ key: "long", value: { text } }] })
      const { key, number } = yield* imported(account)
      expect((yield* textOf(number)).includes(finish(accountTextInSteps(account(key))))).toBe(true)
    })
  )

  it.effect("reads the balance of each ledger, and the documents that items name", () =>
    Effect.gen(function* () {
      const found = { size: 2 ** 40, etag: '"e1"', checksum: null }
      const documents = new Map<string, StoredDocument>([["a.pdf", found]])
      const values = {
        ledgers: [
          { ledger_code: "A", ledger_balance: "12.30" },
          {
            ledger_code: "B",
            last_statement_balance: "1.00",
            last_statement_closing_date: "2025-01-31",
            historical_statement_transactions: [creditSent("H", "1.00", "2025-01-02")],
            current_statement_transactions: [creditSent("C", "0.05", "2025-02-02")]
          },
          { ledger_code: "C" }
        ],
        notes: [{ document_paths: [{ document_path: "/a.pdf" }, { document_path: "b.pdf" }] }],
        statements: [mayStatement("s1", { statement_path: "a.pdf" }), mayStatement("s2")]
      }
      const { number } = yield* imported(accountWith(values), documents)
      expect(yield* read(number)).toMatchObject({
        kraken_account_number: number,
        account_created_at: "2026-01-01T12:00:20Z",
        operations_team_name: "Migration Team",
        balance: "13.35",
        ledger_balances: [
          { ledger_code: "A", balance: "12.30" },
          { ledger_code: "B", balance: "1.05" },
          { ledger_code: "C", balance: "0.00" }
        ],
        documents: [
          { document_path: "/a.pdf", ...found },
          { document_path: "b.pdf", size: null, etag: null, checksum: null },
          { document_path: "a.pdf", ...found }
        ]
      })
    })
  )
}

const creditSent = (id: string, amount: string, day: string) => ({
  transaction_id: id,
  transaction_date: day,
  amount,
  type: "CREDIT"
})

const additions = (it: It): void => {
  it.effect("reads additions separately from the payload, in order", () =>
    Effect.gen(function* () {
      const account = yield* imported(domesticAccount)
      const before = yield* read(account.number)
      const moved = creditOf("moved", { display_note: "Moved from 2025-12-01." })
      yield* changeAccount(account, (view) => ({
        ...adding(moved)(view),
        transactions: [{ transaction: moved, movedFrom: moved.transaction_date }],
        notes: [{ ...noteOf({ body: "later" }), created_at: changedAt }],
        statements: [mayStatement("later", { gross_amount: "10.50", statement_path: "l.pdf" })],
        documents: new Map([["l.pdf", { size: 7, etag: null, checksum: "crc" }]]),
        instruction: card
      }))
      yield* changeAccount(account, adding(creditOf("second")))
      const after = yield* read(account.number)
      expect(after.account).toEqual(before.account)
      expect(after).toMatchObject({ balance: "70.00" })
      expect(after.added).toEqual({
        transactions: [
          {
            transaction_id: "moved",
            transaction_date: "2025-12-01",
            amount: "10.00",
            type: "CREDIT",
            display_note: "Moved from 2025-12-01.",
            moved_from_date: "2025-12-01"
          },
          {
            transaction_id: "second",
            transaction_date: "2025-12-01",
            amount: "10.00",
            type: "CREDIT"
          }
        ],
        notes: [expect.objectContaining({ body: "later", created_at: "2026-01-01T12:01:00Z" })],
        statements: [
          {
            bill_period_from_date: "2025-05-01",
            bill_period_to_date: "2025-05-31",
            statement_id: "later",
            gross_amount: 10.5,
            statement_path: "l.pdf"
          }
        ],
        payment_instructions: [
          {
            vendor: "STRIPE",
            reference: "pm_1",
            type: "CARD",
            details: { brand: "visa", last_four: "4242", expiry_month: 2, expiry_year: 2031 },
            ended_at: null
          }
        ]
      })
      expect(after.documents.at(-1)).toEqual({
        document_path: "l.pdf",
        size: 7,
        etag: null,
        checksum: "crc"
      })
    })
  )

  it.effect("reads long lists completely, without items that are added meanwhile", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const ids = Array.from({ length: 450 }, (_, index) => `t${index}`)
      const account = yield* imported(
        accountWith({
          metadata: ids.map((key) => ({ key, value: {} })),
          notes: ids.map((body) => ({ body })),
          statements: ids.map((id) => mayStatement(id)),
          ledgers: [
            {
              ledger_code: "A",
              current_statement_transactions: ids.map((id) => creditSent(id, "0.01", "2025-02-02"))
            }
          ]
        })
      )
      const added = ids.map((id) => creditOf(`added ${id}`, { display_note: "x".repeat(2_000) }))
      const notes = ids.map((body) => ({
        ...noteOf({ body: `added ${body}` }),
        created_at: changedAt
      }))
      yield* changeAccount(account, (view) => ({ ...adding(...added)(view), notes }))
      const opened = Option.getOrThrow(yield* Stream.runHead(accounts.read([account.number])))
      yield* changeAccount(account, adding(creditOf("too late")))
      const text = yield* Stream.mkString(accountText(opened))
      const parsed = JSON.parse(text) as Read
      expect(parsed.added["transactions"]).toHaveLength(450)
      expect(parsed.added["transactions"]?.at(-1)).toMatchObject({ transaction_id: "added t449" })
      expect(parsed.added["notes"]?.map((note) => (note as { body: string }).body)).toEqual(
        ids.map((id) => `added ${id}`)
      )
      expect(parsed.account).toMatchObject({
        metadata: ids.map((key) => ({ key, value: {} })),
        notes: ids.map((body) => ({ body })),
        statements: ids.map((statement_id) => ({ statement_id })),
        ledgers: [
          { current_statement_transactions: ids.map((transaction_id) => ({ transaction_id })) }
        ]
      })
    })
  )
}

const several = (it: It): void => {
  it.effect("reads small and large accounts in the order of their numbers, each as if alone", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      // Together more than one read returns.
      const created = yield* Effect.forEach(Array.from({ length: 30 }).keys(), (index) => {
        const notes = Array.from({ length: index % 7 === 0 ? 9 : 4 }, () => ({
          body: "x".repeat(10_000)
        }))
        return imported(accountWith({ customers: [{ given_name: "Ada" }], notes }))
      })
      const numbers = created.map(({ number }) => number).toReversed()
      const alone = yield* Effect.forEach(numbers, textOf)
      const asked = [
        freshAccountNumber(),
        ...numbers.flatMap((each) => [each, freshAccountNumber()])
      ]
      const together = yield* Stream.runCollect(accounts.read(asked))
      expect(together.map(({ number }) => number)).toEqual(numbers)
      const lines = yield* Stream.mkString(accountLines(together))
      expect(lines).toBe(alone.map((text) => `${text}\n`).join(""))
    })
  )
}

/** Declares the tests of `locate` and `read`. */
export const accountReadContract = (it: It): void => {
  missing(it)
  payloads(it)
  additions(it)
  several(it)
}
