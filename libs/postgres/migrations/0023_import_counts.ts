/**
 * Counts of each supplier's imports and sums of its balances, kept by triggers, so that whatever
 * release writes is counted in the transaction of the write. A trigger appends differences and
 * updates no row of another transaction, so writes of one supplier do not wait for each other. The
 * query service adds the differences up into `import_totals` in the background; a reader adds
 * both. The imports that exist already are counted afterwards, by `ImportCounts`, and the index is
 * built there too, while requests continue.
 *
 * Can be undone: yes, by dropping the triggers and tables of counts.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const importCounts = Effect.gen(function* () {
  yield* tables
  yield* countsOfAccounts
  yield* countsOfCodes
  yield* countsOfImports
  yield* grants
})

/**
 * A difference or a total is of one `kind`: `state` (by its name), `code` (failed imports with this
 * code), `imported` (accounts by the minute of their creation), `ledger` (ledgers by their code,
 * and their balances) or `balance` (accounts, and their balances). A total without a cohort is of
 * all imports, with or without one.
 */
const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table import_differences (
      supplier text collate "C" not null,
      cohort text,
      kind text not null,
      name text not null,
      count bigint not null,
      amount numeric not null default 0
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`
  yield* sql`
    create table import_totals (
      supplier text collate "C" not null,
      cohort text not null,
      kind text not null,
      name text not null,
      count bigint not null,
      amount numeric not null,
      constraint import_totals_pkey primary key (supplier, cohort, kind, name)
    ) with (fillfactor = 70)`
  yield* sql`create index import_totals_by_minute on import_totals (name) where kind = 'imported'`
  yield* sql`
    create table import_failures (
      import_id bigint not null
        constraint import_failures_import_exists references import_processes,
      code text not null,
      supplier text collate "C" not null,
      cohort text,
      constraint import_failures_pkey primary key (import_id, code)
    )`
  yield* sql`create index import_failures_by_code on import_failures (supplier, code, cohort)`
  yield* sql`create table uncounted_suppliers (supplier text collate "C" primary key)`
})

/** The rules of the domain, but for leases, which depend on the clock. */
const stateOf = (row: string): string => `
  case when ${row}.account_number is not null then 'IMPORTED'
    when ${row}.skipped then 'SKIPPED'
    when ${row}.failed_staging = ${row}.stagings then 'FAILED'
    else 'PENDING'
  end`

/** A trigger sees what the service that writes may not read, and so do the functions it calls. */
const definer = "security definer set search_path = public, pg_temp"

/** Of an account that the same statement has created. */
const countsOfAccounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function count_account(account bigint, created_at timestamptz, supplier text,
      cohort text)
    returns void language sql as $$
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      select $3, $4, 'imported', to_char($2 at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'), 1, 0
      union all
      select $3, $4, 'balance', '', 1, balance from accounts where id = $1
      union all
      select $3, $4, 'ledger', ledger_code, 1, coalesce(ledger_balance,
        coalesce(last_statement_balance, 0) + coalesce((
          select sum(effect_on_balance) from transactions
          where account_id = $1 and ledger_position = ledgers.position
            and origin = 'current_statement'), 0))
      from ledgers where account_id = $1
    $$`)
  yield* sql.unsafe(`
    create function count_balance() returns trigger language plpgsql ${definer} as $$
    begin
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      select supplier, cohort, 'balance', '', 0, new.balance - old.balance
      from import_processes where id = new.id;
      return null;
    end $$`)
  yield* sql`
    create trigger accounts_count_balance after update on accounts
    for each row when (old.balance <> new.balance) execute function count_balance()`
})

/** Of an import that has become FAILED: the code of its latest attempt, and those of its errors. */
const countsOfCodes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function latest_codes(import bigint) returns text[] language sql stable as $$
      select array(
        select coalesce(outcome, 'lease_expired')
        union
        select error ->> 'code' from jsonb_array_elements(errors) as error
        where error ->> 'code' is not null)
      from import_attempts where import_id = $1 order by sequence desc limit 1
    $$`)
  yield* sql.unsafe(`
    create function count_codes(import bigint, supplier text, cohort text, codes text[])
    returns void language sql as $$
      with failures as (
        insert into import_failures (import_id, code, supplier, cohort)
        select $1, code, $2, $3 from unnest($4) as code
      )
      insert into import_differences (supplier, cohort, kind, name, count)
      select $2, $3, 'code', code, 1 from unnest($4) as code
    $$`)
  yield* sql.unsafe(`
    create function uncount_codes(import bigint) returns text[] language plpgsql as $$
    declare codes text[];
    begin
      with failures as (delete from import_failures where import_id = import returning *),
      differences as (
        insert into import_differences (supplier, cohort, kind, name, count)
        select supplier, cohort, 'code', code, -1 from failures
      )
      select array_agg(code) into codes from failures;
      return codes;
    end $$`)
})

/**
 * New imports are counted by the statement, as many are staged at once. Of the changes, a claim and
 * a staging anew of a pending import, which are the most, change no count and call nothing.
 */
const countsOfImports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function count_new_imports() returns trigger language plpgsql ${definer} as $$
    begin
      insert into import_differences (supplier, cohort, kind, name, count)
      select supplier, cohort, 'state', ${stateOf("added")}, count(*) from added group by 1, 2, 4;
      perform count_account(id, account_created_at, supplier, cohort) from added
      where account_number is not null;
      return null;
    end $$`)
  yield* sql`
    create trigger import_processes_count_new after insert on import_processes
    referencing new table as added for each statement execute function count_new_imports()`
  yield* sql.unsafe(`
    create function count_changed_import() returns trigger language plpgsql ${definer} as $$
    declare
      before text := ${stateOf("old")};
      now text := ${stateOf("new")};
      codes text[];
    begin
      if before <> now or old.cohort is distinct from new.cohort then
        insert into import_differences (supplier, cohort, kind, name, count)
        values (old.supplier, old.cohort, 'state', before, -1),
          (new.supplier, new.cohort, 'state', now, 1);
      end if;
      if before = 'FAILED' then codes := uncount_codes(new.id); end if;
      if now = 'FAILED' then
        if before <> 'FAILED' or old.lease_attempt is not null and new.lease_attempt is null then
          codes := latest_codes(new.id);
        end if;
        perform count_codes(new.id, new.supplier, new.cohort, codes);
      end if;
      if now = 'IMPORTED' and before <> 'IMPORTED' then
        perform count_account(new.id, new.account_created_at, new.supplier, new.cohort);
      end if;
      return null;
    end $$`)
  yield* sql.unsafe(`
    create trigger import_processes_count_changed after update on import_processes
    for each row when (
      old.skipped <> new.skipped
      or old.account_number is distinct from new.account_number
      or old.cohort is distinct from new.cohort
      or (old.failed_staging = old.stagings) is distinct from (new.failed_staging = new.stagings)
      or new.failed_staging = new.stagings
        and old.lease_attempt is not null and new.lease_attempt is null)
    execute function count_changed_import()`)
  // The triggers hold back writes until the end of the migration, so no import is missed here.
  yield* sql`insert into uncounted_suppliers select code from suppliers`
})

const grants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select on import_differences, import_totals, import_failures, uncounted_suppliers
    to data_import_query, data_import_operator`
  yield* sql`grant delete on import_differences to data_import_query`
  yield* sql`
    grant insert, delete, update (count, amount) on import_totals to data_import_query`
  yield* sql`grant select (cohort) on import_processes to data_import_query`
  yield* sql`grant select (cohort, staged_at) on import_processes to data_import_operator`
})
