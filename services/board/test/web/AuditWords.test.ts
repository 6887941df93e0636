import { auditActions } from "@data-import/domain/audit/AuditLog"
import { describe, expect, it } from "vitest"
import type { Audit } from "../../web/src/data/Answers.ts"
import { account } from "../../testing/sampleAccount.ts"
import { actionWord, lifeOf, ofAudit } from "../../web/src/text/AuditWords.ts"

const sample = account("ACME", "A-1", Date.parse("2026-11-24T08:00:00Z"))
const kinds = (events: ReturnType<typeof lifeOf>) =>
  events.map((event) => (event.kind === "entry" ? event.entry.outcome : event.kind))

describe("names of audit actions", () => {
  it.each(auditActions)("names %s, and says that a refused one was not done", (action) => {
    const [word, refused] = [false, true].map((failed) =>
      actionWord({ action, failed, outcome: "" })
    )
    expect(word).toMatch(/^[A-Z]/)
    expect(refused?.includes(" not ")).toBe(action !== "process")
    expect(refused?.replace(" not ", " ")).toBe(word)
  })

  it("puts the word before what was done", () => {
    const refused = ["stage", "sign_off", "unskip_import", "change_supplier_status"]
    expect(refused.map((action) => actionWord({ action, failed: true, outcome: "" }))).toEqual([
      "Account not staged",
      "Migration not signed off",
      "Account not taken in again",
      "Status of the migration not changed"
    ])
  })

  it("tells a dry run from an import", () => {
    const rehearsed = { action: "process", failed: false, outcome: "dry_run_successful" }
    expect(actionWord(rehearsed)).toBe("Import rehearsed")
  })

  it.each(["toString", "later"])("has none for %s", (action) =>
    expect(actionWord({ action, failed: false, outcome: "" })).toBe("")
  )
})

describe("the headline of the audit log", () => {
  const now = Date.parse("2026-11-24T10:00:00Z")
  const page = { entries: sample.audit.slice(0, 1), next_before: "7", stopped: true }
  const of = (changed: Partial<Audit>, isFirst = true) =>
    ofAudit({ ...page, ...changed }, isFirst, now)

  it("never tells a search that has stopped as a whole", () => {
    expect(of({})).toMatch(/^1 entry so far, .*; older ones were not searched yet$/)
    expect(of({ entries: [] })).toMatch(/so far/)
  })

  it("says which part of the log a full page is", () => {
    expect(of({ stopped: false })).toMatch(/^The newest 1 entry, back to /)
    expect(of({ stopped: false }, false)).toMatch(/^The next 1 entry, back to /)
    expect(of({ stopped: false, next_before: null })).toMatch(/^1 entry, the first of /)
    expect(of({ stopped: false, entries: [] })).toBe("Nobody did anything like this")
  })
})

describe("the life of an account", () => {
  it("goes back to the first staging, without reads", () =>
    expect(kinds(lifeOf({ ...sample, reverted: [] }))).toEqual([
      ...["attempt", "attempt", "moved", "replaced", "reverted", "created"]
    ]))

  it("has earlier accounts from their import to their revert, each told once", () => {
    const [earlier] = sample.reverted
    const told = lifeOf(sample).filter(({ kind }) => kind === "reverted" || kind === "imported")
    expect(told).toEqual([
      { kind: "reverted", at: earlier?.reverted_at, account: earlier },
      { kind: "imported", at: earlier?.account_created_at, as: earlier?.kraken_account_number }
    ])
    expect(kinds(lifeOf(sample)).filter((kind) => kind === "reverted")).toHaveLength(1)
  })

  it("has the last staging if the log has none", () =>
    expect(kinds(lifeOf({ ...sample, moves: [], reverted: [], audit: [] }))).toEqual([
      "attempt",
      "attempt",
      "staged"
    ]))

  it("has what was refused, which is no staging and no attempt", () => {
    const audit = sample.audit.slice(0, 2).map((entry, index) => ({
      ...entry,
      at: "2026-11-24T07:59:00Z",
      action: ["process", "stage"][index] ?? "",
      outcome: "account_import_process_already_imported",
      failed: true
    }))
    expect(kinds(lifeOf({ ...sample, moves: [], reverted: [], attempts: [], audit }))).toEqual([
      ...audit.map(({ outcome }) => outcome),
      "staged"
    ])
  })

  it("has the import", () => {
    const account_created_at = "2026-11-24T07:30:00Z"
    expect(kinds(lifeOf({ ...sample, account_created_at }))[0]).toBe("imported")
  })
})
