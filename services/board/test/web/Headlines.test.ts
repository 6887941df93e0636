import { describe, expect, it } from "vitest"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { account } from "../../testing/sampleAccount.ts"
import { forecasts } from "../../testing/sampleLists.ts"
import { batches, migrations, problems } from "../../testing/sampleMigrations.ts"
import {
  importedShare,
  ofAccount,
  ofBatch,
  ofForecasts,
  ofImports,
  ofLines,
  ofMigration,
  ofMigrations,
  ofProblems,
  wholeOf
} from "../../web/src/text/Headlines.ts"
import { lineWord } from "../../web/src/text/Words.ts"

const now = Date.parse("2026-11-24T08:00:00Z")
const all = migrations(now)
const failing = all.find(({ condition }) => condition === "failing")
if (failing === undefined) throw new Error("No sample is failing")

describe("the headline of all migrations", () => {
  it.each([
    [[], "There is no migration yet"],
    [["running"], "The one migration needs no attention"],
    [["running", "done"], "None of 2 migrations needs attention"],
    [["stuck", "running"], "1 of 2 migrations needs attention"],
    [["stuck", "failing", "slow", "waiting"], "3 of 4 migrations need attention"]
  ] as const)("for %j is: %s", (conditions, text) =>
    expect(ofMigrations(conditions.map((condition) => ({ condition, balances_match: true })))).toBe(
      text
    )
  )

  it("says for how many migrations the money does not add up", () => {
    const told = ([true, false] as const).map(
      (balances_match) => ({ condition: "done", balances_match }) as const
    )
    expect(ofMigrations(told)).toBe(
      "None of 2 migrations needs attention; the money of 1 does not add up"
    )
  })
})

