/** Source: docs/contract/batches.md#problems. */
import { expect, it } from "@effect/vitest"
import { registry } from "../src/codes/Code.ts"
import { problemsOf } from "../src/batches/LineResult.ts"
import { clearedLines, type Problems } from "../src/batches/Problems.ts"
import { transactionOf } from "./accountModel.ts"
import { TransactionRefused, ValidationFailed } from "../src/requests/Failure.ts"

const problem = (attr: string) => ({ code: "invalid", attr }) as const

const group = (attr: string, lines: number) => ({ ...problem(attr), lines, examples: [] })

const set = (lines: number, ...attrs: ReadonlyArray<string>) => ({
  lines,
  problems: attrs.map(problem)
})

const table: ReadonlyArray<readonly [string, Problems, ReadonlyArray<number>]> = [
  [
    "lines with this problem alone",
    { groups: [group("a", 3), group("b", 1)], sets: [set(3, "a"), set(1, "b")] },
    [3, 4]
  ],
  [
    "lines with several problems when the last of them is fixed",
    { groups: [group("a", 3), group("b", 3)], sets: [set(2, "a", "b"), set(1, "a"), set(1, "b")] },
    [1, 4]
  ],
  [
    "no line with a problem that is not listed",
    { groups: [group("a", 2)], sets: [set(1, "a"), set(1, "a", "rare")] },
    [1]
  ]
]
it.each(table)("clears %s", (_name, problems, expected) => {
  expect(clearedLines(problems)).toEqual(expected)
})

it("keeps the beginning of a long detail, without half of a character", () => {
  const long = `${"a".repeat(499)}\u{1f642}b`
  const errors = ["a".repeat(500), long].map((detail) => ({ ...problem("name"), detail }))
  const failure = new ValidationFailed({ code: "request_failed_validation", errors })
  const problems = problemsOf({ outcome: "FAILED", accountNumber: null, answer: null, failure })
  expect(problems.map(({ detail }) => detail)).toEqual(["a".repeat(500), `${"a".repeat(499)}…`])
})

it("tells of a failure without errors what it means, and by which business day", () => {
  const failure = new TransactionRefused({
    code: "transaction_outside_open_period",
    transaction: transactionOf({
      transaction_id: "T-1",
      transaction_date: "2026-01-16",
      amount: 1,
      type: "CREDIT"
    }),
    detail: "",
    parameters: { limit: "2026-01-15", business_day: "2026-01-15" }
  })
  const problems = problemsOf({ outcome: "FAILED", accountNumber: null, answer: null, failure })
  const { code } = failure
  expect(problems).toMatchObject([
    { code, detail: registry[code].meaning, businessDay: "2026-01-15" }
  ])
})
