/**
 * What the counts of imports were at the end of each hour, when each supplier changed last, the
 * plan of each migration and who has signed it off, and balances by where they come from. The
 * counts are those of `import_totals`, stored by the statement that adds the differences up, so no
 * write of an import takes longer. They are the whole counts and no changes: what an instance of an
 * earlier release adds up without them is in the next one.
 *
 * Can be undone: yes, by the functions of 0030, and by dropping the tables that it creates.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const importHistory = Effect.gen(function* () {
  yield* history
  yield* plans
  yield* partsOfBalances
  yield* actions
  yield* grants
})

/** Counts from before there was a history are as of 1970, so that no hour seems to have had them. */
const history = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table import_history (
      supplier text collate "C" not null,
      cohort text not null,
      kind text not null,
      name text not null,
      hour timestamptz not null,
      count bigint not null,
      constraint import_history_pkey primary key (supplier, cohort, kind, name, hour)
    ) with (fillfactor = 70)`
  yield* sql`
    create table import_activity (
      supplier text collate "C" constraint import_activity_pkey primary key,
      changed_at timestamptz not null,
      imported_at timestamptz
    ) with (fillfactor = 70)`
  yield* sql`
    insert into import_history (supplier, cohort, kind, name, hour, count)
    select supplier, cohort, kind, name, 'epoch', count from import_totals
    where kind in ('state', 'code', 'balance') and supplier not like ' %'`
  yield* sql`
    insert into import_activity (supplier, changed_at, imported_at)
    select supplier, now(), case when bool_or(kind = 'balance') then now() end from import_totals
    where cohort = '' and supplier not like ' %' group by supplier`
})

const plans = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table migration_plans (
      supplier text collate "C"
        constraint migration_plans_pkey primary key
        constraint migration_plans_supplier_exists references suppliers,
      points json not null
        constraint migration_plans_points_list check (json_typeof(points) = 'array'),
      set_at timestamptz not null
    )`
  yield* sql`
    create table migration_sign_offs (
      supplier text collate "C"
        constraint migration_sign_offs_pkey primary key
        constraint migration_sign_offs_supplier_exists references suppliers,
      signed_by text not null,
      signed_at timestamptz not null
    )`
})

/** What a ledger adds to the balances, of a row of `ledgers`: as in 0030. */
const ledgerBalance = `
  coalesce(ledger_balance, coalesce(last_statement_balance, 0) + coalesce((
    select sum(effect_on_balance) from transactions
    where transactions.account_id = ledgers.account_id and ledger_position = ledgers.position
      and origin = 'current_statement'), 0))`

const minuteOf = (instant: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI')`

/** The rules of the domain, but for leases, which depend on the clock: as in 0027. */
const stateOfAdded = `
  case when erased_at is not null then 'ERASED' when account_number is not null then 'IMPORTED'
    when skipped then 'SKIPPED' when failed_staging = stagings then 'FAILED' else 'PENDING'
  end`

/** Of a row of `accounts`. Only one with a transfer balance costs a look-up. */
const partOf = (account: string): string => `
  case when ${account}.transfer_balance is not null
    and not exists (select from ledgers where ledgers.account_id = ${account}.id)
  then 'transfer' else '' end`

/**
 * The kind `balance` gets names: that of ledgers has none, `transfer` is that of accounts without
 * ledgers, and `added` is what came after the import. Their sum is what it was, so an earlier
 * release reads the same. What is stored already is divided afterwards, by `ImportCounts`.
 */
const partsOfBalances = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table undivided_suppliers (
      supplier text collate "C" constraint undivided_suppliers_pkey primary key
    )`
  yield* sql`insert into undivided_suppliers select code from suppliers`
  yield* sql.unsafe(`
    create or replace function count_account(account bigint, created_at timestamptz, supplier text,
      cohort text)
    returns void language plpgsql as $$
    begin
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      select $3, $4, 'imported', ${minuteOf("$2")}, 1, 0
      union all
      select $3, $4, 'balance', ${partOf("accounts")}, 1, balance from accounts where id = $1
      union all
      select $3, $4, 'ledger', ledger_code, 1, ${ledgerBalance} from ledgers where account_id = $1;
    end $$`)
  yield* sql.unsafe(`
    create or replace function count_balance() returns trigger language plpgsql
    security definer set search_path = public, pg_temp as $$
    begin
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      select supplier, cohort, 'balance', 'added', 0, new.balance - old.balance
      from import_processes where id = new.id;
      return null;
    end $$`)
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
        select supplier, cohort, 'balance', account.part, count(*), sum(account.balance)
        from added cross join lateral (
          select balance, ${partOf("accounts")} as part
          from accounts where accounts.id = added.id offset 0) as account
        where account_number is not null group by 1, 2, 4
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

/** What else the log may say; the constraint keeps what it has, whatever that is. */
const actions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$
    declare known text := (
      select pg_get_expr(conbin, conrelid) from pg_constraint
      where conname = 'audit_log_action_known' and conrelid = 'audit_log'::regclass);
    begin
      alter table audit_log drop constraint audit_log_action_known;
      execute format('alter table audit_log add constraint audit_log_action_known
        check (%s or action in (''set_plan'', ''sign_off'', ''read_document'')) not valid', known);
    end $$`
})

const grants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select, insert, update (count) on import_history to data_import_query`
  yield* sql`
    grant select, insert, update (changed_at, imported_at) on import_activity
    to data_import_query`
})
