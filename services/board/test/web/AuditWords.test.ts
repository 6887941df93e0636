import { auditActions } from "@data-import/domain/ports/AuditLog"
import { describe, expect, it } from "vitest"
import { account } from "../../testing/sampleAccount.ts"
import { actionWord, lifeOf } from "../../web/src/text/AuditWords.ts"

const sample = account("ACME", "A-1", Date.parse("2026-11-24T08:00:00Z"))
const kinds = (events: ReturnType<typeof lifeOf>) =>
  events.map((event) => (event.kind === "entry" ? event.entry.outcome : event.kind))

describe("names of audit actions", () => {
  it.each(auditActions)("names %s", (action) => expect(actionWord(action)).toMatch(/^[A-Z]/))

  it.each(["toString", "later"])("has none for %s", (action) => expect(actionWord(action)).toBe(""))
})

describe("the life of an account", () => {
  it("goes back to the first staging, without reads", () =>
    expect(kinds(lifeOf(sample))).toEqual(["attempt", "changed", "replaced", "created"]))

  it("has the last staging if the log has none", () =>
    expect(kinds(lifeOf({ ...sample, audit: [] }))).toEqual(["attempt", "staged"]))

  it("has the import", () => {
    const account_created_at = "2026-11-24T07:30:00Z"
    expect(kinds(lifeOf({ ...sample, account_created_at }))[0]).toBe("imported")
  })
})
