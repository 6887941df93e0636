/** Waves: compared, planned, and started by themselves. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditBoard } from "@data-import/domain/board/AuditBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { type PlanningWave, WaveBoard } from "@data-import/domain/board/WaveBoard"
import { WaveReview } from "@data-import/domain/board/WaveReview"
import { endOf, finish, taken } from "@data-import/domain/testing/begunBatches"
import { noon } from "@data-import/domain/testing/freshNames"
import { adjust } from "@data-import/postgres/testing/SteppedClock"
import { begun, boardLayer, complete, fail, stage } from "./boardPrograms.ts"

const cohort = "wave-1"
const team = "Migration Team"
const [day = ""] = new Date(noon.epochMilliseconds).toISOString().split("T")
const start = { time: "14:00", operations_team_name: team }
const planning = (over: Partial<PlanningWave> = {}): PlanningWave => ({
  cohort,
  starts_on: day,
  owner: "Maria",
  accounts: 187,
  start: null,
  ...over
})
const deciding = { cohort, decision: "GO", rehearsal_id: null, note: "Small" } as const

const waveNamed = (named: string) =>
  Effect.fnUntraced(function* (...asked: Parameters<WaveBoard["Service"]["list"]>) {
    const { waves } = yield* (yield* WaveBoard).list(...asked)
    return waves.find((wave) => wave.cohort === named)
  })
const waveOf = waveNamed(cohort)

/** The entries of the audit log about waves, the newest first. */
const audited = Effect.fnUntraced(function* (user: Parameters<WaveBoard["Service"]["list"]>[0]) {
  const { entries } = yield* (yield* AuditBoard).list(user, { limit: 100 })
  return entries
    .filter(({ action }) => action.endsWith("_wave"))
    .map(({ action, failed, outcome, who }) => `${who} ${action} ${outcome}${failed ? "!" : ""}`)
})

