/**
 * Transactions that cannot be added as they are, and the parameters that decide what happens to
 * them.
 */
import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { businessDay, TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import { dayOf, nextDay } from "@data-import/domain/schema/Field"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { transactionsPayload } from "@data-import/domain/testing/samples"
import { get, put } from "@data-import/domain/testing/wire"
import { auditTables, tablesBut } from "@data-import/postgres/testing/rows"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { addTransactions, bareAccountOf, importedAccount, service } from "./postImportService.ts"

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

const dataOf = ({ json }: { readonly json: unknown }, index: number) =>
  get(json, `results.${index}.transaction_data`)

const today = Effect.map(DateTime.now, dayOf)

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

  describe("its bounds", () => {
    it.effect("are its first day and today, both inclusive", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const before = yield* today
        const reply = yield* addTransactions(account, [
          creditOf("1", "2025-02-28"),
          creditOf("2", opening),
          creditOf("3", before),
          creditOf("4", "9999-12-31")
        ])
        const after = yield* today
        const dates = [0, 1, 2, 3].map((index) => get(dataOf(reply, index), "transaction_date"))
        expect(dates.slice(0, 3)).toEqual([opening, opening, before])
        expect([before, after]).toContain(dates[3])
        const notes = [0, 1, 2, 3].map((index) => get(dataOf(reply, index), "display_note"))
        expect(notes).toEqual([
          sentence("2025-02-28"),
          undefined,
          undefined,
          sentence("9999-12-31")
        ])
      })
    )

    it.effect("are those of the ledger that was closed last", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount((key: ImportKey) => ({
          ...bareAccountOf(key),
          ledgers: ["2025-01-31", "2025-06-30", null].map((date, index) => ({
            ledger_code: `L${index}`,
            ...(date !== null && { last_statement_closing_date: date })
          }))
        }))
        const reply = yield* addTransactions(account, [creditOf("1", "2025-06-30")])
        expect(dataOf(reply, 0)).toMatchObject({ transaction_date: "2025-07-01" })
      })
    )
  })

  it.effect.each(["Pacific/Kiritimati", "Pacific/Pago_Pago"] as const)(
    "ends on the day that it is in %s, where that is the supplier's time zone",
    (name) =>
      Effect.gen(function* () {
        const timeZone = TimeZone.make(name)
        const day = Effect.map(DateTime.now, (now) => businessDay(now, timeZone))
        const account = yield* importedAccount(bareAccountOf, { timeZone })
        const before = yield* day
        const reply = yield* addTransactions(account, [creditOf("1", "9999-12-31")])
        expect([before, yield* day]).toContain(get(dataOf(reply, 0), "transaction_date"))
        const late = nextDay(nextDay(before))
        const refused = yield* addTransactions(account, [creditOf("2", late)], unforced)
        expect(errorsOf(refused)).toEqual(["transaction_outside_open_period"])
        const added = yield* addTransactions(account, [creditOf("3", before)], unforced)
        expect(dataOf(added, 0)).toMatchObject({ transaction_date: before })
      })
  )

  describe("what cannot be added", () => {
    const inside = creditOf("in", "2025-05-05")
    const anyDay = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)
    const supplyCharge = transactionsPayload().transactions[2]
    const requests = {
      "a date before, not to be moved": {
        sent: [inside, creditOf("out", "2025-02-28"), inside, creditOf("late", "9999-01-01")],
        query: unforced,
        code: "transaction_outside_open_period",
        failing: 1,
        says: /2025-02-28.*2025-03-01/
      },
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
      },
      "an id twice, though ids are not checked": {
        sent: [inside, inside],
        query: `?${check}=false`,
        code: "duplicate_transaction_ids",
        failing: 1,
        says: /\bin\b/
      },
      "an id twice that was added earlier": {
        sent: [creditOf("NL-T-1004", "2025-05-05"), creditOf("NL-T-1004", "2025-05-05")],
        query: "",
        code: "duplicate_transaction_ids",
        failing: 1,
        says: /NL-T-1004/
      },
      "a supply charge with all its items": {
        sent: [put({ ...supplyCharge }, "transaction_date", "2024-05-31")],
        query: unforced,
        code: "transaction_outside_open_period",
        failing: 0,
        says: /2024-05-31/
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

  describe("the parameters", () => {
    it.effect.each([
      ["", 201],
      ["?", 201],
      [`?${force}=true`, 201],
      [`?${force}=TRUE&${check}=False`, 201],
      [`?${force}=%74rue`, 201],
      [`?${force}=false`, 400],
      [`?${force}=FALSE&${check}=true`, 400]
    ] as const)("%s decide on a date outside with a %i", ([query, status]) =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const reply = yield* addTransactions(account, [creditOf("1", "2025-01-01")], query)
        expect(reply.status).toBe(status)
      })
    )

    const invalid = (...names: ReadonlyArray<string>) => names.map((name) => `${name}: invalid`)
    const unknown = (...names: ReadonlyArray<string>) =>
      names.map((name) => `${name}: unknown_parameter`)
    const malformed: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      [`?${force}=`, invalid(force)],
      [`?${force}`, invalid(force)],
      [`?${force}=1`, invalid(force)],
      [`?${force}=yes&${check}=no`, invalid(check, force)],
      [`?${check}=true&${check}=true`, invalid(check)],
      [`?${check}=%20true`, invalid(check)],
      [`?${check}=null&${force}=%00`, invalid(check, force)],
      [`?${check}[]=true&${check}=[true]`, [...invalid(check), ...unknown(`${check}[]`)]],
      ["?force=false&x=%ff", unknown("force", "x")],
      [`?Force_add_to_current_statement=false`, unknown("Force_add_to_current_statement")]
    ]
    it.effect.each(malformed)(
      "%s are refused by name, together with what is wrong in the body",
      ([query, places]) =>
        Effect.gen(function* () {
          const account = yield* importedAccount()
          const sound = yield* addTransactions(account, [creditOf("1", "2025-05-05")], query)
          expect(sound.status).toBe(400)
          expect(errorsOf(sound)).toEqual(["request_failed_validation", ...places])
          const broken = yield* addTransactions(account, [{ ...creditOf("1", "") }, null], query)
          expect(errorsOf(broken)).toEqual([
            "request_failed_validation",
            ...places,
            "transactions.0.transaction_date: blank",
            "transactions.1: null"
          ])
          expect((yield* descriptionOf(account.number)).balance).toBe("50.00")
        })
    )
  })
})
