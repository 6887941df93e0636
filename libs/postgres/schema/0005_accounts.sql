-- The platform accounts and what is on them. An account has the id of its import, so that an import
-- has one account at most. Its rows are numbered within it.
--
-- account-import writes accounts and never reads them; post-import sees what is added to an
-- account, not whose it is; query, board, the operator and, for certificates, the batch worker read
-- them.
--
-- Can be undone: no, every account would be lost.

-- It refuses values which it would have to round.
create domain exact_money as numeric
constraint exact_money_two_decimals check (value = round(value, 2) and abs(value) < 1e18);

-- `payload` is the text of the payload to the letter, null once the customer is erased; its size is
-- read before it. What of it is looked up or summed has rows as well. Later notes are in the same
-- table as those of the payload, so `payload_notes` counts these. Concurrent modifications are
-- detected by the revision.
create table accounts (
  id bigint constraint accounts_pkey primary key
    constraint accounts_import_exists references import_processes,
  number text collate "C" not null
    constraint accounts_number_once unique
    constraint accounts_number_form check (number ~ '^A-[0-9A-F]{8}$'),
  created_at timestamptz not null,
  operations_team text collate "C" not null
    constraint accounts_operations_team_exists references operations_teams,
  balance exact_money not null,
  transfer_balance exact_money,
  payload json,
  payload_bytes integer,
  payload_notes integer not null default 0,
  revision integer not null default 0,
  erased_at timestamptz,
  constraint accounts_id_and_number_once unique (id, number),
  constraint accounts_payload_until_erased check ((payload is null) = (erased_at is not null))
);

do $$
begin
  if exists (select from pg_settings
    where name = 'default_toast_compression' and 'lz4' = any (enumvals))
  then
    alter table accounts alter payload set compression lz4;
  end if;
end $$;

-- Two tables that refer to each other.
alter table import_processes add constraint import_processes_account_exists
foreign key (id, account_number) references accounts (id, number);

create function count_account_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end $$;

create trigger accounts_count_revisions before update on accounts
for each row execute function count_account_revision();

create function refuse_erased_account() returns trigger language plpgsql as $$
begin
  raise exception 'account % was erased', old.id using errcode = 'restrict_violation';
end $$;

create trigger accounts_erased_for_good before update on accounts
for each row when (old.erased_at is not null) execute function refuse_erased_account();

grant insert on accounts to data_import_account_import;
grant select (id, number, balance, revision), update (balance)
on accounts to data_import_post_import;
grant select on accounts to data_import_query, data_import_board, data_import_operator;
grant select (id, number, balance, revision), insert, update (balance)
on accounts to data_import_batch_worker;

create table ledgers (
  account_id bigint not null constraint ledgers_account_exists references accounts,
  position integer not null,
  ledger_code text not null,
  last_statement_balance exact_money,
  last_statement_closing_date date,
  ledger_balance exact_money,
  constraint ledgers_pkey primary key (account_id, position),
  constraint ledgers_code_once unique (account_id, ledger_code)
);

grant insert on ledgers to data_import_account_import;
grant select
on ledgers to data_import_post_import, data_import_query, data_import_board, data_import_operator;
grant select, insert on ledgers to data_import_batch_worker;

create table payment_instructions (
  account_id bigint not null
    constraint payment_instructions_account_exists references accounts,
  sequence integer not null,
  vendor text not null,
  reference text not null,
  type text not null,
  details jsonb not null
    constraint payment_instructions_details_object check (jsonb_typeof(details) = 'object'),
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint payment_instructions_pkey primary key (account_id, sequence),
  constraint payment_instructions_period check (created_at <= ended_at)
);

create unique index payment_instructions_one_active on payment_instructions (account_id)
where ended_at is null;

grant select, insert on payment_instructions to data_import_post_import, data_import_batch_worker;
grant select on payment_instructions to data_import_query, data_import_board;
grant select, update (ended_at) on payment_instructions to data_import_operator;

-- A note without a body is found by a digest of its documents, which are rows of another table.
create table notes (
  account_id bigint not null constraint notes_account_exists references accounts,
  sequence integer not null,
  body text,
  created_at timestamptz not null,
  is_pinned boolean not null,
  unpin_at timestamptz,
  document_digest bytea,
  constraint notes_pkey primary key (account_id, sequence)
);

-- Account and digest are one value. Otherwise PostgreSQL could use the primary key, and read all
-- notes of an account whose size its statistics do not know yet. A backslash is doubled, as the
-- input format of `bytea` requires.
create index notes_by_content on notes (
  (int8send(account_id) || coalesce(document_digest, sha256(replace(body, '\', '\\')::bytea))),
  sequence
);

create index notes_by_content_and_time on notes (
  (int8send(account_id) || coalesce(document_digest, sha256(replace(body, '\', '\\')::bytea))),
  created_at
);

grant insert on notes to data_import_account_import;
grant select, insert on notes to data_import_post_import, data_import_batch_worker;
grant select on notes to data_import_query, data_import_board, data_import_operator;

create table note_documents (
  account_id bigint not null,
  note_sequence integer not null,
  position integer not null,
  document_path text not null,
  document_size bigint,
  document_etag text,
  document_checksum text,
  constraint note_documents_pkey primary key (account_id, note_sequence, position),
  constraint note_documents_note_exists
    foreign key (account_id, note_sequence) references notes
);

grant insert on note_documents to data_import_account_import;
grant select, insert on note_documents to data_import_post_import, data_import_batch_worker;
grant select on note_documents to data_import_query, data_import_board, data_import_operator;

-- A statement of the payload that is completed later has a second row, so that the first is that of
-- the payload. One that was added later is completed in place.
create table statements (
  account_id bigint not null constraint statements_account_exists references accounts,
  sequence integer not null,
  origin text not null
    constraint statements_origin_known
    check (origin in ('account_payload', 'historical_statements')),
  statement_id text collate "C" not null,
  bill_period_from_date date not null,
  bill_period_to_date date not null,
  issued_date date,
  number text,
  gross_amount exact_money,
  statement_path text,
  document_size bigint,
  document_etag text,
  document_checksum text,
  recorded_at timestamptz not null,
  constraint statements_pkey primary key (account_id, sequence),
  constraint statements_period check (bill_period_from_date <= bill_period_to_date)
);

create unique index statements_by_id on statements (account_id, statement_id, origin);

grant insert on statements to data_import_account_import;
grant select, insert, update (issued_date, number, gross_amount, statement_path, document_size,
  document_etag, document_checksum)
on statements to data_import_post_import, data_import_batch_worker;
grant select on statements to data_import_query, data_import_board, data_import_operator;
