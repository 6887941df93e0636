/**
 * The peer's own tables, in a separate schema: columns for what is queried, JSON for the rest, and
 * an audit log and an outbox without the seals and positions of the services. Organisations,
 * suppliers and teams are read from the services' tables.
 */
export const tables = `
  create schema if not exists peer;
  create table if not exists peer.imports (
    id bigint generated always as identity primary key,
    supplier text collate "C" not null,
    number text collate "C" not null,
    skipped boolean not null default false,
    lease uuid,
    leased_until timestamptz,
    failure text,
    account_number text,
    account_created_at timestamptz,
    unique (supplier, number)
  ) with (fillfactor = 85);
  create table if not exists peer.payloads (
    import_id bigint primary key references peer.imports,
    payload jsonb not null,
    stagings integer not null,
    staged_at timestamptz not null
  );
  create table if not exists peer.accounts (
    id bigint primary key,
    number text not null constraint accounts_number_once unique,
    team text not null,
    balance numeric(14, 2) not null,
    closed_on date,
    details jsonb not null,
    created_at timestamptz not null
  );
  create table if not exists peer.customers (
    account_id bigint references peer.accounts,
    position integer,
    given_name text,
    family_name text,
    email text,
    details jsonb not null,
    primary key (account_id, position)
  );
  create table if not exists peer.supply_addresses (
    account_id bigint references peer.accounts,
    position integer,
    details jsonb not null,
    primary key (account_id, position)
  );
  create table if not exists peer.metadata (
    account_id bigint references peer.accounts,
    key text,
    value jsonb not null,
    primary key (account_id, key)
  );
  create table if not exists peer.ledgers (
    account_id bigint references peer.accounts,
    code text,
    balance numeric(14, 2),
    last_balance numeric(14, 2),
    closed_on date,
    primary key (account_id, code)
  );
  create table if not exists peer.transactions (
    account_id bigint references peer.accounts,
    transaction_id text,
    ledger_code text,
    origin text not null,
    date date not null,
    amount numeric(14, 2) not null,
    type text not null,
    details jsonb not null,
    primary key (account_id, transaction_id)
  );
  create table if not exists peer.notes (
    account_id bigint not null references peer.accounts,
    content text not null,
    is_untimed boolean not null,
    created_at timestamptz not null,
    details jsonb not null
  );
  create unique index if not exists notes_at_a_time
    on peer.notes (account_id, md5(content), date_trunc('second', created_at, 'UTC'));
  create unique index if not exists notes_without_time
    on peer.notes (account_id, md5(content)) where is_untimed;
  create table if not exists peer.statements (
    account_id bigint references peer.accounts,
    statement_id text,
    origin text not null,
    from_date date not null,
    to_date date not null,
    path text,
    details jsonb not null,
    primary key (account_id, statement_id)
  );
  create table if not exists peer.audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    organisation text not null,
    api_key text not null,
    request_id text not null,
    action text not null,
    outcome text not null,
    supplier text not null,
    number text not null
  );
  create table if not exists peer.outbox (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    name text not null,
    supplier text not null,
    number text not null,
    codes text[]
  )`
