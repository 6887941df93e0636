/** What is known of a wave that was rehearsed, decided and imported, for looking at its page. */
import type * as Migrations from "@data-import/api/board/Migrations"
import type * as Waves from "@data-import/api/board/Waves"
import { attached } from "./sampleCertificates.ts"
import { batch, batches, cohorts, detail, instant } from "./sampleMigrations.ts"
import { controlTotals } from "./sampleTotals.ts"

export const rehearsalId = "00000000-0000-4000-8000-000000000005"

export const wave = (
  migration: Migrations.MigrationBody,
  cohort: string,
  now: number
): typeof Waves.WaveReviewBody.Type | undefined => {
  const found = cohorts(migration).cohorts.find((each) => each.cohort === cohort)
  const totals = controlTotals(migration, now).find((each) => each.cohort === cohort)
  if (found === undefined || totals === undefined) return undefined
  const decided = { by: "board:maria", rehearsal_id: rehearsalId }
  return {
    at: instant(now),
    cohort,
    total: found.total,
    states: found.states,
    lines_refused: 0,
    balances_match: true,
    control_totals: totals,
    rehearsal: batch(rehearsalId, now) ?? null,
    run_with_others: null,
    undone_at: null,
    run: batches(now).batches[2] ?? null,
    plan: detail(migration, now).plan?.points ?? [],
    certificate: attached(migration.import_supplier, now),
    four_eyes: false,
    verdict: "GO",
    decisions: [
      { ...decided, decision: "GO", at: instant(now - 10_800_000), note: null },
      {
        ...decided,
        decision: "NO_GO",
        at: instant(now - 90_000_000),
        rehearsal_id: null,
        note: "Nobody has rehearsed it."
      }
    ]
  }
}
