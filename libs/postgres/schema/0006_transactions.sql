-- The transactions of accounts and their items.
--
-- One check a statement keeps them together, instead of a foreign key's check a row, which was a
-- sixth of what 100 transactions cost the database. The guarantees are those of foreign keys, and
-- so are the locks: whoever adds a row locks the one that it refers to, so that no deletion passes
-- it by. Keys never change.
--
-- Can be undone: no, every transaction would be lost.

-- A transaction added after the import is on no ledger. An id may be added again on demand: its
-- occurrences are counted. Items that were not sent have no count, those of an empty list have 0.
create table transactions (
  account_id bigint not null,
  sequence integer not null,
  ledger_position integer,
  origin text not null
    constraint transactions_origin_known
    check (origin in ('historical_statement', 'current_statement', 'post_import')),
  transaction_id text collate "C" not null,
  occurrence integer not null default 1
    constraint transactions_occurrence_positive check (occurrence > 0),
  transaction_date date not null,
  moved_from_date date,
  amount exact_money not null,
  type text not null
    constraint transactions_type_known
    check (type in ('CHARGE', 'CREDIT', 'PAYMENT', 'REPAYMENT', 'SUPPLY_CHARGE')),
  effect_on_balance numeric not null generated always as
    (case when type in ('PAYMENT', 'CREDIT') then amount else -amount end) stored,
  reason text,
  display_note text,
  note text,
  reference text,
  payment_type text,
  product_code text,
  line_item_count integer,
  tax_item_count integer,
  recorded_at timestamptz not null,
  constraint transactions_pkey primary key (account_id, sequence),
  constraint transactions_occurrence_once unique (account_id, transaction_id, occurrence),
  constraint transactions_ledger_exists
    foreign key (account_id, ledger_position) references ledgers,
  constraint transactions_ledger_of_payload
    check ((origin = 'post_import') = (ledger_position is null)),
  constraint transactions_payment_positive
    check (type not in ('PAYMENT', 'REPAYMENT') or amount > 0)
);

grant insert on transactions to data_import_account_import;
grant select, insert on transactions to data_import_post_import, data_import_batch_worker;
grant select on transactions to data_import_query, data_import_board, data_import_operator;

create table transaction_line_items (
  account_id bigint not null,
  transaction_sequence integer not null,
  position integer not null,
  start_date date not null,
  end_date date not null,
  rate_band text,
  number_of_units numeric not null,
  price_per_unit numeric,
  net_amount numeric not null,
  reading_at_start numeric,
  reading_at_end numeric,
  constraint transaction_line_items_pkey
    primary key (account_id, transaction_sequence, position),
  constraint transaction_line_items_period check (start_date <= end_date),
  constraint transaction_line_items_readings_whole
    check ((reading_at_start is null) = (reading_at_end is null))
);

grant insert on transaction_line_items to data_import_account_import;
grant select, insert on transaction_line_items to data_import_post_import, data_import_batch_worker;
grant select
on transaction_line_items to data_import_query, data_import_board, data_import_operator;

create table transaction_tax_items (
  account_id bigint not null,
  transaction_sequence integer not null,
  position integer not null,
  amount numeric not null,
  tax_type text not null,
  value_taxed numeric not null,
  rate numeric not null,
  unit_type text not null
    constraint transaction_tax_items_unit_type_known
    check (unit_type in ('PROPORTION', 'CURRENCY_PER_KWH')),
  constraint transaction_tax_items_pkey
    primary key (account_id, transaction_sequence, position)
);

grant insert on transaction_tax_items to data_import_account_import;
grant select, insert on transaction_tax_items to data_import_post_import, data_import_batch_worker;
grant select on transaction_tax_items to data_import_query, data_import_board, data_import_operator;

create function check_added_transactions() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if (select count(*) from (
      select from accounts where id = any(array(select account_id from added)) for key share
    ) as held) < (select count(distinct account_id) from added)
  then
    raise exception 'a transaction has no account' using errcode = 'foreign_key_violation',
      schema = 'public', table = tg_table_name, constraint = 'transactions_account_exists';
  end if;
  return null;
end $$;

create trigger transactions_account_exists after insert on transactions
referencing new table as added for each statement execute function check_added_transactions();

-- Rows are looked up one by one, because plans are kept while tables grow. The order makes
-- PostgreSQL choose the primary key, and not another index in which it would read all transactions
-- of an account.
create function check_added_items() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (
    select from added where transaction_sequence is distinct from (
      select sequence from transactions
      where account_id = added.account_id and sequence >= added.transaction_sequence
      order by sequence limit 1 for key share))
  then
    raise exception 'an item has no transaction' using errcode = 'foreign_key_violation',
      schema = 'public', table = tg_table_name,
      constraint = tg_table_name || '_transaction_exists';
  end if;
  return null;
end $$;

create trigger transaction_line_items_transaction_exists after insert on transaction_line_items
referencing new table as added for each statement execute function check_added_items();

create trigger transaction_tax_items_transaction_exists after insert on transaction_tax_items
referencing new table as added for each statement execute function check_added_items();

create function check_deleted_accounts() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from gone cross join lateral (
    select from transactions where (account_id) = (gone.id) limit 1) as present)
  then
    raise exception 'an account has transactions' using errcode = 'foreign_key_violation',
      schema = 'public', table = 'transactions', constraint = 'transactions_account_exists';
  end if;
  return null;
end $$;

create trigger accounts_without_transactions after delete on accounts
referencing old table as gone for each statement execute function check_deleted_accounts();

create function check_deleted_transactions() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from gone cross join lateral (
    select from transaction_line_items
    where (account_id, transaction_sequence) = (gone.account_id, gone.sequence)
    limit 1) as present)
  then
    raise exception 'a transaction has items' using errcode = 'foreign_key_violation',
      schema = 'public', table = 'transaction_line_items',
      constraint = 'transaction_line_items' || '_transaction_exists';
  end if;
  if exists (select from gone cross join lateral (
    select from transaction_tax_items
    where (account_id, transaction_sequence) = (gone.account_id, gone.sequence)
    limit 1) as present)
  then
    raise exception 'a transaction has items' using errcode = 'foreign_key_violation',
      schema = 'public', table = 'transaction_tax_items',
      constraint = 'transaction_tax_items' || '_transaction_exists';
  end if;
  return null;
end $$;

create trigger transactions_without_items after delete on transactions
referencing old table as gone for each statement execute function check_deleted_transactions();

create function refuse_key_change() returns trigger language plpgsql as $$
begin
  raise exception 'the keys of % stay', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger accounts_keys_stay before update of id on accounts
for each row when (old.id <> new.id) execute function refuse_key_change();

create trigger transactions_keys_stay before update of account_id, sequence on transactions
for each row when (old.account_id <> new.account_id or old.sequence <> new.sequence)
execute function refuse_key_change();

create trigger transaction_line_items_keys_stay
before update of account_id, transaction_sequence on transaction_line_items
for each row when (
  old.account_id <> new.account_id or old.transaction_sequence <> new.transaction_sequence)
execute function refuse_key_change();

create trigger transaction_tax_items_keys_stay
before update of account_id, transaction_sequence on transaction_tax_items
for each row when (
  old.account_id <> new.account_id or old.transaction_sequence <> new.transaction_sequence)
execute function refuse_key_change();

create trigger accounts_not_emptied before truncate on accounts
for each statement execute function refuse_key_change();

create trigger transactions_not_emptied before truncate on transactions
for each statement execute function refuse_key_change();
