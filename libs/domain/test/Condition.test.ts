import { describe, expect, it } from "@effect/vitest"
import { DateTime, Option } from "effect"
import type { PauseReason } from "../src/batches/Batch.ts"
import {
  byNeed,
  type Condition,
  conditions,
  type Forecast,
  judge,
  type Standing
} from "../src/migrations/Condition.ts"
import type { StatusReason } from "../src/migrations/Comments.ts"
import { timeZoneNamed, utc } from "../src/suppliers/BusinessDay.ts"
import { noCounts, type StateCounts } from "../src/migrations/Migrations.ts"
import { CalendarDate } from "../src/schema/Field.ts"
import { noon } from "../testing/freshNames.ts"

const states = (counts: Partial<StateCounts>): StateCounts => ({ ...noCounts, ...counts })

/** A migration at noon of 1 January. */
const standing: Standing = {
  status: "Ongoing",
  states: states({ PENDING: 400, IMPORTED: 600 }),
  importedLastHour: 60,
  importedAt: DateTime.subtract(noon, { minutes: 1 }),
  takenBack: null,
  pausedBatches: [],
  linesToDo: 0,
  statusReason: null,
  unstaged: { failed: 0, remaining: 0, refused: 0, missing: 0, unexpected: 0 },
  plan: null,
  forecast: null,
  timeZone: utc,
  at: noon
}

const because = (text: string, at = noon, open: StatusReason["open"] = null): StatusReason => ({
  text,
  by: "board:mia",
  at,
  open
})

const pausedBy = (...reasons: ReadonlyArray<PauseReason>) => ({
  pausedBy: new Set(reasons),
  failed: 25,
  remaining: 1_500
})

const doneIn = (hours: number, later = 0): Forecast => {
  const at = DateTime.add(noon, { hours })
  return { open: 400, at, low: at, high: DateTime.add(at, { hours: later }) }
}

const point = (on: string, accounts: number) => ({ on: CalendarDate.make(on), accounts })

const auckland = Option.getOrThrow(timeZoneNamed("Pacific/Auckland"))

const imported = { states: states({ IMPORTED: 2_000 }) }

const taken = {
  states: states({ PENDING: 2_000 }),
  importedLastHour: 0,
  takenBack: { cohort: "wave-1", at: DateTime.subtract(noon, { seconds: 90 }) }
}

type Case = readonly [string, Partial<Standing>, Condition, string]

