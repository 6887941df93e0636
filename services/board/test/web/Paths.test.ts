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
    [pages.wave("ACME", "w/1").replace(/[?].*/, ""), { name: "wave", supplier: "ACME" }],
    [pages.certificates("ACME"), { name: "certificates", supplier: "ACME" }],
    [
      pages.certificate("ACME", "c/1", { with: "c/2" }).replace(/[?].*/, ""),
      { name: "certificate", supplier: "ACME", certificate: "c/1" }
    ],
    [pages.account("ACME", "a/1%"), { name: "account", supplier: "ACME", number: "a/1%" }]
  ])("parses %s", (path, page) => expect(pageAt(path)).toEqual(page))

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
  ])("rejects %s", (path) => expect(pageAt(path)).toEqual({ name: "unknown" }))

  it("leaves parameters without a value out of a query", () => {
    expect(withQuery("/x/", { a: null, b: "", c: undefined })).toBe("/x/")
    expect(withQuery("/x/", { a: "1 2", b: "&" })).toBe("/x/?a=1+2&b=%26")
  })

  it("links a cohort to its accounts, and null to those without a cohort", () => {
    const root = "/board/migrations/A/imports/"
    expect(pages.imports("A", { cohort: "wave 1" })).toBe(`${root}?cohort=wave+1`)
    expect(pages.imports("A", { state: "FAILED", cohort: null })).toBe(
      `${root}?state=FAILED&without_cohort=true`
    )
    expect(pages.imports("A", { code: "blank" })).toBe(`${root}?code=blank`)
  })

  it("encodes every part of an API path", () => {
    expect(answers.account("A B", "1/2", "reveal/")).toBe(
      "/board/api/migrations/A%20B/imports/1%2F2/reveal/"
    )
  })
})
