/** Writes to a supplier that is not Ongoing: one part of the contract of `ImportProcesses`. */
import type { Vitest } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { SupplierCode } from "../src/suppliers/Supplier.ts"
import { expectSame } from "./freshNames.ts"
import { type Arranged, arrange, lease, noLimits, stagedContent, tracesOf } from "./importStates.ts"

type Write = (
  imports: ImportProcesses["Service"],
  arranged: Arranged
) => Effect.Effect<unknown, unknown>

const stage: Write = (imports, { caller, key, now: at }) =>
  imports.stage({ key, ...stagedContent, caller, at })

const claim =
  (limits: typeof noLimits | { readonly deployment: number; readonly supplier: null }): Write =>
  (imports, { attempt, caller, key, now: at }) =>
    imports.claim({ key, attempt, dryRun: false, lease, limits, caller, at })

const setCohort: Write = (imports, { caller, key, now: at }) =>
  imports.setCohort({ key, cohort: "wave 1", caller, at })

const writes = [
  ["a first staging", "none", stage],
  ["a replacement", "pending", stage],
  ["a claim", "pending", claim(noLimits)],
  ["a claim within a limit", "pending", claim({ deployment: 99_999, supplier: null })],
  ["a change of the cohort", "pending", setCohort]
] as const

export const pause = (code: SupplierCode) =>
  Effect.flatMap(Configuration, ({ changeSupplierStatus }) =>
    changeSupplierStatus(code, () => Result.succeed("Paused"))
  )

export const pausedSupplierContract = (
  it: Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>
): void => {
  it.effect.each(writes)("refuses %s, and changes nothing", ([, state, write]) =>
    Effect.gen(function* () {
      const arranged = yield* arrange(state)
      const before = yield* tracesOf(arranged.key)
      yield* pause(arranged.key.import_supplier)
      const answer = yield* write(yield* ImportProcesses, arranged)
      expectSame(answer, { _tag: "NotOngoing", status: "Paused" })
      expectSame(yield* tracesOf(arranged.key), before)
    })
  )
}
