/**
 * Waves as the board answers them.
 * Source: docs/contract/board.md#waves.
 */
import type { DateTime } from "effect"
import type { Batch } from "../batches/Batch.ts"
import { type ComparedTotals, differenceOf, moneyDifferences } from "../migrations/ControlTotals.ts"
import type { WaveDecision } from "../migrations/GoNoGo.ts"
import type { CohortCounts } from "../migrations/Migrations.ts"
import type { FirstProblem, WavePlan, WaveStart } from "../migrations/WavePlans.ts"
import { verdictOfWave, type WaveBatches, waveState, withOthers } from "../migrations/WaveState.ts"
import { formatInstant } from "../schema/Field.ts"
import { maskedPath } from "./Masking.ts"
import { explained, totalOf } from "./MigrationBodies.ts"

const orNull = (at: DateTime.Utc | null): string | null => (at === null ? null : formatInstant(at))

/** What is known of a wave. */
export interface KnownWave {
  readonly counts: Omit<CohortCounts, "cohort"> & { readonly cohort: string }
  readonly plan: WavePlan | null
  /** The newest first. */
  readonly decisions: ReadonlyArray<WaveDecision>
  readonly fourEyes: boolean
  readonly batches: WaveBatches
  readonly problem: FirstProblem | null
  readonly isTied: boolean
  readonly totals: ComparedTotals | null
}

const startBody = ({ at, batch, by, outcome, team }: WaveStart) => ({
  at: formatInstant(at),
  by: `board:${by}`,
  operations_team_name: team,
  batch_id: batch as string,
  outcome
})

const runBody = ({ counts, finishedAt, id, started }: Batch) => ({
  batch_id: id as string,
  started_at: orNull(started?.at ?? null),
  finished_at: orNull(finishedAt),
  lines: counts.received,
  tried: counts.succeeded + counts.already + counts.failed,
  failed: counts.failed
})

const problemBody = ({ attr, code, lines }: FirstProblem) => ({
  code,
  attr: maskedPath(attr),
  meaning: explained(code).meaning,
  lines
})

const expectedBody = ({ expected, moved }: ComparedTotals) => {
  if (expected === null) return null
  const difference = differenceOf(expected.totals, moved.arrived)
  return {
    accounts: expected.totals.accounts,
    matches: difference.accounts === 0 && moneyDifferences(difference) === 0
  }
}

export const waveBody = (wave: KnownWave) => {
  const { batches, counts, decisions, isTied, plan, problem, totals } = wave
  const { cohort, linesRefused, states } = counts
  const target = plan?.accounts ?? null
  const [decision] = decisions
  const verdict = verdictOfWave(decisions, batches, wave.fourEyes)
  const facts = { states, linesRefused, verdict, batches, target, isPlanned: plan !== null }
  return {
    cohort,
    state: waveState(facts),
    total: totalOf(states),
    states,
    lines_refused: linesRefused,
    starts_on: (plan?.startsOn ?? null) as string | null,
    owner: plan?.owner ?? null,
    accounts: target,
    start: plan?.start ? startBody(plan.start) : null,
    decision:
      decision === undefined
        ? null
        : { decision: decision.decision, by: decision.by, at: formatInstant(decision.at) },
    verdict,
    run: batches.run && runBody(batches.run),
    run_with_others: (withOthers(batches, states)?.id ?? null) as string | null,
    first_problem: problem && problemBody(problem),
    balances_match: isTied,
    expected: totals && expectedBody(totals)
  }
}
