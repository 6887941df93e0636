import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { BatchGroup } from "../src/BatchApi.ts"
import { mostParameters, noQuery, parametersOf, type Query, queryOf } from "../src/Parameter.ts"
import { PostImportGroup } from "../src/PostImportApi.ts"
import { QueryGroup } from "../src/QueryApi.ts"
import { SystemGroup } from "../src/SystemApi.ts"
import { TokenGroup } from "../src/TokenApi.ts"

const readListParameters = parametersOf(QueryGroup.endpoints.listPendingAccountImports)
const readTransactionParameters = parametersOf(PostImportGroup.endpoints.createTransactions)

const errorsOf =
  (read: (query: Query) => Result.Result<unknown, ReadonlyArray<object>>) => (query: Query) =>
    Result.match(read(query), { onSuccess: () => [], onFailure: (all) => all })

const times = (count: number, part: (index: number) => string) =>
  `?${Array.from({ length: count }, (_, index) => part(index)).join("&")}`

describe("a query", () => {
  it.each<[string, Query]>([
    ["?", {}],
    ["?&&", {}],
    ["?a=1&b=x%20y+z&a=2&c&a=", { a: ["1", "2", ""], b: "x y z", c: "" }],
    ["?%61=%zz&=1", { a: "%zz", "": "1" }]
  ])("is parsed: %j", (search, query) => {
    expect(queryOf(search)).toEqual(Object.assign(Object.create(null), query))
  })

  it("is refused with more than 100 parameters, equal or different", () => {
    for (const part of [() => "a=1", (index: number) => `a${index}`]) {
      expect(queryOf(times(mostParameters, part))).not.toBeNull()
      expect(queryOf(times(mostParameters + 1, part))).toBeNull()
    }
  })

  it("is parsed quickly at the longest possible length", () => {
    expect(queryOf(times(8_000, () => "a"))).toBeNull()
    expect(queryOf(`?${"a".repeat(16_000)}`)).toEqual({ ["a".repeat(16_000)]: "" })
  })
})

describe("an unknown parameter", () => {
  it("is refused at its name with the nearest known one, after the errors of known ones", () => {
    const query = { limt: "1", limit: "0", After: "x" }
    expect(errorsOf(readListParameters)(query)).toEqual([
      {
        attr: "limit",
        code: "min_value",
        detail: "Must be at least 1.",
        parameters: { limit: 1 }
      },
      {
        attr: "limt",
        code: "unknown_parameter",
        detail: "Not a documented parameter; the nearest is limit.",
        parameters: { nearest: "limit" }
      },
      {
        attr: "After",
        code: "unknown_parameter",
        detail: "Not a documented parameter; the nearest is after.",
        parameters: { nearest: "after" }
      }
    ])
  })

  it("comes after a documented one that is missing, which has its place in their order", () => {
    const readBatches = errorsOf(parametersOf(BatchGroup.endpoints.listBatches))
    expect(readBatches({ wait: "1", after: ["1", "2"], limit: "0" })).toMatchObject([
      { attr: "import_supplier", code: "required" },
      { attr: "limit", code: "min_value" },
      { attr: "after", code: "invalid" },
      { attr: "wait", code: "unknown_parameter" }
    ])
  })

  it("is reported for any name if the endpoint documents no parameters", () => {
    const read = parametersOf(SystemGroup.endpoints.getLimits)
    expect(read(noQuery)).toEqual(Result.succeed({}))
    const detail = "This operation takes no query parameters."
    expect(errorsOf(read)({ limit: "1", "": "2" })).toEqual([
      { attr: "limit", code: "unknown_parameter", detail },
      { attr: "non_field_errors", code: "unknown_parameter", detail }
    ])
  })

  it("is reported for names of inherited properties", () => {
    const names = ["__proto__", "constructor", "toString"]
    const query = queryOf(`?${names.join("&")}`)
    expect(errorsOf(readListParameters)(query)).toMatchObject(
      names.map((attr) => ({ attr, code: "unknown_parameter" }))
    )
  })

  it("is ignored by endpoints that are not operations of the contract", () => {
    const read = parametersOf(TokenGroup.endpoints.getSigningKeys)
    expect(read({ v: "2" })).toEqual(Result.succeed({}))
    expect(read(null)).toEqual(Result.succeed({}))
  })

  it("is not reported if there are too many parameters", () => {
    for (const endpoint of [
      QueryGroup.endpoints.listAllAccountImports,
      SystemGroup.endpoints.getLimits,
      PostImportGroup.endpoints.createNotes
    ]) {
      expect(errorsOf(parametersOf<typeof endpoint>(endpoint))(null)).toEqual([
        {
          attr: "non_field_errors",
          code: "max_length",
          detail: "Send at most 100 query parameters.",
          parameters: { limit: 100 }
        }
      ])
    }
  })
})

