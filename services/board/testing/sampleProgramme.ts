/** All migrations of the samples as a programme, for looking at its page. */
import type * as Bodies from "@data-import/api/board/Programme"
import type { MigrationBody } from "@data-import/api/board/Migrations"
import { conditions } from "@data-import/domain/migrations/Condition"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { instant, migrations, problems } from "./sampleMigrations.ts"

type Programme = typeof Bodies.ProgrammeBody.Type

const day = 86_400_000

const total = (of: ReadonlyArray<MigrationBody>, part: (each: MigrationBody) => number) =>
  of.reduce((all, each) => all + part(each), 0)

const curve = (states: Programme["states"], whole: number, now: number): Programme["history"] =>
  Array.from({ length: 30 }, (_, index) => ({
    at: instant(now - (29 - index) * day),
    staged: Math.floor((whole * (index + 31)) / 60),
    imported: Math.floor((states.IMPORTED * index) / 29),
    failed: Math.floor((states.FAILED * index) / 29)
  }))

const states = (all: ReadonlyArray<MigrationBody>): Programme["states"] =>
  Object.fromEntries(
    Object.keys(noCounts).map((name) => [
      name,
      total(all, (each) => each.states[name as keyof Programme["states"]])
    ])
  ) as unknown as Programme["states"]

const since = (
  own: ReadonlyArray<MigrationBody>,
  supplier: string,
  now: number
): Programme["since"] => ({
  at: instant(now - day),
  imported: 21_904,
  failed_before: 388,
  conditions: own.slice(0, 3).map(({ condition, import_supplier, reason }) => ({
    import_supplier,
    from: "running",
    to: condition,
    reason
  })),
  waves: [{ import_supplier: supplier, cohort: "wave-1", ended_at: instant(now - 3_600_000) }],
  signed_off: [
    { import_supplier: supplier, by: "board:Maria Keller", at: instant(now - 7_200_000) }
  ]
})

const ahead = (supplier: string, now: number): Programme["ahead"] => [
  {
    import_supplier: supplier,
    cohort: "wave-2",
    starts_on: instant(now + 2 * day).slice(0, 10),
    owner: "Jonas Weber",
    accounts: 9_999,
    starts_at: instant(now + 2 * day),
    time_zone: "Europe/Berlin"
  }
]

export const programme = (organisation: string | null, now: number): Programme => {
  const all = migrations(now)
  const own = all.filter((each) => organisation === null || each.organisation === organisation)
  const counts = states(own)
  const whole = total(own, (each) => each.total)
  const [worst] = own.filter(({ states: of }) => of.FAILED > 0)
  const found = worst && problems(worst)
  const supplier = worst?.import_supplier ?? "DELTA_LEGACY"
  return {
    at: instant(now),
    organisation,
    organisations: [...new Set(all.map((each) => each.organisation))],
    migrations: own.length,
    conditions: Object.fromEntries(
      conditions.map((name) => [name, own.filter(({ condition }) => condition === name).length])
    ) as Programme["conditions"],
    total: whole,
    states: counts,
    lines_refused: total(own, (each) => each.lines_refused),
    accounts_missing: total(own, (each) => each.accounts_missing),
    untied: own.filter(({ balances_match }) => !balances_match).length,
    money: {
      imported: "-48120518.36",
      added: "1204.11",
      expected: { migrations: 12, balance: "-9204518.36", arrived: "-9204100.12", differ: 2 },
      certified: { migrations: 3, accounts: 58_464, balance: "-1204518.36" }
    },
    forecast: {
      of: 9,
      without: 4,
      whole: {
        open: 41_000,
        low: instant(now + 4 * day),
        at: instant(now + 6 * day),
        high: instant(now + 9 * day)
      }
    },
    plan: {
      migrations: 14,
      now: counts.IMPORTED + 1_204,
      imported: counts.IMPORTED,
      points: [
        { on: instant(now - 20 * day).slice(0, 10), accounts: 0 },
        { on: instant(now + 12 * day).slice(0, 10), accounts: whole }
      ]
    },
    history: curve(counts, whole, now),
    problems: {
      failed: counts.FAILED,
      of: Math.min(2_000, counts.FAILED),
      more: 7,
      groups: (found?.groups ?? []).map(({ examples: _, ...group }) => ({
        ...group,
        suppliers: own.slice(0, 5).map(({ import_supplier }) => ({ import_supplier, imports: 12 }))
      }))
    },
    since: since(own, supplier, now),
    ahead: ahead(supplier, now)
  }
}
