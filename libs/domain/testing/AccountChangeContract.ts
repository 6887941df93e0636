/** Atomic changes of an account: one part of the contract of `Accounts`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditAction, AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { twoDecimals } from "../src/schema/Decimal.ts"
import { StatementId } from "../src/accounts/Statement.ts"
import { encodeTransaction } from "../src/accounts/Transaction.ts"
import { strangers } from "./AccountViewContract.ts"
import { expectSame, noonPlus } from "./freshNames.ts"
import { auditEntry, tracesOf } from "./importStates.ts"
import { pause } from "./PausedSupplierContract.ts"
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
  normalized,
  viewOf
} from "./importedAccounts.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

const ofPausedSupplier = (it: It): void => {
  it.effect("refuses a change while the supplier is not Ongoing", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const before = yield* descriptionOf(account.number)
      yield* pause(account.key.import_supplier)
      const refused = yield* Effect.flip(changeAccount(account, adding(creditOf("a"))))
      expect(refused).toMatchObject({ _tag: "MigrationNotOngoing", status: "Paused" })
      expectSame(yield* descriptionOf(account.number), before)
    })
  )
}

const together = (it: It): void => {
  it.effect("stores a whole change, and the next change reads it", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const statement = mayStatement("s")
      yield* changeAccount(account, (view) => ({
        ...adding(creditOf("a"))(view),
        notes: [{ body: "n", created_at: changedAt }],
        statements: [statement],
        instruction: card
      }))
      const lookup = {
        notes: [noteOf({ body: "n" })],
        transactionIds: idsOf([creditOf("a"), creditOf("b")]),
        statementIds: [statement.statement_id]
      }
      const viewed = normalized(yield* viewOf(account.key, lookup))
      expectSame(viewed.noteTimes, [changedAt])
      expect(viewed).toMatchObject({
        balance: "10.00",
        instruction: card.instruction,
        transactions: [{ id: "a" }],
        statements: [{ id: "s" }]
      })
      const saw = yield* changeAccount(account, () => ({}), { lookup })
      expectSame(normalized(Option.getOrThrow(saw)), viewed, "what decides sees what is viewed")
    })
  )

  it.effect("adds a repeated id as a separate entry, and lookups return the first one", () =>
    Effect.gen(function* () {
      const first = creditOf("a", { amount: "1.00" })
      const account = yield* imported(
        accountWith({
          ledgers: [{ ledger_code: "L", current_statement_transactions: [{ ...first, amount: 1 }] }]
        })
      )
      yield* changeAccount(account, adding(creditOf("a", { amount: "2.00" }), creditOf("b")))
      yield* changeAccount(account, adding(creditOf("a", { amount: "4.00" })))
      const { balance, transactions: found } = yield* viewOf(account.key, {
        transactionIds: idsOf([first])
      })
      expect([...found.values()].map((each) => encodeTransaction(each))).toEqual([
        encodeTransaction(first)
      ])
      expect(twoDecimals(balance)).toBe("17.00")
      const description = yield* descriptionOf(account.number)
      expect(
        description.transactions.map(({ amount, transaction_id }) => [transaction_id, amount])
      ).toEqual([
        ["a", "1.00"],
        ["a", "2.00"],
        ["b", "10.00"],
        ["a", "4.00"]
      ])
    })
  )

  it.effect("completes statements, and leaves those of the payload as they were sent", () =>
    Effect.gen(function* () {
      const account = yield* imported(accountWith({ statements: [mayStatement("p")] }))
      yield* changeAccount(account, () => ({ statements: [mayStatement("a")] }))
      const whole = (id: string) =>
        mayStatement(id, { number: `N-${id}`, statement_path: "2025/05.pdf" })
      const found = { size: 7, etag: null, checksum: null }
      yield* changeAccount(account, () => ({
        statements: [whole("p"), mayStatement("b")],
        completedStatements: [whole("a")],
        documents: new Map([["2025/05.pdf", found]])
      }))
      const { statements } = yield* viewOf(account.key, {
        statementIds: ["p", "a", "b"].map((id) => StatementId.make(id))
      })
      expectSame(
        statements,
        new Map(
          [whole("p"), whole("a"), mayStatement("b")].map((statement) => [
            statement.statement_id,
            { origin: "historical_statements" as const, statement }
          ])
        )
      )
      const { statements: described } = yield* descriptionOf(account.number)
      expect(
        described.map(({ number, origin, statement_id }) => [origin, statement_id, number])
      ).toEqual([
        ["account_payload", "p", null],
        ["historical_statements", "a", "N-a"],
        ["historical_statements", "p", "N-p"],
        ["historical_statements", "b", null]
      ])
    })
  )
}

const recording = (it: It): void => {
  const actions: ReadonlyArray<AuditAction> = [
    "create_notes",
    "create_transactions",
    "create_historical_statements",
    "create_payment_instruction"
  ]

  it.effect.each(actions)("records a change with an event, and no change without: %s", (action) =>
    Effect.gen(function* () {
      const account = yield* imported()
      const before = yield* tracesOf(account.key)
      yield* changeAccount(account, adding(creditOf("a")), { action })
      const described = yield* descriptionOf(account.number)
      const answer = yield* changeAccount(account, () => ({}), { action })
      expect(Option.isSome(answer)).toBe(true)
      expect(yield* descriptionOf(account.number)).toEqual(described)
      const written = ["created", "unchanged"].map((outcome) =>
        auditEntry(account.caller, changedAt, action, outcome)
      )
      const name = "data_import.import_process.post_import.completed-v1"
      expectSame(yield* tracesOf(account.key), {
        ...before,
        audit: [...before.audit, ...written],
        events: [...before.events, { at: changedAt, name, codes: [] }]
      })
    })
  )
}

const refusing = (it: It): void => {
  it.effect("stores nothing if the decision fails, and fails with the same error", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { caller, key, number } = yield* imported()
      const before = { traces: yield* tracesOf(key), account: yield* descriptionOf(number) }
      const failed = yield* Effect.flip(
        accounts.change({
          key,
          lookup: { notes: [noteOf({ body: "a" })] },
          decide: ({ number: seenNumber }) => Result.fail(`no, ${seenNumber}`),
          action: "create_notes",
          caller,
          at: changedAt
        })
      )
      expect(failed).toBe(`no, ${number}`)
      const after = { traces: yield* tracesOf(key), account: yield* descriptionOf(number) }
      expectSame(after, before)
    })
  )
}

const endingInstructions = (it: It): void => {
  const another = { ...card, instruction: { ...card.instruction, reference: "pm_2" } }
  const endAt = noonPlus(90)

  it.effect("ends the active instruction once, and keeps its record", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { caller, key, number } = yield* imported()
      yield* changeAccount({ caller, key }, () => ({ instruction: card }))
      const before = yield* tracesOf(key)
      const end = accounts.endInstruction({ key, caller, at: endAt })
      expect(yield* end).toBe(true)
      const entry = auditEntry(caller, endAt, "end_payment_instruction", "ended")
      const after = { ...before, audit: [...before.audit, entry] }
      expectSame(yield* tracesOf(key), after)
      expect((yield* viewOf(key, {})).instruction).toBeNull()
      expect(yield* end).toBe(false)
      expectSame(yield* tracesOf(key), after)
      expect((yield* descriptionOf(number)).payment_instructions).toMatchObject([
        { ...card.instruction, ended_at: "2026-01-01T12:01:30Z" }
      ])
    })
  )

  it.effect("allows a new instruction after one ended, and ends only the new one", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { caller, key, number } = yield* imported()
      const end = (seconds: number) =>
        accounts.endInstruction({ key, caller, at: noonPlus(seconds) })
      yield* changeAccount({ caller, key }, () => ({ instruction: card }))
      yield* end(90)
      yield* changeAccount({ caller, key }, () => ({ instruction: another }))
      expect((yield* viewOf(key, {})).instruction).toEqual(another.instruction)
      yield* end(120)
      const { payment_instructions } = yield* descriptionOf(number)
      expect(payment_instructions.map((each) => [each["reference"], each["ended_at"]])).toEqual([
        ["pm_1", "2026-01-01T12:01:30Z"],
        ["pm_2", "2026-01-01T12:02:00Z"]
      ])
    })
  )

  it.effect("ends nothing without an active instruction or on another account", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { caller, key } = yield* imported()
      const other = yield* imported()
      yield* changeAccount(other, () => ({ instruction: card }))
      const before = [yield* tracesOf(key), yield* tracesOf(other.key)]
      for (const nobody of [key, ...strangers(key), ...strangers(other.key)]) {
        const ended = yield* accounts.endInstruction({ key: nobody, caller, at: endAt })
        expect(ended, JSON.stringify(nobody)).toBe(false)
      }
      expectSame([yield* tracesOf(key), yield* tracesOf(other.key)], before)
      expect((yield* viewOf(other.key, {})).instruction).toEqual(card.instruction)
    })
  )

  it.effect("ends an instruction once under concurrent requests", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { caller, key } = yield* imported()
      yield* changeAccount({ caller, key }, () => ({ instruction: card }))
      const end = accounts.endInstruction({ key, caller, at: endAt })
      const many = Array.from({ length: 8 }, () => end)
      const ended = yield* Effect.all(many, { concurrency: "unbounded" })
      expect(ended.filter(Boolean)).toHaveLength(1)
    })
  )
}

/** Declares the tests of `change` as a transaction, and of ending instructions. */
export const accountChangeContract = (it: It): void => {
  ofPausedSupplier(it)
  together(it)
  recording(it)
  refusing(it)
  endingInstructions(it)
}
