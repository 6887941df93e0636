/**
 * Transactions that cannot be added as they are, and the parameters that decide what happens to
 * them.
 */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { auditTables, tablesBut } from "@data-import/postgres/testing/rows"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { addTransactions, importedAccount, service } from "./postImportService.ts"

const force = "force_add_to_current_statement"
const check = "check_previously_added"
const unforced = `?${force}=false`

/** The day after the sample account's ledger was closed. */
const opening = "2025-03-01"

const creditOf = (id: string, date: string, values: object = {}) => ({
  transaction_id: id,
  transaction_date: date,
  amount: 10,
  type: "CREDIT",
  ...values
})

const sentence = (date: string) => `Moved into the open statement period; originally dated ${date}.`

layer(service, { excludeTestServices: true })("the open statement period", (it) => {
  describe("a transaction dated before it", () => {
    it.effect("is moved to its first day, which the customer and the agents can see", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const before = yield* descriptionOf(account.number)
        const moved = creditOf("M", "2025-02-28", { display_note: "Goodwill", note: "internal" })
        const reply = yield* addTransactions(account, [moved])
        const stored = {
          ...moved,
          amount: "10.00",
          transaction_date: opening,
          display_note: `Goodwill ${sentence("2025-02-28")}`
        }
        expect(reply.status).toBe(201)
        expect(reply.json).toStrictEqual({
          results: [{ status: "TRANSACTION_ADDED_TO_ACCOUNT", transaction_data: stored }]
        })
        const { balance, notes, transactions } = yield* descriptionOf(account.number)
        expect(balance).toBe("60.00")
        expect(transactions.at(-1)).toEqual({
          ...stored,
          ledger_code: null,
          moved_from_date: "2025-02-28"
        })
        expect(notes.slice(before.notes.length)).toEqual([
          {
            body: expect.stringMatching(/\bM: 2025-02-28 to 2025-03-01\b/),
            created_at: expect.any(String),
            documents: [],
            is_pinned: true,
            unpin_at: null
          }
        ])
      })
    )
  })

  describe("what cannot be added", () => {
    const inside = creditOf("in", "2025-05-05")
    const anyDay = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)
    const requests = {
      "a date in the future, not to be moved": {
        sent: [inside, creditOf("late", "9999-01-01")],
        query: unforced,
        code: "transaction_outside_open_period",
        failing: 1,
        says: /9999-01-01/,
        parameters: { limit: anyDay, business_day: anyDay }
      },
      "an id twice": {
        sent: [
          inside,
          creditOf("x", "2025-05-05"),
          { ...inside, amount: 20 },
          creditOf("x", opening)
        ],
        query: "",
        code: "duplicate_transaction_ids",
        failing: 2,
        says: /\bin\b/
      }
    }
    it.effect.each(Object.entries(requests))(
      "has a body of its own, and nothing of the request is stored: %s",
      ([, { code, failing, query, says, sent, ...more }]) =>
        Effect.gen(function* () {
          const account = yield* importedAccount()
          const stored = yield* tablesBut(...auditTables)
          const reply = yield* addTransactions(account, sent, query)
          expect(reply.status).toBe(400)
          const { amount, ...rest } = sent[failing] as { readonly amount: number }
          expect(reply.json).toStrictEqual({
            status: "TRANSACTION_IMPORT_ERROR",
            code,
            error_detail: expect.stringMatching(says),
            ...more,
            transaction_data: { ...rest, amount: amount.toFixed(2) }
          })
          expect(yield* tablesBut(...auditTables)).toEqual(stored)
          expect((yield* recordOf(account.key)).audit.at(-1)).toBe(`create_transactions ${code}`)
        })
    )
  })

  it.effect(
    "is not looked at if the parameters are invalid, which is told with the body's errors",
    () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const query = `?${check}=null&${force}&x=%ff`
        const reply = yield* addTransactions(account, [{ ...creditOf("1", "") }, null], query)
        expect([reply.status, ...errorsOf(reply)]).toEqual([
          400,
          "request_failed_validation",
          `${check}: invalid`,
          `${force}: invalid`,
          "x: unknown_parameter",
          "transactions.0.transaction_date: blank",
          "transactions.1: null"
        ])
      })
  )
})