layer(boardLayer, { excludeTestServices: true })("waves on the board", (it) => {
  it.effect("are compared, also before there is an account", () =>
    Effect.gen(function* () {
      const { list, plan } = yield* WaveBoard
      const { process, setControlTotals, setPlan } = yield* MigrationActions
      const { caller, code, mine, user } = yield* begun
      yield* setPlan(caller, code, { points: [{ on: day, accounts: 500 }] })
      yield* setControlTotals(caller, code, { cohort: null, expected: { accounts: 400 } })
      yield* setControlTotals(caller, code, { cohort: "wave-2", expected: { accounts: 2 } })
      yield* plan(caller, code, planning())
      yield* stage(mine, ["a", "b"], "wave-2")
      const { batch_id } = yield* process(caller, code, {
        batch_id: crypto.randomUUID(),
        selection: { cohort: "wave-2" },
        operations_team_name: team
      })
      const chunk = yield* Effect.repeat(taken(noon), {
        until: ({ batch }) => batch.id === batch_id
      })
      yield* complete(mine, "a")
      yield* fail(mine, "b")
      const problems = [{ code: "invalid", attr: "customers.*.email", detail: null }] as const
      yield* finish(
        chunk,
        chunk.lines.map((line) =>
          line.externalAccountNumber === "a"
            ? endOf("SUCCEEDED")(line)
            : { ...endOf("FAILED")(line), problems }
        )
      )
      expect(yield* list(user, code)).toMatchObject({
        planned: 500,
        plan_ends_on: day,
        expected: 400,
        more: 0,
        waves: [
          { cohort, state: "planned", total: 0, starts_on: day, owner: "Maria", accounts: 187 },
          {
            cohort: "wave-2",
            state: "unfinished",
            states: { IMPORTED: 1, FAILED: 1 },
            starts_on: null,
            run: { batch_id, lines: 2, tried: 2, failed: 1 },
            first_problem: { code: "invalid", attr: "customers.*.email", lines: 1 },
            balances_match: true,
            expected: { accounts: 2, matches: false }
          }
        ]
      })
    }).pipe(Effect.scoped)
  )

  it.effect("are planned, planned anew and removed by managers, as far as that is possible", () =>
    Effect.gen(function* () {
      const { plan } = yield* WaveBoard
      const { caller, code, foreign, user } = yield* begun
      const refused = (over: Partial<PlanningWave>, supplier: string = code) =>
        Effect.flip(plan(caller, supplier, planning(over)))
      expect(yield* refused({ starts_on: "2020-01-01" })).toMatchObject({
        errors: [{ attr: "starts_on" }]
      })
      const unknown = { start: { ...start, operations_team_name: "none" } }
      expect(yield* refused(unknown)).toMatchObject({ _tag: "OperationsTeamDoesNotExist" })
      expect(yield* refused({}, foreign.supplier.code)).toMatchObject({ _tag: "NotFound" })
      yield* plan(caller, code, planning({ start }))
      expect(yield* waveOf(user, code)).toMatchObject({
        start: { at: `${day}T14:00:00Z`, by: "board:mia", outcome: null }
      })
      yield* plan(caller, code, planning())
      expect(yield* waveOf(user, code)).toMatchObject({ start: null, accounts: 187 })
      yield* plan(caller, code, { ...planning(), starts_on: null, owner: null, accounts: null })
      expect(yield* waveOf(user, code)).toBeUndefined()
      expect(yield* audited(user)).toEqual([
        "board:mia plan_wave removed",
        "board:mia plan_wave set",
        "board:mia plan_wave set",
        "board:mia plan_wave operations_team_name_does_not_exist!",
        "board:mia plan_wave request_failed_validation!"
      ])
    })
  )

  it.effect("start by themselves once, as the manager who planned it", () =>
    Effect.gen(function* () {
      const { plan, startDue } = yield* WaveBoard
      const { decide } = yield* WaveReview
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b"], cohort)
      yield* plan(caller, code, planning({ start }))
      yield* decide(caller, code, deciding)
      yield* startDue
      expect(yield* waveOf(user, code)).toMatchObject({ state: "go", run: null })
      yield* adjust("2 hours")
      yield* Effect.all([startDue, startDue, startDue], { concurrency: "unbounded" })
      yield* adjust("2 minutes")
      yield* startDue
      const wave = yield* waveOf(user, code)
      expect(wave).toMatchObject({
        state: "running",
        run: { batch_id: wave?.start?.batch_id, lines: 2 },
        start: { outcome: "started" }
      })
      expect(yield* audited(user)).toEqual([
        "board:mia start_wave started",
        "board:mia decide_wave go",
        "board:mia plan_wave set"
      ])
      const { entries } = yield* (yield* AuditBoard).list(user, { limit: 9, action: "start_batch" })
      expect(entries).toMatchObject([{ who: "board:mia", outcome: "changed" }])
      // What has started is kept until another start is planned.
      yield* plan(caller, code, planning({ owner: "Ben" }))
      expect(yield* waveOf(user, code)).toMatchObject({ start: { outcome: "started" } })
    })
  )

  it.effect("do not start without a standing go, or while the migration is paused", () =>
    Effect.gen(function* () {
      const { plan, startDue } = yield* WaveBoard
      const { decide } = yield* WaveReview
      const { setStatus } = yield* MigrationActions
      const { caller, code, mine, user } = yield* begun
      const cohorts = ["late", "no", "open", "paused"]
      yield* Effect.forEach(cohorts, (each) => stage(mine, [each], each))
      const at = (time: string) => ({ ...start, time })
      for (const each of cohorts) {
        const time = each === "late" ? "12:30" : "14:00"
        yield* plan(caller, code, planning({ cohort: each, start: at(time) }))
        if (each === "open") continue
        const decision = each === "no" ? "NO_GO" : "GO"
        yield* decide(caller, code, { ...deciding, cohort: each, decision })
      }
      yield* setStatus(caller, code, { status: "Paused", reason: "Holiday" })
      yield* adjust("2 hours")
      yield* startDue
      yield* setStatus(caller, code, { status: "Ongoing" })
      yield* startDue
      const outcomes = yield* Effect.forEach(cohorts, (each) => waveNamed(each)(user, code))
      expect(outcomes.map((wave) => [wave?.run, wave?.start?.outcome])).toEqual([
        [null, "not_started too_late"],
        [null, "not_started no_go"],
        [null, "not_started not_decided"],
        [null, "not_started import_supplier_migration_not_ongoing"]
      ])
      expect((yield* audited(user)).filter((entry) => entry.includes("start_wave"))).toContain(
        "board:mia start_wave not_started no_go!"
      )
    })
  )
})
