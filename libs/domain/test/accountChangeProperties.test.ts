/**
 * Properties of any requests in any order: the account is the same in the end, its balance is the
 * sum, and repeated requests change nothing.
 */
import { describe, expect, it } from "@effect/vitest"
import { BigDecimal, Result } from "effect"
import fc from "fast-check"
import { type AccountView, isEmpty } from "../src/accounts/AccountChange.ts"
import { formatInstant } from "../src/schema/Field.ts"
import type { Note } from "../src/accounts/Note.ts"
import { relativePath } from "../src/schema/DocumentPath.ts"
import type { HistoricalStatement } from "../src/accounts/Statement.ts"
import { decideStatements } from "../src/additions/StatementImport.ts"
import { encodeTransaction, type Transaction } from "../src/accounts/Transaction.ts"
import {
  decideTransactions,
  type TransactionImportOptions
} from "../src/additions/TransactionImport.ts"
import {
  accountWith,
  afterAll,
  afterChange,
  dayOf,
  decideNotesOn,
  instantOf,
  type ModelAccount,
  moneyOf,
  noteOf,
  statementOf,
  transactionOf
} from "./accountModel.ts"

const cents = fc.integer({ min: 1, max: 999_999_999_999 })
const money = (value: number | bigint): string => {
  const digits = String(value).replace("-", "").padStart(3, "0")
  return `${value < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const day = fc
  .integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2027, 0, 1) })
  .map((time) => dayOf(new Date(time).toISOString().slice(0, 10)))

const types = ["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"] as const

/** A transaction with its effect on a balance in cents, computed independently of the amount. */
const movement = (id: string) =>
  fc
    .record({
      date: day,
      value: cents,
      type: fc.constantFrom(...types),
      display_note: fc.option(fc.string({ maxLength: 20 }), { nil: undefined })
    })
    .map(({ date, display_note, type, value }) => ({
      transaction: transactionOf({
        transaction_id: id,
        transaction_date: date,
        amount: money(value),
        type,
        ...(display_note === undefined ? {} : { display_note: display_note.replaceAll("\0", "") })
      }),
      effect: type === "CREDIT" || type === "PAYMENT" ? BigInt(value) : -BigInt(value)
    }))

/** Different transactions, and requests that each send some of them, none twice. */
const movementsInRequests = fc
  .integer({ min: 1, max: 8 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => movement(`t${index}`))))
  .chain((movements) =>
    fc.record({
      movements: fc.constant(movements),
      requests: fc.array(fc.subarray(movements, { minLength: 1 }), { minLength: 1, maxLength: 6 }),
      shuffled: fc.integer()
    })
  )

const options: TransactionImportOptions = {
  checkPreviouslyAdded: true,
  forceAddToCurrentStatement: true,
  onDifference: "keep" as const,
  today: dayOf("2026-01-15"),
  now: instantOf("2026-01-15T12:00:00Z")
}

/** The opening of an account: a balance in cents and a closing date. */
const opening = fc.record({
  balance: fc.integer({ min: -999_999_999_999, max: 999_999_999_999 }),
  lastClosingDate: fc.option(day.filter((date) => date <= options.today))
})

const accountOf = ({
  balance,
  lastClosingDate
}: {
  readonly balance: number
  readonly lastClosingDate: AccountView["lastClosingDate"]
}) => accountWith({ balance: moneyOf(money(balance)), lastClosingDate })

/** A balance in cents; it has no fraction of a cent. */
const centsOf = (balance: BigDecimal.BigDecimal): bigint => {
  const exact = BigDecimal.scale(balance, 2)
  expect(BigDecimal.equals(exact, balance), "no fraction of a cent").toBe(true)
  return exact.value
}

/**
 * The lines of all notes. The split into notes depends on the requests, so lines are compared.
 */
const linesOf = ({ notes }: ModelAccount) =>
  notes.flatMap(({ body }) => (body ?? "").split("\n").slice(1)).toSorted()

const transactionsOf = ({ transactions }: AccountView) =>
  [...transactions.values()]
    .map((transaction) => encodeTransaction(transaction))
    .toSorted((a, b) => (a.transaction_id < b.transaction_id ? -1 : 1))

const turned = <A>(list: ReadonlyArray<A>, by: number): ReadonlyArray<A> => {
  const start = Math.abs(by) % list.length
  const turnedList = [...list.slice(start), ...list.slice(0, start)]
  return by < 0 ? turnedList.toReversed() : turnedList
}

describe("transactions", () => {
  const decide = (request: ReadonlyArray<{ readonly transaction: Transaction }>) =>
    decideTransactions(
      request.map(({ transaction }) => transaction),
      options
    )

  it("yield the same account for any order and repetition of requests", () => {
    fc.assert(
      fc.property(movementsInRequests, opening, ({ requests, shuffled }, open) => {
        const decisions = requests.map(decide)
        const once = afterAll(accountOf(open), decisions)
        const often = afterAll(accountOf(open), turned([...decisions, ...decisions], shuffled))
        expect(transactionsOf(often)).toEqual(transactionsOf(once))
        expect(centsOf(often.balance)).toBe(centsOf(once.balance))
        expect(linesOf(often)).toEqual(linesOf(once))
      })
    )
  })

  it("make the balance the exact sum of the opening balance and all additions", () => {
    fc.assert(
      fc.property(movementsInRequests, opening, ({ movements, requests }, open) => {
        const account = afterAll(accountOf(open), requests.map(decide))
        const sent = movements.filter((each) => requests.some((request) => request.includes(each)))
        const sum = sent.reduce((total, { effect }) => total + effect, BigInt(open.balance))
        expect(centsOf(account.balance)).toBe(sum)
      })
    )
  })
})

const noteAt = (time: string | null) =>
  fc
    .oneof(
      fc.constantFrom("a", "b", "c").map((body) => ({ body })),
      fc
        .subarray(["x", "y", "/x"], { minLength: 1 })
        .map((paths) => ({ document_paths: paths.map((document_path) => ({ document_path })) }))
    )
    .map((values) => noteOf(time === null ? values : { ...values, created_at: time }))

const timed = fc.constantFrom("2025-01-01T00:00:00Z", "2025-01-01T00:00:01Z").chain(noteAt)

describe("notes", () => {
  const now = instantOf("2026-01-15T12:00:00.500Z")
  const decide = (notes: ReadonlyArray<Note>) => decideNotesOn(notes, new Map(), now)
  const contentsOf = ({ notes }: ModelAccount) =>
    notes
      .map(({ body, created_at, document_paths = [] }) =>
        JSON.stringify([
          body ?? document_paths.map(({ document_path }) => document_path.replace(/^\//, "")),
          formatInstant(created_at)
        ])
      )
      .toSorted()

  it.each([
    ["with a time", timed],
    ["without one", noteAt(null)]
  ])("%s yield the same account for any order and repetition", (_name, note) => {
    const requests = fc.array(fc.array(note, { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 6
    })
    fc.assert(
      fc.property(requests, fc.integer(), (sent, by) => {
        const decisions = sent.map(decide)
        const once = contentsOf(afterAll(accountWith(), decisions))
        const often = afterAll(accountWith(), turned([...decisions, ...decisions], by))
        expect(contentsOf(often)).toEqual(once)
        expect(new Set(once).size, "each once").toBe(once.length)
      })
    )
  })
})

/** Some fields of one statement of a few, which agree with each other but for the numbers. */
const someStatement = fc
  .record({
    id: fc.constantFrom("1", "2", "3"),
    number: fc.option(fc.constantFrom("N-1", "N-2"), { nil: undefined }),
    hasAmount: fc.boolean(),
    path: fc.option(fc.constantFrom("s.pdf", "/s.pdf"), { nil: undefined })
  })
  .map(({ hasAmount, id, number, path }) =>
    statementOf({
      statement_id: id,
      bill_period_from_date: `2025-0${id}-01`,
      bill_period_to_date: `2025-0${id}-28`,
      ...(hasAmount && { gross_amount: `${id}.50` }),
      ...(number !== undefined && { number }),
      ...(path !== undefined && { statement_path: path })
    })
  )

const statementsOfRequest = fc.uniqueArray(someStatement, {
  minLength: 1,
  selector: ({ statement_id }) => statement_id
})

/** The fields of a statement, with its path as it is compared. */
const shownBy = ({ gross_amount, statement_path, ...statement }: HistoricalStatement) => ({
  ...statement,
  ...(gross_amount && { gross_amount: BigDecimal.format(gross_amount) }),
  ...(statement_path && { statement_path: relativePath(statement_path) })
})

describe("statements", () => {
  it("that an answer shows are on the account with all that it shows, and stay there", () => {
    fc.assert(
      fc.property(fc.array(statementsOfRequest, { maxLength: 6 }), (requests) => {
        let account = accountWith()
        const acknowledged: Array<HistoricalStatement> = []
        for (const request of requests) {
          const decided = decideStatements(request, new Map())(account)
          if (Result.isSuccess(decided)) {
            account = afterChange(account, decided.success.change)
            acknowledged.push(...request)
          }
          for (const statement of acknowledged) {
            const there = account.statements.get(statement.statement_id)
            expect(there && shownBy(there.statement)).toMatchObject(shownBy(statement))
            const again = decideStatements([statement], new Map())(account)
            expect(isEmpty(Result.getOrThrow(again).change), "a retry is safe").toBe(true)
          }
        }
      })
    )
  })
})
