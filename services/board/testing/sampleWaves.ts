/** The waves of a migration in most of their states, for looking at their page. */
import type * as Migrations from "@data-import/api/board/Migrations"
import type * as Bodies from "@data-import/api/board/Waves"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { cohorts, instant } from "./sampleMigrations.ts"

type Wave = (typeof Bodies.WavesBody.Type)["waves"][number]

const hour = 3_600_000
const day = 24 * hour
const run = "00000000-0000-4000-8000-000000000003"

const bare = {
  lines_refused: 0,
  starts_on: null,
  owner: null,
  accounts: null,
  start: null,
  decision: null,
  verdict: "UNDECIDED",
  run: null,
  run_with_others: null,
  first_problem: null,
  balances_match: true,
  expected: null
} as const

const decided = (now: number, verdict: "GO" | "OVER" = "GO") => ({
  decision: { decision: "GO", by: "board:Maria Keller", at: instant(now - 3 * hour) } as const,
  verdict
})

const planned = (now: number, inDays: number) => ({
  starts_on: instant(now + inDays * day).slice(0, 10),
  owner: "Jonas Weber",
  accounts: 9_999
})

const begun = (migration: Migrations.MigrationBody, now: number): Wave => {
  const first = cohorts(migration).cohorts.find(({ cohort }) => cohort === "wave-1")
  const states = first?.states ?? noCounts
  return {
    ...bare,
    ...planned(now, -1),
    cohort: "wave-1",
    state: "unfinished",
    total: first?.total ?? 0,
    states,
    start: {
      at: instant(now - day),
      by: "board:Maria Keller",
      operations_team_name: "Migration Team",
      batch_id: run,
      outcome: "started"
    },
    ...decided(now),
    run: {
      batch_id: run,
      started_at: instant(now - day),
      finished_at: instant(now - day + 9 * hour),
      lines: 11_102,
      tried: 11_102,
      failed: 412
    },
    first_problem: {
      code: "invalid_phone_number",
      attr: "customers.*.landline",
      meaning: "Is no phone number.",
      lines: 233
    },
    expected: { accounts: states.IMPORTED, matches: true }
  }
}

export const waves = (
  migration: Migrations.MigrationBody,
  now: number
): typeof Bodies.WavesBody.Type => {
  const running = begun(migration, now)
  const start = { ...running.start, at: instant(now + 2 * day), outcome: null } as Wave["start"]
  const small = { total: 187, states: { ...noCounts, PENDING: 187 } }
  return {
    at: instant(now),
    import_supplier: migration.import_supplier,
    time_zone: migration.time_zone,
    planned: 95_000,
    plan_ends_on: instant(now + 20 * day).slice(0, 10),
    expected: migration.total + 222,
    waves: [
      running,
      {
        ...bare,
        ...small,
        cohort: "wave-2",
        state: "go",
        ...planned(now, 2),
        start,
        ...decided(now)
      },
      {
        ...bare,
        ...small,
        cohort: "wave-3",
        state: "taken_back",
        ...decided(now, "OVER")
      },
      {
        ...bare,
        cohort: "wave-4",
        state: "planned",
        total: 0,
        states: noCounts,
        ...planned(now, 9)
      }
    ],
    more: 0
  }
}
