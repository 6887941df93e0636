/** The counts of imports are those that counting all of them gives. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
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

/** Counts of accounts by the minute of their creation are kept no longer. */
const minutesKept =
  "to_char(now() at time zone 'UTC' - interval '2 hours', 'YYYY-MM-DD\"T\"HH24:MI')"

/** Differences as they would be if all imports of `$1` were stored now, counted otherwise. */
const recount = `
  select cohort, 'state' as kind,
    case when erased_at is not null then 'ERASED' when account_number is not null then 'IMPORTED'
      when skipped then 'SKIPPED' when failed_staging = stagings then 'FAILED' else 'PENDING'
    end as name,
    count(*) as count, 0 as amount
  from import_processes where supplier = $1 group by 1, 3
  union all
  select cohort, 'imported', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'),
    count(*), 0
  from accounts join import_processes using (id)
  where supplier = $1 and created_at > now() - interval '2 hours'
  group by 1, 3
  union all
  select cohort, 'balance', part.name, sum(part.count)::bigint, sum(part.amount)
  from accounts join import_processes using (id) cross join lateral (
    select coalesce(sum(effect_on_balance), 0) as amount from transactions
    where account_id = id and origin = 'post_import'
  ) as later cross join lateral (values
    (case when transfer_balance is not null
      and not exists (select from ledgers where account_id = id) then 'transfer' else '' end,
      1, balance - later.amount),
    ('added', 0, later.amount)
  ) as part (name, count, amount)
  where supplier = $1 group by 1, 3
  union all
  select cohort, 'ledger', ledger_code, count(*),
    sum(coalesce(ledger_balance, coalesce(last_statement_balance, 0) + coalesce(current.effect, 0)))
  from import_processes join ledgers on account_id = id left join lateral (
    select sum(effect_on_balance) as effect from transactions
    where ledger_balance is null and account_id = id and ledger_position = ledgers.position
      and origin = 'current_statement'
  ) as current on true
  where supplier = $1 group by 1, 3`

/** A total without a cohort includes all cohorts, so their totals are subtracted. */
const present = `
  select cohort, kind, name, count, amount from import_differences where supplier = $1
  union all
  select nullif(cohort, ''), kind, name, count, amount from import_totals where supplier = $1
  union all
  select null, kind, name, -count, -amount from import_totals
  where supplier = $1 and cohort <> ''`

/** The differences between the imports of the supplier `$1` and their counts, but for errors. */
const missingCounts = `
  select cohort, kind, name, sum(count)::bigint as count, sum(amount) as amount
  from (
    select * from (${recount}) as recounted
    union all
    select cohort, kind, name, -count, -amount from (${present}) as counted
    where kind <> 'code'
  ) as both_sides
  where kind <> 'imported' or name >= ${minutesKept}
  group by 1, 2, 3 having sum(count) <> 0 or sum(amount) <> 0`

const missing = ({ supplier }: Owner) =>
  rows((sql) => sql.unsafe<object>(missingCounts, [supplier.code]))

const told = ({ supplier }: Owner) =>
  Effect.flatMap(SupplierSummaries, (port) =>
    port.read({ supplier: supplier.code, cohort: null, at: noonPlus(120) })
  )

layer(storage, { excludeTestServices: true })("the counts", (it) => {
  it.effect("have all imports, with their balances, while others are stored and folded", () =>
    Effect.gen(function* () {
      const summaries = yield* SupplierSummaries
      const mine = yield* owner
      expect((yield* told(mine)).states).toMatchObject({ PENDING: 2, SKIPPED: 1, IMPORTED: 1 })
      expect(yield* missing(mine)).toEqual([])
      const keys = Array.from({ length: 60 }, (_, index) => mine.keyOf(`later ${index}`))
      const writing = Effect.forEach(keys, (key) => stageAll([key], mine.caller), {
        concurrency: 4,
        discard: true
      })
      const folding = summaries.fold({ limit: 3, at: noon }).pipe(Effect.repeat({ times: 30 }))
      yield* Effect.all([writing, folding], { concurrency: "unbounded", discard: true })
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
