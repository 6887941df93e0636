/** The review of a wave: what its rehearsal said, what happened, and who has decided. */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { RehearsalOutcomes } from "@data-import/domain/batches/RehearsalOutcomes"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { WaveReview } from "@data-import/domain/board/WaveReview"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { BatchId } from "@data-import/domain/batches/Batch"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { endOf, finish, taken } from "@data-import/domain/testing/begunBatches"
import { noon } from "@data-import/domain/testing/freshNames"
import { claim } from "@data-import/domain/testing/importStates"
import { adjust } from "@data-import/postgres/testing/SteppedClock"
import { begun, boardLayer, complete, entriesOf, fail, type Owner, stage } from "./boardPrograms.ts"

const cohort = "wave-1"
const deciding = { cohort, decision: "GO", rehearsal_id: null, note: null } as const

const processing = (dry_run: boolean) => ({
  batch_id: crypto.randomUUID() as string,
  selection: { cohort },
  operations_team_name: "Migration Team",
  dry_run
})

/** Ends every line of the rehearsal: each account would be created. */
const rehearse = Effect.fnUntraced(function* ({ caller, keyOf }: Owner, id: string) {
  const imports = yield* ImportProcesses
  // Batches of other tests may be next.
  const chunk = yield* Effect.repeat(taken(noon), { until: ({ batch }) => batch.id === id })
  for (const { externalAccountNumber } of chunk.lines) {
    const key = keyOf(externalAccountNumber ?? "")
    const { attempt } = yield* claim(key, caller, noon, { dryRun: true })
    const outcome = "dry_run_successful"
    yield* imports.release({ key, attempt, outcome, errors: [], dryRun: true, caller, at: noon })
  }
  yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
}, Effect.scoped)

layer(boardLayer, { excludeTestServices: true })("the review of a wave", (it) => {
  it.effect("rests a decision on the newest rehearsal, and records who decided", () =>
    Effect.gen(function* () {
      const { decide, read } = yield* WaveReview
      const { process } = yield* MigrationActions
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b"], cohort)
      const refused = Effect.fnUntraced(function* (command: Parameters<typeof decide>[2]) {
        const failure = yield* Effect.flip(decide(caller, code, command))
        return "errors" in failure ? failure.errors.map(({ attr, code }) => [attr, code]) : failure
      })
      const none = { rehearsal: null, run: null, decisions: [], total: 2 }
      expect(yield* read(user, code, cohort)).toMatchObject(none)
      expect(yield* refused(deciding)).toEqual([["note", "required"]])

      const { batch_id } = yield* process(caller, code, processing(true))
      expect(yield* refused({ ...deciding, note: "Why" })).toEqual([["rehearsal_id", "invalid"]])
      const seen = { ...deciding, rehearsal_id: batch_id }
      expect(yield* refused({ ...seen, decision: "NO_GO" })).toEqual([["note", "required"]])
      yield* decide(caller, code, { ...seen, decision: "NO_GO", note: "Too late" })
      const go = { decision: "GO", by: "board:mia", rehearsal_id: batch_id, note: null }
      expect(yield* decide(caller, code, seen)).toMatchObject({
        rehearsal: { batch: { batch_id }, forecast: { lines: { total: 2 } } },
        verdict: "GO",
        decisions: [go, { decision: "NO_GO", note: "Too late" }]
      })
      expect(
        (yield* entriesOf(caller.requestId)).filter((entry) => entry.includes("decide_wave"))
      ).toEqual([
        "board:mia decide_wave request_failed_validation",
        "board:mia decide_wave no_go",
        "board:mia decide_wave go"
      ])
      yield* (yield* Configuration).configureSupplier(mine.supplier.code, { fourEyes: true })
      expect(yield* read(user, code, cohort)).toMatchObject({ four_eyes: true, verdict: "HALF" })
      yield* adjust("1 minute")
      const run = yield* process(caller, code, processing(false))
      expect(yield* read(user, code, cohort)).toMatchObject({
        rehearsal: { batch: { batch_id } },
        run: { batch_id: run.batch_id }
      })
      expect(yield* read(user, code, "wave-2")).toMatchObject({ ...none, total: 0 })
    })
  )

  it.effect("has what happened since, as the page of the rehearsal, and the control totals", () =>
    Effect.gen(function* () {
      const { read } = yield* WaveReview
      const { process, setControlTotals } = yield* MigrationActions
      const { batch, outcome } = yield* MigrationBoard
      const { counts, follow } = yield* RehearsalOutcomes
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b", "c"], cohort)
      const { batch_id } = yield* process(caller, code, processing(true))
      yield* rehearse(mine, batch_id)
      yield* complete(mine, "a")
      yield* fail(mine, "b")
      yield* setControlTotals(caller, code, { cohort, expected: { accounts: 3 } })
      const turn = Effect.andThen(follow(Duration.zero), counts(BatchId.make(batch_id)))
      const isFailed = ({ happened }: { happened: string }) => happened === "FAILED_OTHERWISE"
      yield* Effect.repeat(turn, { until: ({ counts: each }) => each.some(isFailed) })
      const surprise = { line: 2, external_account_number: "b", finally: "FAILED" }
      const review = yield* read(user, code, cohort)
      expect(review).toMatchObject({
        control_totals: { cohort, differences: { accounts: -2 } },
        rehearsal: {
          outcome: { compared: 2, as_predicted: 1, surprises: [surprise] }
        }
      })
      const { rehearsal } = review
      expect(yield* batch(user, code, batch_id)).toEqual({
        ...rehearsal,
        outcome: { ...rehearsal?.outcome, at: expect.any(String) }
      })
      const linesFrom = (afterLine: number) =>
        outcome(user, code, batch_id, { predicted: "SUCCEEDED", afterLine, limit: 2 })
      expect(yield* linesFrom(0)).toMatchObject({
        lines: [{ happened: "CREATED" }, surprise],
        next_after: 2
      })
      const last = { lines: [{ happened: "NOT_TRIED" }], next_after: null }
      expect(yield* linesFrom(2)).toMatchObject(last)
    })
  )

  it.effect("is refused for suppliers that the user may not see", () =>
    Effect.gen(function* () {
      const { decide, read } = yield* WaveReview
      const { caller, foreign, user } = yield* begun
      const { code } = foreign.supplier
      for (const attempt of [read(user, code, cohort), decide(caller, code, deciding)]) {
        expect(yield* Effect.flip(attempt)).toMatchObject({ _tag: "NotFound" })
      }
      expect(yield* entriesOf(caller.requestId)).toEqual([])
    })
  )
})
