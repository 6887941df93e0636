import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { readTransactionParameters } from "../src/PostImportApi.ts"
import { readListParameters } from "../src/QueryApi.ts"

type Query = Readonly<Record<string, string | ReadonlyArray<string>>>

const faults =
  (read: (query: Query) => Result.Result<unknown, ReadonlyArray<object>>) => (query: Query) =>
    Result.match(read(query), { onSuccess: () => [], onFailure: (all) => all })

describe("the parameters of a list", () => {
  it.each<[Query, object]>([
    [{}, {}],
    [{ limit: "1" }, { limit: 1 }],
    [
      { limit: "10000", after: "NL-1" },
      { limit: 10_000, after: "NL-1" }
    ],
    [{ after: "" }, { after: "" }],
    [{ page: "2", limit: "007" }, { limit: 7 }]
  ])("reads %j", (query, value) => {
    expect(readListParameters(query)).toEqual(Result.succeed(value))
  })

  it.each([
    ["0", "min_value"],
    ["-1", "min_value"],
    ["10001", "max_value"],
    ["9".repeat(400), "max_value"],
    ["", "invalid"],
    ["ten", "invalid"],
    ["1.5", "invalid"],
    ["1e2", "invalid"],
    ["0x10", "invalid"],
    [" 5", "invalid"]
  ])("refuses the limit %j with %s", (limit, code) => {
    expect(faults(readListParameters)({ limit })).toMatchObject([{ attr: "limit", code }])
  })

  it.each<Query>([
    { limit: ["1", "2"], after: ["a", "b"] },
    { limit: "", after: "a\0" }
  ])("reports all that is wrong, a repeated parameter and a NUL too: %j", (query) => {
    expect(faults(readListParameters)(query)).toMatchObject([
      { attr: "limit", code: "invalid" },
      { attr: "after", code: "invalid" }
    ])
  })
})

describe("the parameters of the transactions import", () => {
  it("reads true and false in any case", () => {
    const query = { check_previously_added: "False", force_add_to_current_statement: "true" }
    expect(readTransactionParameters(query)).toEqual(
      Result.succeed({ check_previously_added: false, force_add_to_current_statement: true })
    )
  })

  it.each(["", "yes", "1", "null", "truee"])("refuses %j", (text) => {
    expect(faults(readTransactionParameters)({ check_previously_added: text })).toMatchObject([
      { attr: "check_previously_added", code: "invalid" }
    ])
  })
})
