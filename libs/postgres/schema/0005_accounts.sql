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

-- Most optional fields have a default that is stored; `omitted` has the names of those that the
-- payload left out, null if there are none, so that a payload is read back as it was sent. Later
-- notes are in the same table, so `payload_notes` counts those of the payload. Concurrent
-- modifications are detected by the revision.
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
  unknown_occupier boolean not null,
  account_type text not null
    constraint accounts_account_type_known check (account_type in ('DOMESTIC', 'BUSINESS',
      'MANAGED', 'PORTFOLIO_LEAD', 'DOMESTIC_VACANT', 'BUSINESS_VACANT', 'DOMESTIC_OCCUPIER',
      'BUSINESS_OCCUPIER', 'SYSTEM', 'DOMESTIC_THIRD_PARTY_BILLED',
      'BUSINESS_THIRD_PARTY_BILLED')),
  billing_email text,
  billing_name text,
  billing_sub_name text,
  billing_customer_reference text,
  date_of_sale date,
  sales_channel text not null,
  sales_subchannel text,
  communication_preference text not null
    constraint accounts_communication_preference_known
    check (communication_preference in ('ONLINE', 'PRINT')),
  document_accessibility text
    constraint accounts_document_accessibility_known
    check (document_accessibility in ('LARGE_PRINT', 'BRAILLE', 'SPOKEN')),
  transfer_balance exact_money,
  operations_team_name text,
  revision integer not null default 0,
  omitted text[],
  payload_notes integer not null default 0,
  erased_at timestamptz,
  constraint accounts_id_and_number_once unique (id, number)
);

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

create table account_metadata (
  account_id bigint not null constraint account_metadata_account_exists references accounts,
  position integer not null,
  key text not null,
  value json not null
    constraint account_metadata_value_object check (json_typeof(value) = 'object'),
  constraint account_metadata_pkey primary key (account_id, position),
  constraint account_metadata_key_once
    exclude using hash ((account_id::text || ' ' || key) with =)
);

grant insert on account_metadata to data_import_account_import, data_import_batch_worker;
grant select on account_metadata to data_import_query, data_import_board, data_import_operator;

create table customers (
  account_id bigint not null constraint customers_account_exists references accounts,
  position integer not null,
  given_name text,
  family_name text,
  email text,
  mobile text,
  landline text,
  date_of_birth date,
  title text,
  salutation text,
  opted_into_sms boolean not null,
  opted_into_recommended boolean not null,
  opted_into_updates boolean not null,
  opted_into_third_parties boolean not null,
  opted_into_offers boolean not null,
  is_user_psr_consent_obtained boolean,
  omitted text[],
  constraint customers_pkey primary key (account_id, position)
);

grant insert on customers to data_import_account_import, data_import_batch_worker;
grant select on customers to data_import_query, data_import_board, data_import_operator;

create table billing_addresses (
  account_id bigint
    constraint billing_addresses_pkey primary key
    constraint billing_addresses_account_exists references accounts,
  name text,
  organization text,
  street_address text,
  locality text,
  postal_code text,
  country text not null
    constraint billing_addresses_country_form check (country ~ '^[A-Z]{2}$'),
  delivery_point_identifier text
    constraint billing_addresses_delivery_point_identifier_form
    check (delivery_point_identifier ~ '^[A-Z0-9]{0,11}$'),
  structured_street_address json,
  omitted text[]
);

grant insert on billing_addresses to data_import_account_import, data_import_batch_worker;
grant select on billing_addresses to data_import_query, data_import_board, data_import_operator;

create table billing_options (
  account_id bigint
    constraint billing_options_pkey primary key
    constraint billing_options_account_exists references accounts,
  period_length text
    constraint billing_options_period_length_known
    check (period_length in ('MONTHLY', 'QUARTERLY')),
  period_start_day integer
    constraint billing_options_period_start_day_in_month
    check (period_start_day between 1 and 28),
  period_start_month integer
    constraint billing_options_period_start_month_in_year
    check (period_start_month between 1 and 12),
  use_industry_billing boolean not null,
  omitted text[],
  constraint billing_options_one_calendar check (
    case when use_industry_billing
      then num_nonnulls(period_length, period_start_day, period_start_month) = 0
      else num_nulls(period_length, period_start_day) = 0 end),
  constraint billing_options_quarter_month
    check (period_length <> 'QUARTERLY' or period_start_month is not null)
);

grant insert on billing_options to data_import_account_import, data_import_batch_worker;
grant select on billing_options to data_import_query, data_import_board, data_import_operator;

create table supply_addresses (
  account_id bigint not null constraint supply_addresses_account_exists references accounts,
  position integer not null,
  supply_address1 text not null,
  supply_postcode text not null,
  customer_at_supply_address_from_date date not null,
  primary_place_of_residence_since date,
  constraint supply_addresses_pkey primary key (account_id, position),
  constraint supply_addresses_once unique (account_id, supply_address1, supply_postcode)
);

grant insert on supply_addresses to data_import_account_import, data_import_batch_worker;
grant select on supply_addresses to data_import_query, data_import_board, data_import_operator;

create table ledgers (
  account_id bigint not null constraint ledgers_account_exists references accounts,
  position integer not null,
  ledger_code text not null,
  last_statement_balance exact_money,
  last_statement_closing_date date,
  ledger_balance exact_money,
  omitted text[],
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
  omitted text[],
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

-- A statement of the payload that is completed later has a second row, so that the payload is read
-- back unchanged. One that was added later is completed in place.
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
