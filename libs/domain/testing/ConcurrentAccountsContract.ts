/** Concurrent changes of an account: one part of the contract of `Accounts`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { BigDecimal, Effect, Option } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { AccountChange, AccountView, Lookup } from "../src/accounts/AccountChange.ts"
import type { StoredDocument } from "../src/accounts/StoredDocument.ts"
import { supplyCharge } from "./AccountStoringContract.ts"
import { tracesOf } from "./importStates.ts"
import {
  accountWith,
  adding,
  card,
  changeAccount,
  changedAt,
  creditOf,
  descriptionOf,
  idsOf,
  imported,
  mayStatement,
  noteOf,
  viewOf,
  type Whose
} from "./importedAccounts.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

const concurrency = 32

/** Runs concurrent changes of the account; returns what each of them saw. */
const atOnce = (
  account: Whose,
  count: number,
  lookup: Lookup,
  make: (view: AccountView, index: number) => Partial<AccountChange>
) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) => changeAccount(account, (view) => make(view, index), { lookup }),
    { concurrency: "unbounded" }
  )

type Imported = Effect.Success<ReturnType<typeof imported>>
type Change = (view: AccountView, round: number) => Partial<AccountChange>

const withNote = accountWith({ notes: [{ body: "sent" }] })

const stored = (size: number): StoredDocument => ({ size, etag: null, checksum: null })

const noteWith = (path: string) => ({
  ...noteOf({ document_paths: [{ document_path: path }] }),
  created_at: changedAt
})

/** Changes of different lists, some with the same ids and the same documents. */
const kinds: ReadonlyArray<Change> = [
  (view) => adding(creditOf("a"), creditOf("b", { amount: "0.01" }))(view),
  (view, round) => adding(creditOf("a"), supplyCharge, supplyCharge, creditOf(`c${round}`))(view),
  (_, round) => ({ notes: [{ body: `b${round}`, created_at: changedAt }] }),
  (_, round) => ({
    notes: [noteWith("a.pdf"), noteWith("b.pdf")],
    statements: [mayStatement(`s${round}`, { statement_path: "b.pdf" })],
    documents: new Map([
      ["a.pdf", stored(1)],
      ["b.pdf", stored(2)]
    ])
  }),
  (view) => ({ instruction: view.instruction === null ? card : null }),
  (view, round) => ({
    ...adding(creditOf(`d${round}`))(view),
    notes: [{ body: "b", created_at: changedAt }],
    statements: [mayStatement(`s${round}`)],
    instruction: view.instruction === null ? card : null
  })
]

/** The lookup of the requests; its result does not matter here. */
const lookup: Lookup = {
  notes: [{ body: "b0" }, noteOf({ document_paths: [{ document_path: "a.pdf" }] })],
  transactionIds: idsOf([creditOf("a"), creditOf("b")]),
  statementIds: [mayStatement("s0").statement_id]
}

/** The content of the account, with placeholders for its number and key. */
const contentOf = Effect.fnUntraced(function* ({ key, number }: Imported) {
  const text = JSON.stringify(yield* descriptionOf(number))
  return text
    .replaceAll(number, "NUMBER")
    .replaceAll(key.external_account_number, "EXTERNAL")
    .replaceAll(key.import_supplier, "SUPPLIER")
})

/** Declares the tests of concurrent changes. */
export const accountsAtOnceContract = (it: It): void => {
  it.effect("add a transaction once if several requests send it", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const transaction = creditOf("a")
      const id = transaction.transaction_id
      const saw = yield* atOnce(account, concurrency, { transactionIds: [id] }, (view) =>
        view.transactions.has(id) ? {} : adding(transaction)(view)
      )
      const first = saw.filter((view) => Option.getOrThrow(view).transactions.size === 0)
      expect(first).toHaveLength(1)
      const { balance, transactions: described } = yield* descriptionOf(account.number)
      expect([described.length, balance]).toEqual([1, "10.00"])
      const { audit, events } = yield* tracesOf(account.key)
      const outcomes = audit.flatMap(({ action, outcome }) =>
        action === "create_notes" ? [outcome] : []
      )
      expect(outcomes).toEqual(["created", "unchanged"])
      expect(events.filter(({ name }) => name.includes("post_import"))).toHaveLength(1)
    })
  )

  it.effect("add one instruction if several requests send different ones", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      yield* atOnce(account, concurrency, {}, (view, index) => {
        if (view.instruction !== null) return {}
        const instruction = { ...card.instruction, reference: `pm_${index}` }
        return { instruction: { ...card, instruction } }
      })
      const { payment_instructions: described } = yield* descriptionOf(account.number)
      expect(described).toHaveLength(1)
      const { instruction: active } = yield* viewOf(account.key, {})
      expect(described[0]).toMatchObject({ ...active })
    })
  )

  it.effect("make the balance the sum of all additions", () =>
    Effect.gen(function* () {
      const account = yield* imported(accountWith({ transfer_balance: "-0.07" }))
      const list = Array.from({ length: 50 }, (_, index) =>
        creditOf(`t${index}`, {
          amount: `${index}.0${index % 10}`,
          type: index % 3 === 0 ? "CHARGE" : "CREDIT"
        })
      )
      yield* atOnce(account, list.length, {}, (view, index) =>
        adding(...list.slice(index, index + 1))(view)
      )
      const { balance } = yield* viewOf(account.key, {})
      const cents = list.reduce((total, { amount, type }) => {
        const { value } = BigDecimal.scale(amount, 2)
        return type === "CREDIT" ? total + value : total - value
      }, -7n)
      expect(BigDecimal.scale(balance, 2).value).toBe(cents)
      const { transactions: described } = yield* descriptionOf(account.number)
      expect(described.map((each) => each["transaction_id"]).toSorted()).toEqual(
        idsOf(list).toSorted()
      )
    })
  )

  it.effect("of many kinds on many accounts store what each would store alone", () =>
    Effect.gen(function* () {
      const changed = Effect.fnUntraced(function* (account: Imported, kind: number) {
        for (const round of [0, 1]) {
          yield* changeAccount(account, (view) => kinds[kind]?.(view, round) ?? {}, { lookup })
        }
      })
      const alone = yield* Effect.forEach(kinds, (_, kind) =>
        Effect.gen(function* () {
          const account = yield* imported(withNote)
          yield* changed(account, kind)
          return yield* contentOf(account)
        })
      )
      const accounts = yield* Effect.forEach(
        Array.from({ length: concurrency }, (_, index) => index % kinds.length),
        (kind) => Effect.map(imported(withNote), (account) => ({ account, kind }))
      )
      yield* Effect.forEach(accounts, ({ account, kind }) => changed(account, kind), {
        concurrency: "unbounded"
      })
      for (const { account, kind } of accounts) {
        expect(yield* contentOf(account), `kind ${kind}`).toEqual(alone[kind])
      }
    })
  )
}
