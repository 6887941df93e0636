/** Concurrent requests for one account: in any order, each item is stored once. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply } from "@data-import/api/testing/Client"
import { hex } from "@data-import/domain/testing/freshNames"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { errorsOf, persistently } from "@data-import/server/testing/RunningService"
import {
  addInstruction,
  addNotes,
  addTransactions,
  bareAccountOf,
  importedAccount,
  names,
  sendSample,
  service
} from "./postImportService.ts"

const together = { concurrency: "unbounded" } as const

const creditOf = (id: string, values: object = {}) => ({
  transaction_id: id,
  transaction_date: "2025-05-05",
  amount: 0.1,
  type: "CREDIT",
  ...values
})

/** How many elements of the answers have this status. */
const count = (replies: ReadonlyArray<Reply>, status: string) =>
  replies.reduce((sum, { text }) => sum + text.split(`"status":"${status}"`).length - 1, 0)

const statusesOf = (replies: ReadonlyArray<Reply>) => [...new Set(replies.map((it) => it.status))]

layer(service, { excludeTestServices: true })("concurrently", (it) => {
  describe("thirty-two equal requests", () => {
    it.effect("add each transaction once, and move the balance once", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const replies = yield* Effect.all(
          Array.from({ length: 32 }, () => persistently(sendSample("transactions", account))),
          together
        )
        expect(statusesOf(replies)).toEqual([201])
        expect(count(replies, "TRANSACTION_ADDED_TO_ACCOUNT")).toBe(5)
        expect(count(replies, "TRANSACTION_ALREADY_EXISTS")).toBe(31 * 5)
        const { balance, transactions } = yield* descriptionOf(account.number)
        expect(balance).toBe("125.00")
        expect(transactions).toHaveLength(7 + 5)
      })
    )

    it.effect("add each note once, and each answers the same times", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const replies = yield* Effect.all(
          Array.from({ length: 32 }, () => persistently(sendSample("notes", account))),
          together
        )
        expect(statusesOf(replies)).toEqual([201])
        expect(count(replies, "NOTE_CREATION_SUCCESS")).toBe(3)
        expect(count(replies, "NOTE_ALREADY_EXISTS")).toBe(31 * 3)
        const times = replies.map(({ json }) =>
          (json as ReadonlyArray<{ readonly created_at: string }>).map((line) => line.created_at)
        )
        expect(new Set(times.map((list) => list.join())).size).toBe(1)
        expect((yield* descriptionOf(account.number)).notes).toHaveLength(2 + 3)
      })
    )

    it.effect("add each statement and the instruction once", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const replies = yield* Effect.all(
          Array.from({ length: 32 }, (_, index) =>
            persistently(sendSample(index % 2 === 0 ? "statements" : "instruction", account))
          ),
          together
        )
        expect(statusesOf(replies)).toEqual([201])
        const described = yield* descriptionOf(account.number)
        expect(described.statements).toHaveLength(2 + 2)
        expect(described.payment_instructions).toHaveLength(1)
      })
    )

    it.effect("of every kind leave an event for each that stored something", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const before = yield* recordOf(account.key)
        const replies = yield* Effect.forEach(
          Array.from({ length: 32 }, (_, index) => names[index % 4] ?? "notes"),
          (name) => persistently(sendSample(name, account)),
          together
        )
        expect(statusesOf(replies)).toEqual([201])
        const { audit, events } = yield* recordOf(account.key)
        expect(events.slice(before.events.length)).toHaveLength(4)
        const outcomes = audit.slice(before.audit.length).map((entry) => entry.split(" ")[1])
        expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(4)
        expect(outcomes.filter((outcome) => outcome === "unchanged")).toHaveLength(4)
      })
    )
  })

  describe("different requests", () => {
    it.effect("add all of their transactions, and the balance is their sum", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const replies = yield* Effect.forEach(
          Array.from({ length: 32 }, (_, request) =>
            Array.from({ length: 25 }, (_, index) => creditOf(`${request} ${index}`))
          ),
          (transactions) => persistently(addTransactions(account, transactions)),
          together
        )
        expect(statusesOf(replies)).toEqual([201])
        const { balance, transactions } = yield* descriptionOf(account.number)
        expect(balance).toBe("80.00")
        expect(new Set(transactions.map((it) => it["transaction_id"])).size).toBe(800)
      })
    )

    it.effect("that overlap, in any order of ids, add each transaction once", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const ids = Array.from({ length: 60 }, (_, index) => `${index}`)
        const replies = yield* Effect.forEach(
          Array.from({ length: 30 }, (_, request) => {
            const some = [...ids.slice(request), ...ids.slice(0, request)].slice(0, 40)
            return request % 2 === 0 ? some : some.toReversed()
          }),
          (some) =>
            persistently(
              addTransactions(
                account,
                some.map((id) => creditOf(id))
              )
            ),
          together
        )
        expect(statusesOf(replies)).toEqual([201])
        expect(count(replies, "TRANSACTION_ADDED_TO_ACCOUNT")).toBe(60)
        expect((yield* descriptionOf(account.number)).balance).toBe("6.00")
      })
    )

    it.effect("that move transactions each pin a note about the ones they moved", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const before = yield* descriptionOf(account.number)
        const moved = Array.from({ length: 8 }, (_, index) =>
          creditOf(`M${index}`, { transaction_date: "2025-01-01" })
        )
        yield* Effect.forEach(
          [...moved, ...moved],
          (transaction) => persistently(addTransactions(account, [transaction])),
          together
        )
        const notes = (yield* descriptionOf(account.number)).notes.slice(before.notes.length)
        expect(notes).toHaveLength(8)
        for (const { transaction_id } of moved) {
          const body = expect.stringMatching(`:\n${transaction_id}: [^\n]*$`) as string
          expect(notes).toContainEqual(expect.objectContaining({ body }))
        }
      })
    )

    it.effect("for an instruction put one on the account and refuse the others", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const references = Array.from({ length: 20 }, () => `pm_${hex(12)}`)
        const replies = yield* Effect.forEach(
          references,
          (reference) => persistently(addInstruction(account, { reference })),
          together
        )
        const stored = replies.filter(({ status }) => status === 201)
        expect(stored).toHaveLength(1)
        for (const reply of replies.filter(({ status }) => status !== 201)) {
          expect([reply.status, ...errorsOf(reply)]).toEqual([
            400,
            "active_payment_instruction_exists"
          ])
        }
        const { payment_instructions } = yield* descriptionOf(account.number)
        expect(payment_instructions).toHaveLength(1)
        expect(stored[0]?.json).toMatchObject({
          reference: payment_instructions[0]?.["reference"]
        })
      })
    )

    it.effect("for several accounts of a supplier affect only their own account", () =>
      Effect.gen(function* () {
        const accounts = yield* Effect.all(
          Array.from({ length: 8 }, () => importedAccount(bareAccountOf)),
          together
        )
        yield* Effect.forEach(
          accounts.flatMap((account, index) => [
            persistently(addNotes(account, [{ body: `note ${index}` }])),
            persistently(addTransactions(account, [creditOf("1", { amount: index + 1 })]))
          ]),
          (adding) => adding,
          together
        )
        for (const [index, { number }] of accounts.entries()) {
          const { balance, notes } = yield* descriptionOf(number)
          expect(balance).toBe(`${index + 1}.00`)
          expect(notes.map((note) => note["body"])).toEqual([`note ${index}`])
        }
      })
    )
  })
})
