import { describe, expect, it } from "vitest"
import { allowsJson, prefers } from "../src/http/Accept.ts"

describe("an Accept header", () => {
  it.each([
    undefined,
    "",
    "*/*",
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/*;q=0.1",
    "text/html, application/xhtml+xml, */*;q=0.8",
    "application/json;q=0.001, text/html",
    "application/*;q=0, application/json"
  ])("%j leaves room for JSON", (header) => {
    expect(allowsJson(header)).toBe(true)
  })

  it.each([
    "text/csv",
    "text/*",
    "application/xml",
    "application/problem+json",
    "application/json;q=0",
    "application/json;q=0.0, */*",
    "application/*; q=0, */*"
  ])("%j does not", (header) => {
    expect(allowsJson(header)).toBe(false)
  })

  it.each([
    ["application/jose", true],
    ["application/json;q=0.5, Application/JOSE", true],
    ["application/jose, */*;q=0.1", true],
    ["application/jose, application/json", false],
    ["application/jose;q=0", false],
    ["*/*", false],
    [undefined, false]
  ])("%j prefers JOSE: %j", (header, isPreferred) => {
    expect(prefers("application/jose", header)).toBe(isPreferred)
  })
})
