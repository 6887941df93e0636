/** The check of a summary under load finds inconsistencies. */
import { expect, it } from "@effect/vitest"
import { type Counts, unclosed } from "../Summaries.ts"

const none = { PENDING: 0, FAILED: 0, IN_PROGRESS: 0, SKIPPED: 0, IMPORTED: 0, ERASED: 0 }

const counts: Counts = {
  total: 5,
  states: { ...none, PENDING: 2, IN_PROGRESS: 1, IMPORTED: 2 },
  lines_refused: 0,
  imported_last_hour: 2,
  codes: [],
  documents_missing: 0,
  balance: "100.00",
  ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: 2, balance: "100.00" }]
}

const known = { staged: 4, mostStaged: 6, imported: 1, mostImported: 3 }

it("a summary within the bounds that clients know is consistent", () => {
  expect(unclosed(counts, known, known)).toEqual([])
})

it.each<readonly [string, Partial<Counts>, Partial<typeof known>]>([
  ["its states", { total: 6 }, {}],
  ["a negative count", { states: { ...counts.states, PENDING: 4, FAILED: -2 } }, {}],
  ["imports that were staged", {}, { staged: 6 }],
  ["imports that were staged", {}, { mostStaged: 4 }],
  ["accounts", {}, { imported: 3 }],
  ["accounts", {}, { mostImported: 1 }],
  ["its ledgers and accounts", { imported_last_hour: 1 }, {}],
  ["its ledgers and accounts", { ledger_balances: [] }, {}],
  [
    "its balances",
    {
      ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: 2, balance: "99.99" }]
    },
    {}
  ]
])("%s do not close: %o, %o", (what, otherCounts, otherKnown) => {
  const bounds = { ...known, ...otherKnown }
  expect(unclosed({ ...counts, ...otherCounts }, bounds, bounds)).toContain(what)
})
