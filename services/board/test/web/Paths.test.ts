import { describe, expect, it } from "vitest"
import { answers, pageAt, pages, withQuery } from "../../web/src/routing/Paths.ts"

describe("addresses of pages", () => {
  it.each([
    [pages.migrations(), { name: "migrations" }],
    ["/board", { name: "migrations" }],
    [pages.audit(), { name: "audit" }],
    [pages.migration("A/B C"), { name: "migration", supplier: "A/B C" }],
    [pages.problems("ACME"), { name: "problems", supplier: "ACME" }],
    [pages.imports("ACME"), { name: "imports", supplier: "ACME" }],
    [pages.batch("ACME", "b/1"), { name: "batch", supplier: "ACME", batch: "b/1" }],
    [pages.lines("ACME", "b/1"), { name: "lines", supplier: "ACME", batch: "b/1" }],
    [pages.forecasts("ACME"), { name: "forecasts", supplier: "ACME" }],
    [pages.account("ACME", "a/1%"), { name: "account", supplier: "ACME", number: "a/1%" }]
  ])("%s is found again", (path, page) => expect(pageAt(path)).toEqual(page))

  it.each([
    "/",
    "/boards/",
    "/board/x/",
    "/board/migrations/",
    "/board/migrations/A/x/",
    "/board/migrations/A/forecasts/1/",
    "/board/migrations/A/batches/b/rows/",
    "/board/migrations/A/batches/b/lines/1/",
    "/board/%/"
  ])("%s is no page", (path) => expect(pageAt(path)).toEqual({ name: "unknown" }))

  it("leaves out of a query what has no value", () => {
    expect(withQuery("/x/", { a: null, b: "", c: undefined })).toBe("/x/")
    expect(withQuery("/x/", { a: "1 2", b: "&" })).toBe("/x/?a=1+2&b=%26")
  })

  it("leads from a cohort to its accounts, and from none to those without one", () => {
    const root = "/board/migrations/A/imports/"
    expect(pages.imports("A", { cohort: "wave 1" })).toBe(`${root}?cohort=wave+1`)
    expect(pages.imports("A", { state: "FAILED", cohort: null })).toBe(
      `${root}?state=FAILED&without_cohort=true`
    )
    expect(pages.imports("A", { code: "blank" })).toBe(`${root}?code=blank`)
  })

  it("asks the API with every part encoded", () => {
    expect(answers.account("A B", "1/2", "reveal/")).toBe(
      "/board/api/migrations/A%20B/imports/1%2F2/reveal/"
    )
  })
})