describe("the parameters of a list", () => {
  it.each<[Query, object]>([
    [{}, {}],
    [{ limit: "1" }, { limit: 1 }],
    [
      { limit: "10000", after: "NL-1" },
      { limit: 10_000, after: "NL-1" }
    ],
    [{ after: "" }, { after: "" }],
    [{ limit: "007" }, { limit: 7 }]
  ])("are decoded: %j", (query, value) => {
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
  ])("are refused with the limit %j: %s", (limit, code) => {
    expect(errorsOf(readListParameters)({ limit })).toMatchObject([{ attr: "limit", code }])
  })

  it.each<Query>([
    { limit: ["1", "2"], after: ["a", "b"] },
    { limit: "", after: "a\0" }
  ])("report every error, including repeated parameters and NUL: %j", (query) => {
    expect(errorsOf(readListParameters)(query)).toMatchObject([
      { attr: "limit", code: "invalid" },
      { attr: "after", code: "invalid" }
    ])
  })
})

describe("the parameters of the transactions import", () => {
  it("accept true and false in any case", () => {
    const query = { check_previously_added: "False", force_add_to_current_statement: "true" }
    expect(readTransactionParameters(query)).toEqual(
      Result.succeed({ check_previously_added: false, force_add_to_current_statement: true })
    )
  })

  it.each(["", "yes", "1", "null", "truee"])("reject %j", (text) => {
    expect(errorsOf(readTransactionParameters)({ check_previously_added: text })).toMatchObject([
      { attr: "check_previously_added", code: "invalid" }
    ])
  })
})

describe("the parameters of batches", () => {
  const results = parametersOf(BatchGroup.endpoints.listBatchResults)
  const found = (query: Query) =>
    errorsOf(results)(query).map((error) => {
      const { attr, code } = error as { readonly attr: string; readonly code: string }
      return `${attr} ${code}`
    })

  it("are decoded", () => {
    const query = { after_line: "400", outcome: "FAILED", limit: "1000000", done: "true" }
    expect(results(query)).toMatchObject({
      success: { after_line: 400, outcome: "FAILED", limit: 1_000_000, done: true }
    })
  })

  it("are refused with their codes", () => {
    expect(found({ after_line: "-1", outcome: "failed", limit: "1000001", done: "1" })).toEqual([
      "after_line min_value",
      "outcome invalid_choice",
      "limit max_value",
      "done invalid"
    ])
    expect(found({ outcome: ["FAILED", "FAILED"] })).toEqual(["outcome invalid"])
  })

  it("name a supplier in a list", () => {
    expect(errorsOf(parametersOf(BatchGroup.endpoints.listBatches))(noQuery)).toMatchObject([
      { attr: "import_supplier", code: "required" }
    ])
  })

  it("bound the wait and the first line of an upload", () => {
    const get = parametersOf(BatchGroup.endpoints.getBatch)
    expect(get({ wait: "20" })).toMatchObject({ success: { wait: 20 } })
    expect(errorsOf(get)({ wait: "21" })).toMatchObject([{ attr: "wait", code: "max_value" }])
    const send = parametersOf(BatchGroup.endpoints.sendBatchLines)
    expect(errorsOf(send)({ from_line: "0" })).toMatchObject([
      { attr: "from_line", code: "min_value" }
    ])
  })
})
