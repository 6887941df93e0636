/** The counts of imports that were stored before there were counts, and while they are counted. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ImportKey, PayloadHash } from "@data-import/domain/account/ImportProcess"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { SupplierSummaries } from "@data-import/domain/ports/SupplierSummaries"
import {
  freshAttempt,
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import { claim, stageAll } from "@data-import/domain/testing/importStates"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { Database } from "../src/connection/Database.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { store } from "../src/imports/NewImports.ts"
import { layer as summaries } from "../src/imports/SupplierSummaries.ts"
import { layer as configuration } from "../src/setup/Configuration.ts"
import { countAll, missingCounts } from "../src/setup/ImportCounts.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(importProcesses, summaries, TestDatabase.layerTeam).pipe(
  Layer.provideMerge(configuration),
  Layer.provideMerge(TestDatabase.layer)
)

type Owner = Effect.Success<typeof freshSupplier>

/** A supplier with imports in several states, one of them with an account and its ledgers. */
const owner = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const found = yield* freshSupplier
  const { caller, keyOf } = found
  yield* stageAll(["a", "b", "c", "d"].map(keyOf), caller)
  yield* imports.setSkipped({ key: keyOf("b"), skipped: true, at: noon })
  const key = keyOf("c")
  const { attempt } = yield* claim(key, caller, noon)
  const newAccount = { ...newAccountFor(key, noonPlus(1)), account: domesticAccount(key) }
  yield* imports.complete({ key, attempt, newAccount, caller })
  return found
})

const missing = ({ supplier }: Owner) =>
  rows((sql) => sql.unsafe<object>(missingCounts, [supplier.code]))

/** Restores the state that a release without counts leaves. */
const forget = ({ supplier }: Owner) =>
  rows(
    (sql) => sql`
    with differences as (delete from import_differences where supplier = ${supplier.code}),
    totals as (delete from import_totals where supplier = ${supplier.code})
    insert into uncounted_suppliers values (${supplier.code})`
  )

const count = Effect.flatMap(Database, ({ run, sql }) =>
  run(Effect.provideService(countAll, SqlClient.SqlClient, sql as SqlClient.SqlClient))
)

const told = ({ supplier }: Owner) =>
  Effect.flatMap(SupplierSummaries, (port) =>
    port.read({ supplier: supplier.code, cohort: null, at: noonPlus(120) })
  )

layer(storage, { excludeTestServices: true })("the imports of an earlier release", (it) => {
  it.effect("are counted once, with their balances", () =>
    Effect.gen(function* () {
      const mine = yield* owner
      const before = yield* told(mine)
      expect(before.states).toMatchObject({ PENDING: 2, SKIPPED: 1, IMPORTED: 1 })
      yield* forget(mine)
      expect(yield* Effect.flip(told(mine))).toMatchObject({ _tag: "StorageUnavailable" })
      expect(yield* missing(mine)).not.toEqual([])
      yield* Effect.all([count, count], { concurrency: 2 })
      expect(yield* missing(mine)).toEqual([])
      // Their creation counts as long ago, so the accounts of the last hour are not counted again.
      expect(yield* told(mine)).toEqual({ ...before, importedLastHour: 0 })
      yield* count
      expect(yield* missing(mine)).toEqual([])
    })
  )

  it.effect("are counted exactly while others are stored and folded", () =>
    Effect.gen(function* () {
      const summaries = yield* SupplierSummaries
      const mine = yield* owner
      yield* forget(mine)
      const keys = Array.from({ length: 60 }, (_, index) => mine.keyOf(`later ${index}`))
      const writing = Effect.forEach(keys, (key) => stageAll([key], mine.caller), {
        concurrency: 4,
        discard: true
      })
      const folding = summaries.fold({ limit: 3, at: noon }).pipe(Effect.repeat({ times: 30 }))
      yield* Effect.all([writing, folding, count], { concurrency: "unbounded", discard: true })
      expect(yield* missing(mine)).toEqual([])
      expect((yield* told(mine)).states).toMatchObject({ PENDING: 62, SKIPPED: 1, IMPORTED: 1 })
    })
  )
})

/** Imports of one statement, the first of them pending. */
const storedTogether = Effect.fnUntraced(function* ({ caller, keyOf }: Owner, cohort: string) {
  const { run, sql } = yield* Database
  const newImport = (key: ImportKey, own: string | null, isPending: boolean) => ({
    key,
    payload: "{}",
    hash: PayloadHash.make("a".repeat(64)),
    cohort: own,
    at: noon,
    creation: isPending
      ? null
      : {
          attempt: freshAttempt(),
          newAccount: { ...newAccountFor(key, noon), account: domesticAccount(key) }
        }
  })
  yield* run(store(sql, [newImport(keyOf("pending"), cohort, true)], null, caller))
  const created = ["e", "f", "g", "h"].map((number, place) =>
    newImport(keyOf(number), place < 3 ? cohort : null, false)
  )
  expect((yield* run(store(sql, created, null, caller))).size).toBe(4)
})

layer(storage, { excludeTestServices: true })("the accounts of one statement", (it) => {
  it.effect("are counted together, by cohort and minute", () =>
    Effect.gen(function* () {
      const mine = yield* freshSupplier
      yield* storedTogether(mine, "first wave")
      expect(yield* missing(mine)).toEqual([])
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
})
