/**
 * The platform accounts and everything on them. An account has the id of its import, so that an
 * import has one account at most. Its rows are numbered within it. Money has a domain that refuses
 * values which it would have to round.
 *
 * Can be undone: no, every account would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accounts = Effect.gen(function* () {
  yield* account
  yield* customers
  yield* addresses
  yield* ledgers
  yield* transactions
  yield* transactionItems
  yield* paymentInstructions
  yield* notes
  yield* statements
})

const account = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create domain exact_money as numeric
    constraint exact_money_two_decimals check (value = round(value, 2) and abs(value) < 1e18)`

  yield* sql`
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
      constraint accounts_id_and_number_once unique (id, number)
    )`
  yield* sql`
    alter table import_processes add constraint import_processes_account_exists
    foreign key (id, account_number) references accounts (id, number)`

  yield* sql`
    create table account_metadata (
      account_id bigint not null constraint account_metadata_account_exists references accounts,
      position integer not null,
      key text not null,
      value json not null
        constraint account_metadata_value_object check (json_typeof(value) = 'object'),
      constraint account_metadata_pkey primary key (account_id, position),
      constraint account_metadata_key_once
        exclude using hash ((account_id::text || ' ' || key) with =)
    )`
})

const customers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
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
      constraint customers_pkey primary key (account_id, position)
    )`
})

const addresses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
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
      structured_street_address json
    )`

  yield* sql`
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
      constraint billing_options_one_calendar check (
        case when use_industry_billing
          then num_nonnulls(period_length, period_start_day, period_start_month) = 0
          else num_nulls(period_length, period_start_day) = 0 end),
      constraint billing_options_quarter_month
        check (period_length <> 'QUARTERLY' or period_start_month is not null)
    )`

  yield* sql`
    create table supply_addresses (
      account_id bigint not null constraint supply_addresses_account_exists references accounts,
      position integer not null,
      supply_address1 text not null,
      supply_postcode text not null,
      customer_at_supply_address_from_date date not null,
      primary_place_of_residence_since date,
      constraint supply_addresses_pkey primary key (account_id, position),
      constraint supply_addresses_once unique (account_id, supply_address1, supply_postcode)
    )`
})

const ledgers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table ledgers (
      account_id bigint not null constraint ledgers_account_exists references accounts,
      position integer not null,
      ledger_code text not null,
      last_statement_balance exact_money,
      last_statement_closing_date date,
      ledger_balance exact_money,
      constraint ledgers_pkey primary key (account_id, position),
      constraint ledgers_code_once unique (account_id, ledger_code)
    )`
})

const transactions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A transaction added after the import is on no ledger. An id may be added again on demand: its
  // occurrences are counted. Items that were not sent have no count, those of an empty list have 0.
  yield* sql`
    create table transactions (
      account_id bigint not null constraint transactions_account_exists references accounts,
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
    )`
})

const transactionItems = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
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
      constraint transaction_line_items_transaction_exists
        foreign key (account_id, transaction_sequence) references transactions,
      constraint transaction_line_items_period check (start_date <= end_date),
      constraint transaction_line_items_readings_whole
        check ((reading_at_start is null) = (reading_at_end is null))
    )`

  yield* sql`
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
        primary key (account_id, transaction_sequence, position),
      constraint transaction_tax_items_transaction_exists
        foreign key (account_id, transaction_sequence) references transactions
    )`
})

const paymentInstructions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
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
    )`
  yield* sql`
    create unique index payment_instructions_one_active on payment_instructions (account_id)
    where ended_at is null`
})

const notes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table notes (
      account_id bigint not null constraint notes_account_exists references accounts,
      sequence integer not null,
      body text,
      created_at timestamptz not null,
      is_pinned boolean not null,
      unpin_at timestamptz,
      constraint notes_pkey primary key (account_id, sequence)
    )`

  yield* sql`
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
    )`
})

const statements = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
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
      constraint statements_id_once unique (account_id, statement_id),
      constraint statements_period check (bill_period_from_date <= bill_period_to_date)
    )`
})
