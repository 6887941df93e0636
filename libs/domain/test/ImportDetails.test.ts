/** The details of an import and its attempts. Source: docs/contract/queries.md#an-import. */
import { describe, expect, it } from "@effect/vitest"
import { type Attempt, meets, recordOfAttempt } from "../src/imports/ImportDetails.ts"
import { AttemptId, type ImportProcess } from "../src/imports/ImportProcess.ts"
import { noon, noonPlus } from "../testing/freshNames.ts"
import { key } from "./importPrograms.ts"

const id = AttemptId.make("one")

const attempt = (more: Partial<Attempt>): Attempt => ({
  id,
  dryRun: false,
  startedAt: noon,
  endedAt: noonPlus(5),
  outcome: "error",
  errors: [],
  ...more
})

const pending: ImportProcess = {
  key,
  skipped: false,
  erased: false,
  lease: null,
  account: null,
  revertedAt: null
}

const record = (more: Partial<Attempt>, process = pending) =>
  recordOfAttempt({ process }, attempt(more), noonPlus(60))

describe("the record of an attempt", () => {
  it.each([
    ["created", "CREATED", null],
    ["dry_run_successful", "DRY_RUN_SUCCESSFUL", "dry_run_successful"],
    ["account_failed_validation", "FAILED", "account_failed_validation"],
    ["service_unavailable", "FAILED", "service_unavailable"],
    ["lease_expired", "BROKEN_OFF", null]
  ])("that ended with %s is %s", (outcome, told, code) => {
    expect(record({ outcome })).toMatchObject({ outcome: told, code, ended_at: noonPlus(5) })
  })

  it("that was never ended runs until its lease expires, and then broke off", () => {
    const open = { outcome: null, endedAt: null }
    const until = (seconds: number) => ({
      ...pending,
      lease: { attempt: id, expiresAt: noonPlus(seconds), isDryRun: false }
    })
    expect(record(open, until(61))).toMatchObject({ outcome: "RUNNING", ended_at: null })
    const brokenOff = { outcome: "BROKEN_OFF", ended_at: noonPlus(60) }
    expect(record(open, until(60))).toMatchObject(brokenOff)
    expect(record(open, pending)).toMatchObject({ outcome: "BROKEN_OFF", ended_at: null })
  })
})

describe("a condition on the code", () => {
  const failed = (more: Partial<Attempt>, hasFailed = true) => ({
    process: pending,
    stagedAt: noon,
    stagings: 1,
    hash: null,
    cohort: null,
    hasFailed,
    reverted: [],
    attempts: [attempt({ outcome: "service_unavailable" }), attempt(more)]
  })

  it("looks at the latest attempt of a failed import", () => {
    const errors = [{ code: "required", attr: "a.b" }]
    expect(meets(failed({ errors }), { code: "required" }, noon)).toBe(true)
    expect(meets(failed({ errors }), { code: "error" }, noon)).toBe(true)
    expect(meets(failed({ errors }), { code: "service_unavailable" }, noon)).toBe(false)
    expect(meets(failed({ errors }, false), { code: "required" }, noon)).toBe(false)
  })
})
