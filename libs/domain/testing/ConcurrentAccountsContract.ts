/** How an account is changed by many at once: one part of the contract of `Accounts`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { BigDecimal, Effect, Option } from "effect"
import type { Accounts } from "../src/ports/Accounts.ts"
import type { AuditLog } from "../src/ports/AuditLog.ts"
import type { ImportProcesses } from "../src/ports/ImportProcesses.ts"
import type { Configuration } from "../src/ports/Configuration.ts"
import type { AccountChange, AccountView, Lookup } from "../src/account/AccountChange.ts"
import { twoDecimals } from "../src/schema/Decimal.ts"
import { times } from "./freshNames.ts"
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
  viewOf,
  type Whose
} from "./importedAccounts.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

const concurrency = 32

/** Changes the account so often at once; answers what each of them saw. */
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

/** Declares the tests of `change` by many. */
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
      expect(outcomes).toEqual(["created", ...times(concurrency - 1, "unchanged")])
      expect(events.filter(({ name }) => name.includes("post_import"))).toHaveLength(1)
    })
  )

  it.effect("add a note and a statement once if several requests send them", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const statement = mayStatement("s")
      const lookup = { notes: [{ body: "a" }], statementIds: [statement.statement_id] }
      yield* atOnce(account, concurrency, lookup, ({ noteTimes, statements }) => ({
        notes: noteTimes[0] === null ? [{ body: "a", created_at: changedAt }] : [],
        statements: statements.size === 0 ? [statement] : []
      }))
      const { notes, statements } = yield* descriptionOf(account.number)
      expect([notes.length, statements.length]).toEqual([1, 1])
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

  it.effect("on many accounts are independent", () =>
    Effect.gen(function* () {
      const accounts = yield* Effect.all(Array.from({ length: 8 }, () => imported()))
      yield* Effect.forEach(
        accounts.flatMap((account) => times(4, account).map((each, index) => ({ each, index }))),
        ({ each, index }) => changeAccount(each, adding(creditOf(`t${index}`))),
        { concurrency: "unbounded" }
      )
      for (const { key } of accounts) {
        expect(twoDecimals((yield* viewOf(key, {})).balance)).toBe("40.00")
      }
    })
  )
}
