/**
 * Which historical statements of a request are new, and which contradict an existing one.
 * Source: docs/contract/post-import.md#same-statements.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { AccountStatement } from "../src/accounts/AccountChange.ts"
import { HistoricalStatement } from "../src/accounts/Statement.ts"
import { decideStatements } from "../src/additions/StatementImport.ts"
import { accountWith, afterChange, statementOf } from "./accountModel.ts"

const full = {
  statement_id: "S1",
  bill_period_from_date: "2025-05-01",
  bill_period_to_date: "2025-05-31",
  issued_date: "2025-06-02",
  number: "2025-0001",
  gross_amount: "120.50",
  statement_path: "2025/05.pdf"
}
const short = {
  statement_id: "S1",
  bill_period_from_date: "2025-05-01",
  bill_period_to_date: "2025-05-31",
  statement_path: "2025/05.pdf"
}

const encode = Schema.encodeSync(HistoricalStatement)

const without = (values: object, field: string): object =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name !== field))

const account = (values: object, origin: AccountStatement["origin"]) => {
  const statement = statementOf(values)
  return accountWith({ statements: new Map([[statement.statement_id, { statement, origin }]]) })
}

const decided = (sent: ReadonlyArray<object>, there = accountWith()) =>
  decideStatements(
    sent.map((values) => statementOf(values)),
    new Map()
  )(there)

const added = "historical_statements"
const sentWithAccount = "account_payload"

/** A sent statement, the existing one, its origin, and what becomes of it. */
const comparisons: ReadonlyArray<
  [
    string,
    sent: object,
    there: object,
    AccountStatement["origin"],
    end: "kept" | "completed" | "refused"
  ]
> = [
  ["the same", full, full, added, "kept"],
  ["another amount", { ...full, gross_amount: 1 }, full, added, "refused"],
  ["the amount in another spelling", { ...full, gross_amount: 120.5 }, full, added, "kept"],
  ["no amount", without(full, "gross_amount"), full, added, "kept"],
  ["an amount of zero for none", { ...short, gross_amount: 0 }, short, added, "completed"],
  ["another number", { ...full, number: "2" }, full, added, "refused"],
  ["another day of issue", { ...full, issued_date: "2025-06-03" }, full, added, "refused"],
  ["another start", { ...full, bill_period_from_date: "2025-05-02" }, full, added, "refused"],
  ["another end", { ...full, bill_period_to_date: "2025-05-30" }, full, added, "refused"],
  ["a leading slash", { ...full, statement_path: "/2025/05.pdf" }, full, added, "kept"],
  ["another path", { ...full, statement_path: "2025/06.pdf" }, full, added, "refused"],
  ["a path for none", full, without(full, "statement_path"), added, "completed"],
  [
    "more, but another end",
    full,
    { ...short, bill_period_to_date: "2025-06-01" },
    added,
    "refused"
  ],
  ["more, for one of the payload", full, short, sentWithAccount, "completed"],
  ["the same, for one of the payload", short, short, sentWithAccount, "kept"],
  [
    "another path, for one of the payload",
    { ...full, statement_path: "x.pdf" },
    short,
    sentWithAccount,
    "refused"
  ],
  [
    "no path, for one of the payload",
    without(full, "statement_path"),
    short,
    sentWithAccount,
    "completed"
  ]
]

describe("a statement with a known id", () => {
  it.each(comparisons)(
    "is completed if it lacks what is sent, and refused if it contradicts it: %s",
    (_name, sent, there, origin, end) => {
      const result = decided([sent], account(there, origin))
      if (end === "refused") {
        expect(Result.isFailure(result) && result.failure).toMatchObject({
          code: "request_failed_validation",
          errors: [{ attr: "statements.0", code: "historical_statement_already_exists" }]
        })
        return
      }
      const { answer, change } = Result.getOrThrow(result)
      const whole = end === "completed" ? [statementOf({ ...sent, ...there })] : []
      expect(answer.isNew).toBe(end === "completed")
      // One of the payload is read back as it was sent, so that its completion is an addition.
      const stored = [change.statements, change.completedStatements]
      expect(stored.map((each) => each.map((one) => encode(one)))).toEqual(
        (origin === sentWithAccount ? [whole, []] : [[], whole]).map((each) =>
          each.map((one) => encode(one))
        )
      )
    }
  )
})

describe("a request to create statements", () => {
  const other = { ...full, statement_id: "S2" }

  it("adds new statements as sent, in request order, and leaves out known ones", () => {
    const sent = [{ ...other, statement_id: "S3" }, full, other]
    const { change } = Result.getOrThrow(decided(sent, account(full, "historical_statements")))
    expect(change.statements).toEqual([statementOf(sent[0]), statementOf(sent[2])])
    expect({ ...change, statements: [] }).toMatchObject({
      transactions: [],
      notes: [],
      instruction: null
    })
  })

  it("is refused with an error for each statement known with other content", () => {
    const changed = { ...full, number: "2" }
    const { change } = Result.getOrThrow(decided([full, other]))
    const there = afterChange(accountWith(), change)
    const sent = [changed, { ...other, statement_id: "S3" }, { ...other, number: "2" }]
    const result = decided(sent, there)
    expect(Result.isFailure(result) && result.failure.errors.map(({ attr }) => attr)).toEqual([
      "statements.0",
      "statements.2"
    ])
  })
})
