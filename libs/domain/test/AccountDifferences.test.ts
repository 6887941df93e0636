import { describe, expect, it } from "vitest"
import { domesticPayload } from "../testing/samples.ts"
import { drop, get, put, putAll } from "../testing/wire.ts"
import { differencesOf } from "../src/accounts/AccountDifferences.ts"

const account = domesticPayload()

/** Each difference as a text, with its ids and both sides. */
const between = (book: unknown, stored: unknown): ReadonlyArray<string> =>
  [...differencesOf(book, stored)].map((found) =>
    [found.kind, found.path, ...Object.values(found.ids), found.book, found.stored]
      .filter((part) => part !== undefined && typeof part !== "object")
      .join(" ")
  )

const history = "ledgers.0.historical_statement_transactions"
const code = get(account, "ledgers.0.ledger_code") as string

const elements = (list: string): ReadonlyArray<unknown> => get(account, list) as Array<unknown>

const without = (list: string, index: number) =>
  putAll(account, { [list]: elements(list).toSpliced(index, 1) })

describe("differencesOf", () => {
  it("finds nothing between equal accounts", () => {
    expect(between(account, domesticPayload())).toEqual([])
  })

  it("names a field of a transaction by its ids, with both values", () => {
    const stored = put(account, `${history}.1.reference`, "other")
    expect(between(account, stored)).toEqual([
      `CHANGED ${history}.1.reference ${code} NL-T-1002 DD-2025-02-0004711 other`
    ])
    expect(between(account, drop(account, `${history}.1.reference`))).toEqual([
      `MISSING ${history}.1.reference ${code} NL-T-1002 DD-2025-02-0004711`
    ])
  })

  it("matches elements with an id at any position", () => {
    expect(between(account, without(history, 0))).toEqual([
      `MISSING ${history}.0 ${code} NL-T-1001`
    ])
    expect(between(without("statements", 0), account)).toEqual([
      "UNEXPECTED statements.0 NL-S-2025-01"
    ])
    const reversed = putAll(account, { [history]: elements(history).toReversed() })
    expect(between(account, reversed)).toEqual([])
  })

  it("finds what is stored twice", () => {
    const doubled = putAll(account, { [history]: [...elements(history), elements(history)[1]] })
    expect(between(account, doubled)).toEqual([`UNEXPECTED ${history}.3 ${code} NL-T-1002`])
  })

  it("matches notes in their order, and a missing one does not shift the others", () => {
    const notes = ["a", "b", "c", "d"].map((body) => ({ body }))
    const book = { notes }
    expect(between(book, { notes: notes.toSpliced(1, 1) })).toEqual(["MISSING notes.1"])
    expect(between(book, { notes: notes.with(2, { body: "x" }) })).toEqual([
      "CHANGED notes.2.body c x"
    ])
    expect(between(book, { notes: [{ body: "x" }, ...notes] })).toEqual(["UNEXPECTED notes.0"])
  })

  it("finds a field that only one of both has", () => {
    expect(between({}, { account_type: "DOMESTIC" })).toEqual(["UNEXPECTED account_type DOMESTIC"])
    expect(between({ account_type: "DOMESTIC" }, {})).toEqual(["MISSING account_type DOMESTIC"])
  })
})
