/**
 * Counts new accounts with plans that are kept, and those of one statement together. A function in
 * SQL is planned anew at every call, which was a fifth of what an import costs the database. The
 * counts are the same: differences are added up.
 *
 * Can be undone: yes, by the functions of 0023.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const countsAtOnce = Effect.gen(function* () {
  yield* countsOfAccount
  yield* countsOfNewImports
})

/** What a ledger adds to the balances, of a row of `ledgers`. */
const ledgerBalance = `
  coalesce(ledger_balance, coalesce(last_statement_balance, 0) + coalesce((
    select sum(effect_on_balance) from transactions
    where transactions.account_id = ledgers.account_id and ledger_position = ledgers.position
      and origin = 'current_statement'), 0))`

const minuteOf = (instant: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI')`

const countsOfAccount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create or replace function count_account(account bigint, created_at timestamptz, supplier text,
      cohort text)
    returns void language plpgsql as $$
    begin
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      select $3, $4, 'imported', ${minuteOf("$2")}, 1, 0
      union all
      select $3, $4, 'balance', '', 1, balance from accounts where id = $1
      union all
      select $3, $4, 'ledger', ledger_code, 1, ${ledgerBalance} from ledgers where account_id = $1;
    end $$`)
})

/** The rules of the domain, but for leases, which depend on the clock: as in 0027. */
const stateOfAdded = `
  case when erased_at is not null then 'ERASED' when account_number is not null then 'IMPORTED'
    when skipped then 'SKIPPED' when failed_staging = stagings then 'FAILED' else 'PENDING'
  end`

/** Accounts and ledgers are looked up one by one, because plans are kept while tables grow. */
const countsOfNewImports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create or replace function count_new_imports() returns trigger language plpgsql
    security definer set search_path = public, pg_temp as $$
    begin
      insert into import_differences (supplier, cohort, kind, name, count)
      select supplier, cohort, 'state', ${stateOfAdded}, count(*) from added group by 1, 2, 4;
      if exists (select from added where account_number is not null) then
        insert into import_differences (supplier, cohort, kind, name, count, amount)
        select supplier, cohort, 'imported', ${minuteOf("account_created_at")}, count(*), 0
        from added where account_number is not null group by 1, 2, 4
        union all
        select supplier, cohort, 'balance', '', count(*), sum(account.balance)
        from added cross join lateral (
          select balance from accounts where accounts.id = added.id offset 0) as account
        where account_number is not null group by 1, 2
        union all
        select supplier, cohort, 'ledger', ledger.code, count(*), sum(ledger.balance)
        from added cross join lateral (
          select ledger_code as code, ${ledgerBalance} as balance
          from ledgers where ledgers.account_id = added.id offset 0) as ledger
        where account_number is not null group by 1, 2, 4;
      end if;
      return null;
    end $$`)
})
