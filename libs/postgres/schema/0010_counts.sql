-- Counts of each supplier's imports and sums of its balances, kept by triggers, so that whatever
-- writes is counted in the transaction of the write. A trigger appends differences and updates no
-- row of another transaction, so writes of one supplier do not wait for each other. The query
-- service adds the differences up into `import_totals` in the background; a reader adds both.
--
-- Can be undone: yes, by dropping the triggers and tables of counts.

-- A difference or a total is of one `kind`: `state` (by its name), `code` (failed imports with this
-- code), `imported` (accounts by the minute of their creation), `reverted` (accounts), `ledger`
-- (ledgers by their code, and their balances) or `balance` (accounts, and their balances: those of
-- ledgers have no name, `transfer` is that of accounts without ledgers, and `added` is what came
-- after the import). A total without a cohort is of all imports, with or without one.
create table import_differences (
  supplier text collate "C" not null,
  cohort text,
  kind text not null,
  name text not null,
  count bigint not null,
  amount numeric not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

grant select, delete on import_differences to data_import_query;
grant select on import_differences to data_import_board, data_import_operator;

create table import_totals (
  supplier text collate "C" not null,
  cohort text not null,
  kind text not null,
  name text not null,
  count bigint not null,
  amount numeric not null,
  constraint import_totals_pkey primary key (supplier, cohort, kind, name)
) with (fillfactor = 70);

create index import_totals_by_minute on import_totals (name) where kind = 'imported';

grant select, insert, delete, update (count, amount) on import_totals to data_import_query;
grant select on import_totals to data_import_board, data_import_operator;

create table import_failures (
  import_id bigint not null
    constraint import_failures_import_exists references import_processes,
  code text not null,
  supplier text collate "C" not null,
  cohort text,
  constraint import_failures_pkey primary key (import_id, code)
);

create index import_failures_by_code on import_failures (supplier, code, cohort);

grant select on import_failures to data_import_query, data_import_board, data_import_operator;

-- The whole counts at the end of each hour, stored by the statement that adds the differences up,
-- so no write of an import takes longer.
create table import_history (
  supplier text collate "C" not null,
  cohort text not null,
  kind text not null,
  name text not null,
  hour timestamptz not null,
  count bigint not null,
  constraint import_history_pkey primary key (supplier, cohort, kind, name, hour)
) with (fillfactor = 70);

grant select, insert, update (count) on import_history to data_import_query;
grant select on import_history to data_import_board;

create table import_activity (
  supplier text collate "C" constraint import_activity_pkey primary key,
  changed_at timestamptz not null,
  imported_at timestamptz
) with (fillfactor = 70);

grant select, insert, update (changed_at, imported_at) on import_activity to data_import_query;
grant select on import_activity to data_import_board;

-- The name under which the balance of an account is counted.
create function account_part(account bigint, transfer_balance numeric) returns text
language plpgsql stable as $$
begin
  return case when transfer_balance is not null
    and not exists (select from ledgers where account_id = account)
  then 'transfer' else '' end;
end $$;

-- What a ledger contributes to the balance of its account.
create function ledger_sum(account bigint, place integer, sent numeric, last_statement numeric)
returns numeric language plpgsql stable as $$
begin
  return coalesce(sent, coalesce(last_statement, 0) + coalesce((
    select sum(effect_on_balance) from transactions
    where account_id = account and ledger_position = place and origin = 'current_statement'), 0));
end $$;

-- An account that an import has become. In PL/pgSQL, because a function in SQL is planned anew at
-- every call, which was a fifth of what an import costs the database.
create function count_account(account bigint, created_at timestamptz, supplier text, cohort text)
returns void language plpgsql as $$
begin
  insert into import_differences (supplier, cohort, kind, name, count, amount)
  select $3, $4, 'imported', to_char($2 at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'), 1, 0
  union all
  select $3, $4, 'balance', account_part(id, transfer_balance), 1, balance
  from accounts where id = $1
  union all
  select $3, $4, 'ledger', ledger_code, 1,
    ledger_sum(account_id, position, ledger_balance, last_statement_balance)
  from ledgers where account_id = $1;
end $$;

-- Takes back what `count_account` and later additions have counted.
create function uncount_account(account bigint, supplier text, cohort text)
returns void language plpgsql as $$
declare added numeric := (
  select coalesce(sum(effect_on_balance), 0) from transactions
  where account_id = account and origin = 'post_import');
begin
  insert into import_differences (supplier, cohort, kind, name, count, amount)
  select $2, $3, 'reverted', '', 1, 0
  union all
  select $2, $3, 'imported', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'), -1, 0
  from accounts where id = account
  union all
  select $2, $3, 'balance', account_part(id, transfer_balance), -1, added - balance
  from accounts where id = account
  union all
  select $2, $3, 'balance', 'added', 0, -added where added <> 0
  union all
  select $2, $3, 'ledger', ledger_code, -1,
    -ledger_sum(account_id, position, ledger_balance, last_statement_balance)
  from ledgers where account_id = account;
end $$;

create function count_balance() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into import_differences (supplier, cohort, kind, name, count, amount)
  select supplier, cohort, 'balance', 'added', 0, new.balance - old.balance
  from import_processes where id = new.import_id;
  return null;
end $$;

create trigger accounts_count_balance after update on accounts
for each row when (old.balance <> new.balance) execute function count_balance();

-- Of an import that has become FAILED: the code of its latest attempt that was no dry run, and
-- those of its errors.
create function latest_codes(import bigint) returns text[] language sql stable as $$
  select array(
    select coalesce(outcome, 'lease_expired')
    union
    select error ->> 'code' from jsonb_array_elements(errors) as error
    where error ->> 'code' is not null)
  from import_attempts where import_id = $1 and not dry_run order by sequence desc limit 1
$$;

create function count_codes(import bigint, supplier text, cohort text, codes text[]) returns void
language sql as $$
  with failures as (
    insert into import_failures (import_id, code, supplier, cohort)
    select $1, code, $2, $3 from unnest($4) as code
  )
  insert into import_differences (supplier, cohort, kind, name, count)
  select $2, $3, 'code', code, 1 from unnest($4) as code
$$;

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
end $$;

-- The states are those of the domain, but for leases, which depend on the clock. New imports are
-- counted by the statement, as many are staged at once. Accounts and ledgers are looked up one by
-- one, because plans are kept while tables grow.
create function count_new_imports() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into import_differences (supplier, cohort, kind, name, count)
  select supplier, cohort, 'state',
    case when erased_at is not null then 'ERASED' when account_number is not null then 'IMPORTED'
      when skipped then 'SKIPPED' when failed_staging = stagings then 'FAILED' else 'PENDING'
    end, count(*)
  from added group by 1, 2, 4;
  if exists (select from added where account_number is not null) then
    insert into import_differences (supplier, cohort, kind, name, count, amount)
    select supplier, cohort, 'imported',
      to_char(account_created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'), count(*), 0
    from added where account_number is not null group by 1, 2, 4
    union all
    select supplier, cohort, 'balance', account.part, count(*), sum(account.balance)
    from added cross join lateral (
      select balance, account_part(id, transfer_balance) as part
      from accounts where accounts.id = added.account_id offset 0) as account
    where account_number is not null group by 1, 2, 4
    union all
    select supplier, cohort, 'ledger', ledger.code, count(*), sum(ledger.balance)
    from added cross join lateral (
      select ledger_code as code,
        ledger_sum(account_id, position, ledger_balance, last_statement_balance) as balance
      from ledgers where ledgers.account_id = added.account_id offset 0) as ledger
    where account_number is not null group by 1, 2, 4;
  end if;
  if exists (select from followed_rehearsals where followed_until is null) then
    insert into rehearsal_changes (import_id)
    select id from added where exists (
      select from followed_rehearsals
      where followed_rehearsals.supplier = added.supplier and followed_until is null);
  end if;
  return null;
end $$;

create trigger import_processes_count_new after insert on import_processes
referencing new table as added for each statement execute function count_new_imports();

-- Of the changes, a claim and a staging anew of a pending import, which are the most, change no
-- count and call nothing. An attempt ends when the import loses its lease, or had none, as that of
-- a line; its codes count, and the outcomes of rehearsals count it. The account of an erased import
-- is counted as before.
create function count_changed_import() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  before text :=
    case when old.erased_at is not null then 'ERASED'
      when old.account_number is not null then 'IMPORTED'
      when old.skipped then 'SKIPPED'
      when old.failed_staging = old.stagings then 'FAILED'
      else 'PENDING'
    end;
  now text :=
    case when new.erased_at is not null then 'ERASED'
      when new.account_number is not null then 'IMPORTED'
      when new.skipped then 'SKIPPED'
      when new.failed_staging = new.stagings then 'FAILED'
      else 'PENDING'
    end;
  codes text[];
begin
  if before <> now or old.cohort is distinct from new.cohort then
    insert into import_differences (supplier, cohort, kind, name, count)
    values (old.supplier, old.cohort, 'state', before, -1),
      (new.supplier, new.cohort, 'state', now, 1);
  end if;
  if before = 'FAILED' then codes := uncount_codes(new.id); end if;
  if now = 'FAILED' then
    if before <> 'FAILED' or new.lease_attempt is null then
      codes := latest_codes(new.id);
    end if;
    perform count_codes(new.id, new.supplier, new.cohort, codes);
  end if;
  if now = 'IMPORTED' and before <> 'IMPORTED' then
    perform count_account(new.account_id, new.account_created_at, new.supplier, new.cohort);
  end if;
  if before = 'IMPORTED' and now = 'PENDING' then
    perform uncount_account(old.account_id, old.supplier, old.cohort);
  end if;
  if old.cohort is distinct from new.cohort and new.reverted_at is not null then
    insert into import_differences (supplier, cohort, kind, name, count)
    select supplier, cohort, 'reverted', '', sign * count(*)
    from (values (old.supplier, old.cohort, -1), (new.supplier, new.cohort, 1))
        as moved(supplier, cohort, sign),
      accounts
    where import_id = new.id and accounts.reverted_at is not null group by 1, 2, sign;
  end if;
  if exists (
    select from followed_rehearsals where supplier = new.supplier and followed_until is null)
  then
    insert into rehearsal_changes (import_id) values (new.id);
  end if;
  return null;
end $$;

create trigger import_processes_count_changed after update on import_processes
for each row when (
  old.skipped <> new.skipped
  or old.account_number is distinct from new.account_number
  or old.erased_at is distinct from new.erased_at
  or old.cohort is distinct from new.cohort
  or (old.failed_staging = old.stagings) is distinct from (new.failed_staging = new.stagings)
  or new.failed_staging = new.stagings and new.lease_attempt is null
  or old.lease_attempt <> coalesce(new.lease_attempt, '') and not old.lease_dry_run)
execute function count_changed_import();
