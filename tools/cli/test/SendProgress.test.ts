/** The bars of a send say how far it is, how fast, when it ends, and what holds it up. */
import { describe, expect, it } from "@effect/vitest"
import type { Batch } from "@data-import/client/effect"
import { doneText, sentText } from "../send/SendProgress.ts"

const now = Date.parse("2026-03-01T12:00:00Z")
const timeOf = (at: number): string => new Date(at).toLocaleTimeString("en-GB")

const batch: Batch = {
  batch_id: "b",
  import_supplier: "ACME",
  operation: "STAGE",
  dry_run: false,
  name: null,
  cohort: null,
  state: "RUNNING",
  paused_by: [],
  waiting_for: null,
  counts: {
    received: 10_000,
    succeeded: 4_000,
    already: 0,
    failed: 1_000,
    cancelled: 0,
    remaining: 5_000
  },
  created_at: "2026-03-01T11:00:00Z",
  started_at: "2026-03-01T11:00:00Z",
  finished_at: null,
  lines_per_second: 1_250,
  estimated_finish_at: "2026-03-01T12:00:04Z",
  retry_of: null
}

describe("the bars of a send", () => {
  it("count what this command has sent for rate and end", () => {
    const sending = { lines: 10_000, received: 6_000, before: 4_000, elapsed: 4_000 }
    expect(sentText(sending, now)).toBe(
      `6,000 of 10,000 lines  500 lines/s  ends ${timeOf(now + 8_000)}`
    )
    expect(sentText({ ...sending, received: 4_000 }, now)).toBe("4,000 of 10,000 lines")
  })

  it("show rate and end as the service tells them", () => {
    expect(doneText(batch)).toBe(
      `5,000 of 10,000 lines, 1,000 failed  1,250 lines/s  ends ${timeOf(now + 4_000)}`
    )
  })

  it("say who paused the batch, or what it waits for", () => {
    const held = { ...batch, lines_per_second: 0, estimated_finish_at: null }
    expect(doneText({ ...held, paused_by: ["SUPPLIER", "KEY"] })).toMatch(
      /failed {2}paused by SUPPLIER, KEY$/
    )
    expect(doneText({ ...held, waiting_for: "DOCUMENTS" })).toMatch(
      /failed {2}waits for DOCUMENTS$/
    )
  })
})
