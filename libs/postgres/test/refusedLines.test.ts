/** The rows of refused lines: those of an earlier release, and of concurrent transactions. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SupplierSummaries } from "@data-import/domain/ports/SupplierSummaries"
import { endOf, finish, started, taken } from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { stageAll } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { countAll } from "../src/setup/ImportCounts.ts"
import { rows } from "../testing/rows.ts"
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

const count = Effect.flatMap(Database, ({ run, sql }) =>
  run(Effect.provideService(countAll, SqlClient.SqlClient, sql as SqlClient.SqlClient))
)

const fold = Effect.flatMap(SupplierSummaries, (port) => port.fold({ limit: 100, at: noon }))

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("refused lines", (it) => {
  it.effect("are recorded of batches that an earlier release has worked on", () =>
    Effect.gen(function* () {
      const of = yield* refused(["a", "b", null])
      const { code } = of.supplier
      yield* rows((sql) => sql`delete from refused_lines where supplier = ${code}`)
      yield* rows((sql) => sql`insert into unrecorded_suppliers values (${code})`)
      yield* stageAll([of.keyOf("b")], of.caller)
      expect(yield* countOf(of)).toBe(0)
      yield* Effect.all([count, count], { concurrency: 2 })
      expect(yield* countOf(of)).toBe(2)
    })
  )

  it.effect("end a minute later if their import was stored at the same time", () =>
    Effect.gen(function* () {
      const of = yield* refused(["a", "b", null])
      const { code } = of.supplier
      // What is left when neither transaction sees the other.
      yield* rows((sql) => sql`alter table import_processes disable trigger all`)
      yield* rows(
        (sql) => sql`
        insert into import_processes (supplier, external_account_number, payload, staged_at)
        values (${code}, 'a', '{}', now())`
      )
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
