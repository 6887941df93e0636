/** How the accounts that a batch stores at once are counted. */
import { expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { LineImport } from "@data-import/domain/batches/Batches"
import { type ImportKey, PayloadHash } from "@data-import/domain/imports/ImportProcess"
import {
  freshAttempt,
  freshSupplier,
  newAccountFor,
  noon
} from "@data-import/domain/testing/freshNames"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { Database } from "../src/connection/Database.ts"
import { store } from "../src/imports/LineImports.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

type Owner = Effect.Success<typeof freshSupplier>

/** Imports of one statement, the first of them pending. */
const storedTogether = Effect.fnUntraced(function* ({ caller, keyOf }: Owner, cohort: string) {
  const { run, sql } = yield* Database
  const newImport = (key: ImportKey, cohort: string | null, isPending: boolean): LineImport => ({
    key,
    hash: PayloadHash.make("a".repeat(64)),
    at: noon,
    staging: { payload: "{}", cohort },
    attempt: isPending
      ? null
      : {
          id: freshAttempt(),
          dryRun: false,
          startedAt: noon,
          judgement: Result.succeed({
            ...newAccountFor(key, noon),
            account: domesticAccount(key)
          })
        }
  })
  const ofBatch = { cohort: null, since: null }
  yield* run(store(sql, [newImport(keyOf("pending"), cohort, true)], ofBatch, caller))
  const created = ["e", "f", "g", "h"].map((number, place) =>
    newImport(keyOf(number), place < 3 ? cohort : null, false)
  )
  expect(yield* run(store(sql, created, ofBatch, caller))).toHaveLength(4)
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "the accounts of one statement",
  (it) => {
    it.effect("are counted together, by cohort and minute", () =>
      Effect.gen(function* () {
        const mine = yield* freshSupplier
        yield* storedTogether(mine, "first wave")
        const counted = yield* rows(
          (sql) => sql<{ kind: string; cohort: string | null; count: string; amount: string }>`
          select kind, cohort, count::text, trim_scale(amount)::text as amount
          from import_differences
          where supplier = ${mine.supplier.code} and kind <> 'state' order by kind, cohort`
        )
        expect(counted).toEqual([
          { kind: "balance", cohort: "first wave", count: "3", amount: "150" },
          { kind: "balance", cohort: null, count: "1", amount: "50" },
          { kind: "imported", cohort: "first wave", count: "3", amount: "0" },
          { kind: "imported", cohort: null, count: "1", amount: "0" },
          { kind: "ledger", cohort: "first wave", count: "3", amount: "150" },
          { kind: "ledger", cohort: null, count: "1", amount: "50" }
        ])
      })
    )
  }
)
