/**
 * Which historical statements of a request are new, and which contradict an existing one.
 * Source: docs/contract/post-import.md#same-statements.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import type { AccountStatement } from "../src/account/AccountChange.ts"
import { decideStatements } from "../src/post-import/StatementImport.ts"
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

/** A sent statement, the existing one, its origin, and whether they count as the same. */
const comparisons: ReadonlyArray<
  [string, sent: object, there: object, AccountStatement["origin"], same: boolean]
> = [
  ["the same", full, full, "historical_statements", true],
  ["another amount", { ...full, gross_amount: 1 }, full, "historical_statements", false],
  [
    "the amount in another spelling",
    { ...full, gross_amount: 120.5 },
    full,
    "historical_statements",
    true
  ],
  ["no amount", without(full, "gross_amount"), full, "historical_statements", false],
  [
    "an amount of zero for none",
    { ...short, gross_amount: 0 },
    short,
    "historical_statements",
    false
  ],
  ["another number", { ...full, number: "2" }, full, "historical_statements", false],
  ["no number", without(full, "number"), full, "historical_statements", false],
  [
    "another day of issue",
    { ...full, issued_date: "2025-06-03" },
    full,
    "historical_statements",
    false
  ],
  ["no day of issue", without(full, "issued_date"), full, "historical_statements", false],
  [
    "another start",
    { ...full, bill_period_from_date: "2025-05-02" },
    full,
    "historical_statements",
    false
  ],
  [
    "another end",
    { ...full, bill_period_to_date: "2025-05-30" },
    full,
    "historical_statements",
    false
  ],
  [
    "a leading slash",
    { ...full, statement_path: "/2025/05.pdf" },
    full,
    "historical_statements",
    true
  ],
  [
    "another path",
    { ...full, statement_path: "2025/06.pdf" },
    full,
    "historical_statements",
    false
  ],
  ["no path", without(full, "statement_path"), full, "historical_statements", false],
  ["a path for none", full, without(full, "statement_path"), "historical_statements", false],
  ["more, for one of the payload", full, short, "account_payload", true],
  ["the same, for one of the payload", short, short, "account_payload", true],
  [
    "a leading slash, for one of the payload",
    { ...full, statement_path: "/2025/05.pdf" },
    short,
    "account_payload",
    true
  ],
  [
    "another start, for one of the payload",
    { ...full, bill_period_from_date: "2025-05-02" },
    short,
    "account_payload",
    false
  ],
  [
    "another end, for one of the payload",
    { ...full, bill_period_to_date: "2025-06-01" },
    short,
    "account_payload",
    false
  ],
  [
    "another path, for one of the payload",
    { ...full, statement_path: "x.pdf" },
    short,
    "account_payload",
    false
  ],
  [
    "no path, for one of the payload",
    without(full, "statement_path"),
    short,
    "account_payload",
    false
  ]
]

describe("a statement with a known id", () => {
  it.each(comparisons)(
    "is accepted only if it agrees with the known statement: %s",
    (_name, sent, there, origin, same) => {
      const result = decided([sent], account(there, origin))
      if (same) {
        expect(Result.getOrThrow(result).change.statements).toEqual([])
        return
      }
      expect(Result.isFailure(result) && result.failure).toMatchObject({
        code: "request_failed_validation",
        errors: [{ attr: "statements.0", code: "historical_statement_already_exists" }]
      })
    }
  )

  it("is matched by its exact id, including case", () => {
    const result = decided(
      [{ ...full, statement_id: "s1", number: "2" }],
      account(full, "historical_statements")
    )
    expect(Result.getOrThrow(result).change.statements).toHaveLength(1)
  })
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

  it("changes nothing when it is repeated", () => {
    const sent = [full, other]
    const { change } = Result.getOrThrow(decided(sent))
    const again = decided(sent, afterChange(accountWith(), change))
    expect(Result.getOrThrow(again).change.statements).toEqual([])
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

  it("keeps the document store's findings for its documents", () => {
    const documents = new Map([["2025/05.pdf", { size: 7, etag: null, checksum: "c" }]])
    const result = decideStatements([statementOf(full)], documents)(accountWith())
    expect(Result.getOrThrow(result).change.documents).toEqual(documents)
  })
})