describe("the headline of a migration", () => {
  const migration = {
    ...failing,
    import_supplier: "ACME_LEGACY",
    total: 95_000,
    states: { ...failing.states, IMPORTED: 61_204, FAILED: 412, PENDING: 33_376 },
    forecast: {
      open: 33_384,
      at: "2026-11-26T15:00:00Z",
      low: "2026-11-26T09:00:00Z",
      high: "2026-11-26T21:00:00Z"
    }
  }

  it("gives progress, failures and forecast", () => {
    expect(ofMigration(migration, now)).toBe(
      "ACME_LEGACY: 61,204 of 95,000 imported, 412 failed, done on Thursday between 10:00 and 22:00"
    )
  })

  it("says that nothing moves, or that there is no forecast yet", () => {
    const still = { ...migration, forecast: null, imported_last_hour: 0 }
    expect(ofMigration(still, now)).toMatch(/, nothing moves$/)
    const moving = { ...still, imported_last_hour: 425 }
    expect(ofMigration(moving, now)).toMatch(/, no forecast yet$/)
  })

  it("says that nothing is open, it is signed off, or a batch goes on", () => {
    const states = { ...migration.states, PENDING: 0, IN_PROGRESS: 0, FAILED: 0 }
    const over = { ...migration, states, forecast: null }
    expect(ofMigration({ ...over, condition: "done" }, now)).toMatch(/, nothing is open$/)
    expect(ofMigration({ ...over, status: "Complete" }, now)).toMatch(/, signed off$/)
    expect(ofMigration({ ...over, condition: "running" }, now)).toMatch(/, a batch goes on$/)
  })

  it("says what was left open at the sign-off", () => {
    const states = { ...noCounts, IMPORTED: 3, FAILED: 2 }
    const lines = { lines_failed: 50, lines_remaining: 400 }
    const signed = { ...migration, ...lines, total: 5, states, status: "Complete" as const }
    expect(ofMigration(signed, now)).toBe(
      "ACME_LEGACY: 3 of 453 imported, signed off with " +
        "2 accounts, 50 failed lines and 400 lines to do left open"
    )
  })

  it("says that only failed accounts are left", () => {
    const states = { ...noCounts, IMPORTED: 3, FAILED: 2 }
    const left = { ...migration, states, forecast: null }
    expect(ofMigration(left, now)).toMatch(/, 2 failed, only failed accounts are left$/)
  })

  it("says what was refused and never received, and does not say that none failed", () => {
    const states = { ...noCounts, IMPORTED: 1_778 }
    const refused = { ...migration, states, total: 1_778, forecast: null, lines_refused: 222 }
    expect(ofMigration({ ...refused, condition: "failing" }, now)).toBe(
      "ACME_LEGACY: 1,778 of 2,000 imported, 222 lines refused, only refused lines are left"
    )
    const missing = { ...refused, lines_refused: 0, accounts_missing: 222 }
    expect(ofMigration({ ...missing, condition: "waiting" }, now)).toBe(
      "ACME_LEGACY: 1,778 of 2,000 imported, none failed, 222 never received, " +
        "only accounts that were never received are left"
    )
  })

  it("does not say that nothing is open if a batch is stuck", () => {
    const states = { ...migration.states, PENDING: 0, IN_PROGRESS: 0, FAILED: 0 }
    const stuck = { ...migration, states, forecast: null, condition: "stuck" as const }
    const withLines = { ...stuck, lines_failed: 25, lines_remaining: 1_500 }
    expect(ofMigration(withLines, now)).toMatch(
      / imported, 25 lines failed, 1,500 lines to do, stuck$/
    )
    expect(ofMigration({ ...withLines, lines_failed: 0 }, now)).toMatch(
      / imported, none failed, 1,500 lines to do, stuck$/
    )
  })

  it("counts lines that are no accounts as a part of the whole", () => {
    const states = { ...noCounts, IMPORTED: 75, FAILED: 10 }
    const lines = { lines_failed: 25, lines_remaining: 500 }
    expect(wholeOf({ ...migration, ...lines, states, total: 85 })).toBe(600)
    expect(wholeOf({ ...migration, states, total: 85 })).toBe(85)
    const waiting = { ...migration, ...lines, states: { ...noCounts, IMPORTED: 75 }, total: 75 }
    expect(ofMigration({ ...waiting, lines_failed: 0 }, now)).toContain("75 of 575 imported")
    expect(importedShare({ ...waiting, lines_failed: 0 })).toBe("13 %")
    const never = { ...lines, lines_refused: 3, accounts_missing: 4 }
    expect(wholeOf({ ...migration, ...never, states, total: 85 })).toBe(607)
  })

  it("calls nothing the whole while it is not known, and everything once it is", () => {
    const states = { ...noCounts, IMPORTED: 75 }
    const all = { ...migration, states, total: 75 }
    expect(importedShare(all)).toBe("100 %")
    expect(importedShare({ ...all, accounts_unexpected: 5 })).toBe(">99 %")
  })

  it("says that nothing is staged yet", () => {
    expect(ofMigration({ ...migration, total: 0 }, now)).toBe("ACME_LEGACY: nothing is staged yet")
    expect(ofMigration({ ...migration, total: 0, status: "Complete" }, now)).toBe(
      "ACME_LEGACY: nothing was staged, signed off"
    )
    expect(ofMigration({ ...migration, total: 0, states: noCounts, lines_failed: 3 }, now)).toMatch(
      /^ACME_LEGACY: 0 of 3 imported, 3 lines failed, /
    )
  })
})

