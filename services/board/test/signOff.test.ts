/** The sign-off of a migration: what is open, who signs, and with which certificate. */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, Effect, Result } from "effect"
import { CertificateBoard } from "@data-import/domain/board/CertificateBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { ProgrammeBoard } from "@data-import/domain/board/ProgrammeBoard"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  begun,
  boardLayer,
  complete,
  entriesOf,
  issueAll,
  stage,
  summaryOf
} from "./boardPrograms.ts"

layer(boardLayer, { excludeTestServices: true })("a sign-off", (it) => {
  it.effect("ends a migration without open work, once its code is typed", () =>
    Effect.gen(function* () {
      const { signOff, signOffState } = yield* MigrationActions
      const { detail } = yield* MigrationBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b"])
      yield* complete(mine, "a")
      const open = [{ what: "PENDING", count: 1 }]
      expect(yield* signOffState(caller, code)).toEqual({ open, certificate: null, signed: null })
      const typed = { import_supplier: code, accept_open: true, reason: "x", certificate_id: null }
      const attempts = [
        [{ ...typed, import_supplier: "OTHER" }, "import_supplier"],
        [{ ...typed, accept_open: false }, "accept_open"]
      ] as const
      for (const [command, attr] of attempts) {
        expect(yield* Effect.flip(signOff(caller, code, command))).toMatchObject({
          _tag: "ValidationFailed",
          errors: [{ attr }]
        })
      }
      const signed = { by: "board:mia", at: "2026-01-01T12:00:00Z", reason: "x", accepted: open }
      const body = { open, certificate: null, signed }
      expect(yield* signOff(caller, code, typed)).toEqual(body)
      expect(yield* signOff(caller, code, typed)).toEqual(body)
      expect((yield* detail(user, code)).migration).toMatchObject({
        status: "Complete",
        condition: "unfinished"
      })
      expect(yield* entriesOf(caller.requestId)).toEqual([
        "board:mia sign_off request_failed_validation",
        "board:mia change_supplier_status complete",
        "board:mia sign_off signed without_certificate accepting 1 PENDING",
        expect.stringContaining("board:mia comment sign_off")
      ])
      const configuration = yield* Configuration
      yield* configuration.changeSupplierStatus(code, () => Result.succeed("Ongoing"))
      expect(yield* signOffState(caller, code)).toEqual({ open, certificate: null, signed: null })
    })
  )

  it.effect("names expected accounts and money that have not arrived, everywhere", () =>
    Effect.gen(function* () {
      const { setControlTotals, signOff, signOffState } = yield* MigrationActions
      const { controlTotals, detail, list } = yield* MigrationBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a", "b"], "wave-1")
      yield* complete(mine, "a")
      yield* complete(mine, "b")
      const balance = BigDecimal.fromStringUnsafe("100.01")
      yield* setControlTotals(caller, code, { cohort: null, expected: { accounts: 5, balance } })
      yield* setControlTotals(caller, code, { cohort: "wave-1", expected: { accounts: 1 } })
      const state = yield* signOffState(caller, code)
      expect(state.open).toEqual([
        { what: "ACCOUNTS_MISSING", count: 3 },
        { what: "ACCOUNTS_UNEXPECTED", count: 1 },
        { what: "CONTROL_TOTALS", count: 1 }
      ])
      const found = yield* detail(user, code)
      expect(found.migration).toMatchObject({ accounts_missing: 3, accounts_unexpected: 1 })
      const [listed] = (yield* list(user)).migrations
      expect(listed?.reason).toBe(
        "3 expected accounts were never received. 1 account more than expected was received."
      )
      const text = yield* summaryOf(user, code)
      expect(text).toContain("Not staged,Expected accounts never received,3")
      expect(text).toContain("Open,CONTROL_TOTALS,1")
      const whole = { cohort: null, differences: { accounts: -3, balance: "-0.01" } }
      const wave = { cohort: "wave-1", differences: { accounts: 1, balance: null } }
      expect((yield* controlTotals(user, code)).totals).toMatchObject([whole, wave])

      const typed = { import_supplier: code, accept_open: true, reason: "x", certificate_id: null }
      yield* signOff(caller, code, typed)
      const late = yield* Effect.flip(setControlTotals(caller, code, { cohort: null }))
      expect(late).toMatchObject({ _tag: "MigrationNotOngoing" })
      expect(yield* entriesOf(caller.requestId)).toEqual([
        "board:mia set_control_totals set accounts 5 balance 100.01 instead of none",
        "board:mia set_control_totals of a cohort: set accounts 1 instead of none",
        "board:mia change_supplier_status complete",
        "board:mia sign_off signed without_certificate accepting 3 ACCOUNTS_MISSING, " +
          "1 ACCOUNTS_UNEXPECTED, 1 CONTROL_TOTALS",
        expect.stringContaining("board:mia comment sign_off"),
        "board:mia set_control_totals import_supplier_migration_not_ongoing"
      ])
    })
  )

  it.effect("expects of the whole what is expected of its cohorts, if they have all accounts", () =>
    Effect.gen(function* () {
      const { setControlTotals, signOffState } = yield* MigrationActions
      const { controlTotals } = yield* MigrationBoard
      const { read } = yield* ProgrammeBoard
      const { caller, code, mine, user } = yield* begun
      const money = (balance: string) => ({ balance: BigDecimal.fromStringUnsafe(balance) })
      yield* stage(mine, ["a"], "wave-1")
      yield* stage(mine, ["b"], "wave-2")
      yield* complete(mine, "a")
      yield* complete(mine, "b")
      const one = { accounts: 1, ...money("50.00") }
      yield* setControlTotals(caller, code, { cohort: "wave-1", expected: one })
      expect(yield* controlTotals(user, code)).toMatchObject({
        totals: [{ expected: null }, { cohort: "wave-1" }],
        whole_is_sum: false
      })
      const two = { accounts: 1, ...money("51.00") }
      yield* setControlTotals(caller, code, { cohort: "wave-2", expected: two })
      expect(yield* controlTotals(user, code)).toMatchObject({
        totals: [
          {
            expected: { accounts: 2, balance: "101.00", ledger_balances: null },
            differences: { accounts: 0, balance: "-1.00" }
          },
          { cohort: "wave-1" },
          { cohort: "wave-2" }
        ],
        whole_is_sum: true
      })
      expect((yield* read(user, null)).money.expected).toEqual({
        ...{ migrations: 1, balance: "101.00", arrived: "100.00", differ: 1 }
      })
      expect((yield* signOffState(caller, code)).open).toEqual([
        { what: "CONTROL_TOTALS", count: 1 }
      ])
      const text = yield* summaryOf(user, code)
      for (const row of [
        'Control totals,All accounts: balance,"101.00 expected, 100.00 arrived, difference -1.00"',
        'Waves,wave-1,"done, 1 of 1 accounts imported"',
        "compared with the control totals"
      ]) {
        expect(text).toContain(row)
      }
    })
  )

  it.effect("has the newest certificate, if it is the one that was shown", () =>
    Effect.gen(function* () {
      const { signOff, signOffState } = yield* MigrationActions
      const { issue } = yield* CertificateBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a"], "wave-1")
      yield* complete(mine, "a")
      const issued = Effect.fnUntraced(function* (cohort: string | null) {
        yield* issueAll()
        const { certificate_id } = yield* issue(caller, code, {
          certificate_id: crypto.randomUUID(),
          cohort
        })
        yield* issueAll()
        return certificate_id
      })
      const whole = yield* issued(null)
      yield* issued("wave-1")
      const viewer = { user: { ...user, role: "viewer" as const } }
      expect((yield* signOffState(viewer, code)).certificate).toMatchObject({
        certificate_id: whole,
        tree_size: 1,
        root: null,
        is_changed: false
      })
      yield* stage(mine, ["b"])
      yield* complete(mine, "b")
      expect((yield* signOffState(viewer, code)).certificate?.is_changed).toBe(true)
      const typed = { import_supplier: code, accept_open: false, reason: "x", certificate_id: null }
      const refused = yield* Effect.flip(signOff(caller, code, typed))
      expect(refused).toMatchObject({ errors: [{ attr: "certificate_id" }] })
      yield* signOff(caller, code, { ...typed, certificate_id: whole })
      yield* issued(null)
      const state = yield* signOffState(caller, code)
      expect(state.certificate).toMatchObject({ certificate_id: whole, cohort: null })
      expect(yield* summaryOf(user, code)).toContain(`Certificate,Signed off with,${whole}`)
      expect(yield* entriesOf(caller.requestId)).toContain(`board:mia sign_off signed ${whole}`)
    })
  )
})
