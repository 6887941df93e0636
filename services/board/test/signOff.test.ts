/** The sign-off of a migration: what is open, who signs, and with which certificate. */
import { expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { CertificateBoard } from "@data-import/domain/board/CertificateBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { summaryCsv, summaryDocument } from "@data-import/domain/board/SummaryDocument"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { begun, boardLayer, complete, entriesOf, issueAll, stage } from "./boardPrograms.ts"

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
      const typed = { import_supplier: code, accept_open: true, certificate_id: null }
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
      const signed = { by: "board:mia", at: "2026-01-01T12:00:00Z" }
      const body = { open, certificate: null, signed }
      expect(yield* signOff(caller, code, typed)).toEqual(body)
      expect(yield* signOff(caller, code, typed)).toEqual(body)
      expect((yield* detail(user, code)).migration).toMatchObject({
        status: "Complete",
        condition: "done"
      })
      expect(yield* entriesOf(caller.requestId)).toEqual([
        "board:mia sign_off request_failed_validation",
        "board:mia change_supplier_status complete",
        "board:mia sign_off signed without_certificate"
      ])
      const configuration = yield* Configuration
      yield* configuration.changeSupplierStatus(code, () => Result.succeed("Ongoing"))
      expect(yield* signOffState(caller, code)).toEqual({ open, certificate: null, signed: null })
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
        root: null
      })
      const typed = { import_supplier: code, accept_open: false, certificate_id: null }
      const refused = yield* Effect.flip(signOff(caller, code, typed))
      expect(refused).toMatchObject({ errors: [{ attr: "certificate_id" }] })
      yield* signOff(caller, code, { ...typed, certificate_id: whole })
      yield* issued(null)
      const state = yield* signOffState(caller, code)
      expect(state.certificate).toMatchObject({ certificate_id: whole, cohort: null })
      const document = summaryDocument(yield* (yield* MigrationBoard).detail(user, code), state)
      expect(summaryCsv(document)).toContain(`Certificate,Signed off with,${whole}`)
      expect(yield* entriesOf(caller.requestId)).toContain(`board:mia sign_off signed ${whole}`)
    })
  )
})