describe("the headline of lists", () => {
  it("says what correcting the first problems would clear", () => {
    expect(ofProblems(problems(failing))).toBe(
      "Correcting the first 3 of 4 problems clears 390 of 412 failed accounts"
    )
    expect(ofProblems({ failed: 0, of: 0, groups: [] })).toBe("No account has failed")
    const few = problems(failing)
    const two = { ...few, groups: few.groups.slice(0, 2) }
    expect(ofProblems(two)).toMatch(/^Correcting the first of 2 problems clears \d+ of 412 failed/)
  })

  it("counts the accounts and names the filters", () => {
    const list = { imports: [], next_after: null }
    expect(ofImports({ ...list, total: 412 }, { state: "FAILED", cohort: "wave-1" })).toBe(
      "412 accounts in the state Failed, of the cohort wave-1"
    )
    expect(ofImports({ ...list, total: 0 }, {})).toBe("No accounts")
  })

  it("says that there are more if the total is not counted", () => {
    const [first] = Array.from({ length: 1 }, () => ({ state: "FAILED" }))
    const list = { imports: [first] as never, total: null, next_after: "NL-1" }
    expect(ofImports(list, { search: "NL" })).toBe("More than 1 account that begins with NL")
  })

  it("says the state of an account", () => {
    const failed = account("ACME_LEGACY", "NL-1", now)
    expect(ofAccount(failed)).toBe("NL-1 failed with 2 errors: invalid_phone_number, max_value")
    const imported = { ...failed, state: "IMPORTED", kraken_account_number: "A-1" }
    expect(ofAccount(imported)).toBe("NL-1 is imported as A-1")
    expect(ofAccount({ ...failed, state: "ERASED" })).toBe("NL-1 is erased")
    const pending = { ...failed, state: "PENDING" }
    expect(ofAccount(pending)).toBe("NL-1 was reverted and waits to be imported again")
    expect(ofAccount({ ...pending, reverted: [] })).toBe("NL-1 is staged and waits to be imported")
  })
})

describe("the headline of a batch", () => {
  it.each([
    [0, "wave 2, north: 13,000 of 20,000 lines ended, 38 failed"],
    [1, "IMPORT 00000000: 400 of 500 lines ended, 100 failed"],
    [2, "wave 1: 30,000 of 30,000 lines ended, none failed"],
    [3, "Undo of wave-0: 994 of 1,000 accounts reverted, 6 failed"],
    [4, "Rehearsal 00000000: 2,000 of 2,000 lines rehearsed, 100 would fail"]
  ])("for sample %i is: %s", (index, text) => {
    const batch = batches(now).batches[index]
    expect(batch && ofBatch(batch)).toBe(text)
  })

  it("says that a batch is a dry run, and no line of it has succeeded", () => {
    const [, , ended] = batches(now).batches
    const dry = { dry_run: true }
    expect(ended && ofBatch({ ...ended, ...dry })).toMatch(
      /^wave 1 \(rehearsal\): .*none would fail/
    )
    const undone = ended && ofBatch({ ...ended, ...dry, operation: "REVERT" })
    expect(undone).toMatch(/^wave 1 \(dry run\): /)
    expect(lineWord("SUCCEEDED", { dry_run: true, operation: "IMPORT" })).toBe("would succeed")
  })
})

describe("the headline of lists behind numbers", () => {
  const list = { imports: [], next_after: null, total: 3 }

  it.each([
    [{ ledger: "GAS_LEDGER" }, "3 accounts with a ledger GAS_LEDGER"],
    [{ money: "without_ledger" }, "3 accounts that have no ledger"],
    [{ first_problems: "1" }, "3 accounts that correcting the first problem clears"],
    [{ first_problems: "2" }, "3 accounts that correcting the first 2 problems clears"]
  ])("names the filter of accounts: %j", (filter, text) => {
    expect(ofImports(list, filter)).toBe(text)
  })

  const [batch] = batches(now).batches
  if (batch === undefined) throw new Error("There is no sample of a batch")
  const none = { outcome: null, code: null, attr: null, first_problems: null }

  it.each([
    [{}, "7,000 lines of wave 2, north"],
    [{ outcome: "REMAINING" }, "7,000 lines of wave 2, north: to do"],
    [{ outcome: "FAILED", code: "blank", attr: "x" }, ": failed with blank at x"],
    [{ first_problems: "2" }, ", that correcting the first 2 problems clears"]
  ])("names the filter of lines: %j", (filter, text) => {
    const found = { batch, lines: [], total: 7_000, next_after: null }
    expect(ofLines(found, { ...none, ...filter })).toContain(text)
    expect(ofLines({ ...found, total: 0 }, none)).toBe("No lines of wave 2, north")
  })

  it("says how many forecasts held", () => {
    const found = forecasts(now)
    expect(ofForecasts(found)).toBe("40 of 48 forecasts held")
    expect(ofForecasts({ ...found, made: 0 })).toBe("None of 50 forecasts has ended yet")
    expect(ofForecasts({ ...found, forecasts: [] })).toBe("No forecast was kept yet")
  })
})
