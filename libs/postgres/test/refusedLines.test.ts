/** The rows of refused lines that concurrent transactions leave. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { endOf, finish, started, taken } from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { insertImports, rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

type Owner = Effect.Success<typeof freshSupplier>

const refused = Effect.fnUntraced(function* (numbers: ReadonlyArray<string | null>) {
  const of = yield* freshSupplier
  yield* started(numbers, { of })
  const chunk = yield* taken()
  yield* finish(chunk, chunk.lines.map(endOf("FAILED")))
  return of
}, Effect.scoped)

const countOf = ({ supplier }: Owner) =>
  Effect.flatMap(SupplierSummaries, (port) =>
    port.read({ supplier: supplier.code, cohort: null, at: noon })
  ).pipe(Effect.map(({ linesRefused }) => linesRefused))

const fold = Effect.flatMap(SupplierSummaries, (port) => port.fold({ limit: 100, at: noon }))

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("refused lines", (it) => {
  it.effect("end a minute later if their import was stored at the same time", () =>
    Effect.gen(function* () {
      const of = yield* refused(["a", "b", null])
      const { code } = of.supplier
      // What is left when neither transaction sees the other.
      yield* rows((sql) => sql`alter table import_processes disable trigger all`)
      yield* insertImports(code, ["a"])
      yield* rows((sql) => sql`alter table import_processes enable trigger all`)
      yield* fold
      expect(yield* countOf(of)).toBe(3)
      yield* rows(
        (sql) => sql`
        update refused_lines set recorded_at = now() - interval '61 seconds'
        where supplier = ${code}`
      )
      yield* fold
      expect(yield* countOf(of)).toBe(2)
      const unsettled = rows(
        (sql) => sql`select from refused_lines where supplier = ${code} and not is_settled`
      )
      expect(yield* unsettled).toHaveLength(0)
    })
  )
})