const cases: ReadonlyArray<Case> = [
  [
    "has imported what was staged of a batch that goes on",
    { states: states({ IMPORTED: 75 }), linesToDo: 1_925 },
    "running",
    "60 were imported in the last hour, 0 are open, and 1,925 lines of batches are to do."
  ],
  [
    "was taken back",
    { ...taken, importedAt: DateTime.subtract(noon, { minutes: 2 }) },
    "waiting",
    "wave-1 was taken back. 2,000 accounts wait to be imported."
  ],
  ["moves", {}, "running", "60 were imported in the last hour, 400 are open; no batch runs."],
  [
    "has a batch with too many failures",
    { pausedBatches: [pausedBy("FAILURES")] },
    "stuck",
    "A batch is paused: 25 lines failed, 1,500 lines wait."
  ],
  [
    "has several paused batches",
    { pausedBatches: [pausedBy("OPERATOR"), pausedBy("CALLER"), pausedBy("SUPPLIER", "KEY")] },
    "stuck",
    "2 batches are paused: an API key has ended, 3,000 lines wait."
  ],
  [
    "has a batch that its sender paused",
    { pausedBatches: [pausedBy("CALLER")] },
    "running",
    "60 were imported in the last hour, 400 are open; no batch runs."
  ],
  [
    "has created no account for a day",
    { importedLastHour: 0, importedAt: DateTime.subtract(noon, { hours: 1_024 }) },
    "stuck",
    "400 accounts wait, and none was imported for 1,024 hours."
  ],
  [
    "has created none for less than a day",
    { importedLastHour: 0, importedAt: DateTime.subtract(noon, { hours: 23, minutes: 59 }) },
    "waiting",
    "400 accounts wait to be imported."
  ],
  [
    "has never created an account",
    { importedLastHour: 0, importedAt: null, states: states({ PENDING: 1 }) },
    "waiting",
    "1 account waits to be imported."
  ],
  [
    "has failures of one percent",
    { states: states({ PENDING: 5, IMPORTED: 9_900, FAILED: 100 }) },
    "failing",
    "100 of 10,000 that were tried have failed (1.0 %)."
  ],
  [
    "has failures of less than one percent",
    { states: states({ PENDING: 5, IMPORTED: 9_901, FAILED: 99 }) },
    "running",
    "60 were imported in the last hour, 104 are open; no batch runs."
  ],
  [
    "waits for corrected data only",
    { states: states({ IMPORTED: 10_000, FAILED: 7 }) },
    "waiting",
    "7 accounts failed and wait for corrected data."
  ],
  [
    "is behind its plan by more than a tenth",
    { plan: [point("2025-12-30", 0), point("2025-12-31", 700), point("2026-02-01", 700)] },
    "slow",
    "600 are imported, 100 fewer than planned by now (14.2 % behind)."
  ],
  [
    "is behind its plan by a tenth",
    { plan: [point("2025-12-31", 666)], forecast: doneIn(-48) },
    "running",
    "60 were imported in the last hour, 400 are open; no batch runs."
  ],
  [
    "will be done after its plan",
    { plan: [point("2026-01-03", 1_000)], forecast: doneIn(62, 48) },
    "slow",
    "It will probably be done between 2026-01-04 and 2026-01-06, and is planned for 2026-01-03."
  ],
  [
    "will be done on the last day of its plan",
    { plan: [point("2026-01-03", 1_000)], forecast: doneIn(58) },
    "running",
    "60 were imported in the last hour, 400 are open; no batch runs."
  ],
  [
    "will be done after the last day where it is",
    { plan: [point("2026-01-03", 1_000)], forecast: doneIn(50), timeZone: auckland },
    "slow",
    "It will probably be done on 2026-01-04, and is planned for 2026-01-03."
  ],
  ["is paused", { status: "Paused" }, "paused", "It is paused, with 400 accounts open."],
  ["has nothing staged", { states: noCounts }, "waiting", "Nothing was staged yet."],
  [
    "has nothing open",
    { states: states({ IMPORTED: 2_000, SKIPPED: 1, ERASED: 1 }) },
    "done",
    "All 2,002 accounts are done."
  ],
  [
    "has refused lines, and all else imported",
    { ...imported, unstaged: { failed: 0, remaining: 0, refused: 222, missing: 0, unexpected: 0 } },
    "failing",
    "222 of 2,222 that were tried have failed (9.9 %)."
  ],
  [
    "fails in what it imports, and has a refused line",
    {
      states: states({ PENDING: 1_880, IMPORTED: 10, FAILED: 10 }),
      unstaged: { failed: 0, remaining: 0, refused: 1, missing: 0, unexpected: 0 }
    },
    "failing",
    "10 of 20 that were tried have failed (50.0 %)."
  ],
  [
    "has few refused lines and a failed account",
    {
      states: states({ IMPORTED: 2_000, FAILED: 1 }),
      unstaged: { failed: 0, remaining: 0, refused: 1, missing: 0, unexpected: 0 }
    },
    "waiting",
    "1 account failed and 1 line was refused and wait for corrected data."
  ],
  [
    "was sent fewer accounts than expected",
    { ...imported, unstaged: { failed: 0, remaining: 0, refused: 0, missing: 3, unexpected: 0 } },
    "waiting",
    "3 expected accounts were never received."
  ],
  [
    "has lines of a batch that does not run",
    { ...imported, unstaged: { failed: 0, remaining: 400, refused: 0, missing: 0, unexpected: 0 } },
    "waiting",
    "400 lines of batches are to do; none runs."
  ],
  [
    "is signed off with open imports",
    { status: "Complete" },
    "unfinished",
    "It is signed off, with 400 accounts left open."
  ],
  [
    "is signed off with lines of a batch that are no accounts",
    {
      status: "Complete",
      states: noCounts,
      unstaged: { failed: 50, remaining: 400, refused: 1, missing: 2, unexpected: 1 }
    },
    "unfinished",
    "It is signed off, with 50 failed lines, 1 refused line, 400 lines to do, 2 expected " +
      "accounts never received and 1 account more than expected left open."
  ],
  [
    "is signed off and has nothing staged",
    { status: "Complete", states: noCounts, statusReason: because("It was  never\nneeded...") },
    "unfinished",
    "It is signed off, with nothing staged: It was never needed (mia, 1 Jan)."
  ],
  [
    "is signed off although its money does not add up",
    {
      status: "Complete",
      states: states({ IMPORTED: 1 }),
      statusReason: because("x".repeat(200), noon, [{ what: "MONEY", count: 1 }])
    },
    "unfinished",
    `It is signed off, with money that does not add up: ${"x".repeat(160)}… (mia, 1 Jan).`
  ],
  [
    "is paused since last year, by the calendar of its zone",
    {
      status: "Paused",
      timeZone: Option.getOrThrow(timeZoneNamed("Pacific/Honolulu")),
      statusReason: because("Waiting", DateTime.subtract(noon, { hours: 11, days: 1 }))
    },
    "paused",
    "It is paused, with 400 accounts open: Waiting (mia, 30 Dec 2025)."
  ]
]

describe("the condition of a migration", () => {
  it.each(cases)("that %s", (_, changed, condition, reason) => {
    expect(judge({ ...standing, ...changed })).toEqual({ condition, reason })
  })

  it("orders by urgency, then by failures, then by code", () => {
    const of = (condition: Condition, FAILED: number, code: string) => ({
      condition,
      states: states({ FAILED }),
      import_supplier: code
    })
    const sorted = [
      of("stuck", 0, "C"),
      of("failing", 3, "B"),
      of("failing", 1, "A"),
      of("failing", 1, "B"),
      of("done", 9, "A")
    ]
    expect([...sorted].toReversed().toSorted(byNeed)).toEqual(sorted)
    expect(conditions.indexOf("stuck")).toBe(0)
  })
})
