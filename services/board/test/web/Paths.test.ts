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
    [pages.account("ACME", "a/1%"), { name: "account", supplier: "ACME", number: "a/1%" }]
  ])("%s is found again", (path, page) => expect(pageAt(path)).toEqual(page))

  it.each([
    "/",
    "/boards/",
    "/board/x/",
    "/board/migrations/",
    "/board/migrations/A/x/",
    "/board/%/"
  ])("%s is no page", (path) => expect(pageAt(path)).toEqual({ name: "unknown" }))

  it("leaves out of a query what has no value", () => {
    expect(withQuery("/x/", { a: null, b: "", c: undefined })).toBe("/x/")
    expect(withQuery("/x/", { a: "1 2", b: "&" })).toBe("/x/?a=1+2&b=%26")
  })

  it("asks the API with every part encoded", () => {
    expect(answers.account("A B", "1/2", "reveal/")).toBe(
      "/board/api/migrations/A%20B/imports/1%2F2/reveal/"
    )
  })
})
