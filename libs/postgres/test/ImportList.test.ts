/** A page of a list is one text, which is parsed. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Stream } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { freshSupplier, newAccountFor, noon } from "@data-import/domain/testing/freshNames"
import { claim, stageAll } from "@data-import/domain/testing/importStates"
import { insertImports, rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const listOf = (supplier: SupplierCode, limit: number | null = null) =>
  Effect.flatMap(ImportProcesses, (imports) =>
    Stream.runCollect(imports.list({ supplier, kind: "all", after: null, limit }))
  )

const numbersOf = (count: number) =>
  Array.from({ length: count }, (_, index) => String(index + 1).padStart(6, "0"))

const stageMany = Effect.fnUntraced(function* (count: number) {
  const { supplier } = yield* freshSupplier
  yield* insertImports(supplier.code, numbersOf(count))
  return supplier.code
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "an import list in PostgreSQL",
  (it) => {
    it.effect.each([999, 1_000, 1_001, 2_000, 2_001])(
      "of %d imports is complete at every limit",
      (count) =>
        Effect.gen(function* () {
          const supplier = yield* stageMany(count)
          const all = numbersOf(count)
          for (const limit of [null, 1, 999, 1_000, 1_001, 2_000, 2_001, 2_002]) {
            const entries = yield* listOf(supplier, limit)
            const numbers = entries.map((entry) => entry.external_account_number)
            expect(numbers).toStrictEqual(all.slice(0, limit ?? undefined))
          }
        })
    )

    it.effect.each([
      ["2026-11-22 12:00:00.999999+00", "2026-11-22T12:00:00.999Z"],
      ["2026-11-22 12:00:00.123+00", "2026-11-22T12:00:00.123Z"],
      ["2026-11-22 12:00:00.000001+00", "2026-11-22T12:00:00.000Z"],
      ["9999-12-31 23:59:59.999+00", "9999-12-31T23:59:59.999Z"]
    ] as const)("returns %s as %s", ([stored, read]) =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { caller, keyOf, supplier } = yield* freshSupplier
        const key = keyOf("1")
        yield* stageAll([key], caller)
        const { attempt } = yield* claim(key, caller, noon)
        const newAccount = newAccountFor(key, noon)
        yield* imports.complete({ key, attempt, newAccount, caller })
        yield* rows(
          (sql) => sql`
        update import_processes set account_created_at = ${stored}::timestamptz
        where supplier = ${supplier.code}`
        )
        const [entry] = yield* listOf(supplier.code)
        expect(entry).toStrictEqual({
          external_account_number: "1",
          kraken_account_number: newAccount.number,
          account_created_at: DateTime.makeUnsafe(read)
        })
      })
    )
  }
)
