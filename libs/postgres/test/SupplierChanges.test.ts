import { expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import type { Batches } from "@data-import/domain/batches/Batches"
import { CertificateId, Certificates } from "@data-import/domain/certificates/Certificates"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { SupplierChanges } from "@data-import/domain/migrations/SupplierChanges"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { createdIn, createFor } from "@data-import/domain/testing/begunBatches"
import { freshSupplier, sandboxOf, noon } from "@data-import/domain/testing/freshNames"
import { stageAll, stagedHash } from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** The marker after folding all differences, as the query service does each second. */
const markerOf = Effect.fnUntraced(function* (code: SupplierCode) {
  const { fold } = yield* SupplierSummaries
  yield* Effect.repeat(fold({ limit: 1_000, at: noon }), { while: (count) => count > 0 })
  const found = (yield* (yield* SupplierChanges).markers).find(({ supplier }) => supplier === code)
  return found?.marker
})

const markers = (it: TestDatabase.It): void => {
  it.effect("stay the same while nothing changes, and differ by supplier", () =>
    Effect.gen(function* () {
      const { caller, keyOf, supplier } = yield* freshSupplier
      yield* stageAll([keyOf("a")], caller)
      const marker = yield* markerOf(supplier.code)
      const other = yield* freshSupplier
      yield* stageAll(["a", "b"].map(other.keyOf), other.caller)
      expect(marker).toEqual(expect.any(String))
      expect(yield* markerOf(supplier.code)).toBe(marker)
      const { markers } = yield* SupplierChanges
      const found = (yield* markers).find((each) => each.supplier === supplier.code)
      expect(found?.organisation).toBe(supplier.organisation)
    })
  )

  it.effect("change with imports, their cohorts, batches, certificates and the status", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const setup = yield* Configuration
      const { caller, keyOf, supplier } = yield* freshSupplier
      const stage = (key: ImportKey, cohort: string | null) =>
        imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon, cohort })
      const certificates = yield* Certificates
      const certificate = {
        id: CertificateId.make(crypto.randomUUID()),
        cohort: null,
        issuer: { organisation: caller.organisation, role: "client", id: caller.apiKey },
        at: noon,
        recorder: null
      }
      const seen = new Set([yield* markerOf(supplier.code)])
      const steps: ReadonlyArray<
        Effect.Effect<unknown, unknown, Batches | Certificates | Configuration | ImportProcesses>
      > = [
        stage(keyOf("a"), null),
        stage(keyOf("b"), "wave-1"),
        stage(keyOf("b"), "wave-2"),
        imports.setSkipped({ key: keyOf("a"), skipped: true, at: noon }),
        Effect.map(createFor({ caller, supplier }), createdIn),
        certificates.request({ ...certificate, caller, supplier: supplier.code }),
        certificates.report(certificate.id, { done: 1, total: 2 }),
        setup.changeSupplierStatus(supplier.code, () => Result.succeed("Paused"))
      ]
      for (const [index, step] of steps.entries()) {
        yield* step
        seen.add(yield* markerOf(supplier.code))
        expect(seen.size).toBe(index + 2)
      }
    })
  )

  it.effect("leave test suppliers out", () =>
    Effect.gen(function* () {
      const live = yield* freshSupplier
      const test = yield* sandboxOf(live)
      expect(yield* markerOf(live.supplier.code)).toEqual(expect.any(String))
      expect(yield* markerOf(test.supplier.code)).toBeUndefined()
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "SupplierChanges",
  (it) => {
    markers(it)
  }
)
