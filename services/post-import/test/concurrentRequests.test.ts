/** Concurrent requests for one account: in any order, each item is stored once. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply } from "@data-import/api/testing/Client"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { persistently } from "@data-import/server/testing/RunningService"
import {
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
  })
})
