/** What is deleted in slices is also sliced by bytes, so that no statement is long. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Sandbox } from "@data-import/domain/sandbox/Sandbox"
import { cancelled, started } from "@data-import/domain/testing/begunBatches"
import {
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus,
  sandboxOf
} from "@data-import/domain/testing/freshNames"
import { claim, stageAll, stagedContent } from "@data-import/domain/testing/importStates"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** Two of these are more than a slice. */
const largeBytes = 9 * 1024 * 1024

/** Hexadecimal digits that cannot be compressed. */
const largeText = `(select string_agg(md5(place::text), '')
  from generate_series(1, ${largeBytes / 32}) as place)`

const sandbox = Effect.gen(function* () {
  const { caller, keyOf, supplier } = yield* sandboxOf(yield* freshSupplier)
  const slice = Effect.flatMap(Sandbox, ({ deleteSlice }) =>
    deleteSlice({ caller, at: noonPlus(300), limit: 100 })
  )
  return { caller, keys: ["1", "2", "3"].map(keyOf), slice, supplier }
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true, timeout: "1 minute" })(
  "a slice",
  (it) => {
    it.effect("of a test organisation has one import whose payload is large", () =>
      Effect.gen(function* () {
        const { caller, keys, slice, supplier } = yield* sandbox
        yield* stageAll(keys, caller)
        yield* rows(
          (sql) => sql`
          update import_processes set payload_bytes = ${largeBytes}
          where supplier = ${supplier.code}`
        )
        for (const isLast of [false, false, true]) {
          expect(yield* slice).toMatchObject({ deleted: { imports: 1 }, hasDeleted: true })
          const left = yield* rows(
            (sql) => sql`select id from import_processes where supplier = ${supplier.code}`
          )
          expect(left.length === 0).toBe(isLast)
        }
        expect(yield* slice).toMatchObject({ hasDeleted: false, isEmpty: true })
      })
    )

    it.effect("of a batch has one chunk whose lines are large, and counts as progress", () =>
      Effect.gen(function* () {
        const { caller, slice, supplier } = yield* sandbox
        const batch = yield* started(["line"], { of: { caller, supplier } })
        yield* cancelled(batch)
        yield* rows((sql) =>
          sql.unsafe(`
          update batch_chunks set lines = array[decode(${largeText} || ${largeText}, 'hex')]
          where batch = '${batch.id}'`)
        )
        yield* rows(
          (sql) => sql`
          insert into batch_chunks (batch, first_line, line_count, lines, numbers, sizes, tries,
            outcomes, results, unfinished)
          select batch, first_line + 1, line_count, lines, numbers, sizes, tries, outcomes, results,
            unfinished
          from batch_chunks where batch = ${batch.id}`
        )
        const first = yield* slice
        expect(first).toMatchObject({ deleted: { batches: 0 }, hasDeleted: true, isEmpty: false })
        expect(yield* slice).toMatchObject({ deleted: { batches: 1 } })
      }).pipe(Effect.scoped)
    )

    it.effect("of old payloads has one that is large", () =>
      Effect.gen(function* () {
        const { caller, keys, supplier } = yield* sandbox
        const imports = yield* ImportProcesses
        for (const key of keys) {
          yield* imports.stage({ key, ...stagedContent, caller, at: noon })
          const { attempt } = yield* claim(key, caller, noon)
          yield* imports.complete({ key, attempt, caller, newAccount: newAccountFor(key, noon) })
        }
        yield* rows((sql) =>
          sql.unsafe(`
          update import_processes set payload = to_json(${largeText})
          where supplier = '${supplier.code}'`)
        )
        const areMore = imports.deletePayloads({ importedBefore: noonPlus(60), limit: 100 })
        expect([yield* areMore, yield* areMore, yield* areMore]).toEqual([true, true, false])
      })
    )
  }
)
