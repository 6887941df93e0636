/**
 * Counts the imports that were stored before there were counts, one supplier at a time, while
 * requests continue. One statement sees both all imports and all differences that were appended for
 * them at one instant, and appends what is missing, so the counts are exact from then on, even with
 * concurrent writes.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Counts of accounts by the minute of their creation are kept no longer. */
const minutesKept =
  "to_char(now() at time zone 'UTC' - interval '2 hours', 'YYYY-MM-DD\"T\"HH24:MI')"

/** Differences as they would be if all imports of `$1` were stored now. */
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

/**
 * The differences between the imports of the supplier `$1` and their counts. Errors are left out:
 * an import had none before it failed.
 */
export const missingCounts = `
  select cohort, kind, name, sum(count)::bigint as count, sum(amount) as amount
  from (
    select * from (${recount}) as recounted
    union all
    select cohort, kind, name, -count, -amount from (${present}) as counted
    where kind <> 'code'
  ) as both_sides
  where kind <> 'imported' or name >= ${minutesKept}
  group by 1, 2, 3 having sum(count) <> 0 or sum(amount) <> 0`

/** Splits the balances that an earlier release has counted by where they come from. */
const divideAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const suppliers = yield* sql<{ supplier: string }>`
    select supplier from undivided_suppliers order by supplier`
  for (const { supplier } of suppliers) {
    yield* sql.unsafe(
      `with due as (delete from undivided_suppliers where supplier = $1 returning supplier)
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      select due.supplier, missing.* from due, (${missingCounts}) as missing
      where missing.kind = 'balance'`,
      [supplier]
    )
  }
})

/** Stores the refused lines of batches that an earlier release has worked on. */
const recordAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const suppliers = yield* sql<{ supplier: string }>`
    select supplier from unrecorded_suppliers order by supplier`
  for (const { supplier } of suppliers) {
    yield* sql`
      with due as (delete from unrecorded_suppliers where supplier = ${supplier} returning supplier)
      select count(record_refused_lines(chunk, null))
      from due join batches using (supplier) join batch_chunks chunk on batch = batches.id
      where failed > 0 and 'FAILED' = any(outcomes)`
  }
})

/** Of several concurrent runs, one counts a supplier. */
export const countAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const suppliers = yield* sql<{ supplier: string }>`
    select supplier from uncounted_suppliers order by supplier`
  for (const { supplier } of suppliers) {
    yield* sql.unsafe(
      `with due as (delete from uncounted_suppliers where supplier = $1 returning supplier)
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      select due.supplier, missing.* from due, (${missingCounts}) as missing`,
      [supplier]
    )
  }
  yield* divideAll
  yield* recordAll
})
