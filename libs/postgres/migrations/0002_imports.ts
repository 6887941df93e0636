/**
 * Imports with their staged text and attempts, the accounts' anchor, the audit log and the outbox.
 * The state of an import is in its columns: at most one of skipped, lease and account is set, and
 * without any of them the import is pending.
 *
 * Can be undone: no, every import would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const imports = Effect.gen(function* () {
  yield* importProcesses
  yield* attempts
  yield* auditLog
  yield* outbox
})

const importProcesses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Type json keeps the staged text to the letter. A low tuple target moves it out of the row, so
  // that a lease or a list never touches it; the free space keeps those updates within the page.
  yield* sql`
    create table import_processes (
      id bigint generated always as identity constraint import_processes_pkey primary key,
      supplier text collate "C" not null
        constraint import_processes_supplier_exists references suppliers,
      external_account_number text collate "C" not null
        constraint import_processes_external_account_number_length
        check (char_length(external_account_number) between 1 and 128),
      payload json not null,
      staged_at timestamptz not null,
      stagings integer not null default 1,
      skipped boolean not null default false,
      lease_attempt text collate "C",
      lease_expires_at timestamptz,
      account_number text collate "C",
      account_created_at timestamptz,
      constraint import_processes_pair_once unique (supplier, external_account_number),
      constraint import_processes_lease_whole
        check ((lease_attempt is null) = (lease_expires_at is null)),
      constraint import_processes_account_whole
        check ((account_number is null) = (account_created_at is null)),
      constraint import_processes_one_state
        check (num_nonnulls(nullif(skipped, false), lease_attempt, account_number) < 2)
    ) with (toast_tuple_target = 128, fillfactor = 80)`
  // A server may be built without it, as the embedded one is.
  yield* sql`
    do $$ begin
      if exists (select from pg_settings
        where name = 'default_toast_compression' and 'lz4' = any (enumvals))
      then
        alter table import_processes alter payload set compression lz4;
      end if;
    end $$`
  yield* sql`
    create index import_processes_pending on import_processes (supplier, external_account_number)
    where account_number is null and not skipped`
  yield* sql`
    create index import_processes_imported on import_processes (supplier, external_account_number)
    where account_number is not null`
})

const attempts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table import_attempts (
      sequence bigint generated always as identity,
      import_id bigint not null
        constraint import_attempts_import_exists references import_processes,
      id text collate "C" not null,
      dry_run boolean not null,
      started_at timestamptz not null,
      ended_at timestamptz,
      outcome text,
      errors jsonb not null default '[]',
      constraint import_attempts_pkey primary key (import_id, id),
      constraint import_attempts_end_whole check ((ended_at is null) = (outcome is null)),
      constraint import_attempts_errors_list check (jsonb_typeof(errors) = 'array')
    )`
  yield* sql`
    create index import_attempts_running on import_attempts (import_id) where ended_at is null`
})

const auditLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table audit_log (
      id bigint generated always as identity constraint audit_log_pkey primary key,
      at timestamptz not null,
      organisation text collate "C" not null,
      api_key text collate "C" not null,
      request_id text collate "C" not null,
      action text not null
        constraint audit_log_action_known check (action in ('stage', 'process', 'create_notes',
          'create_transactions', 'create_historical_statements', 'create_payment_instruction')),
      outcome text not null,
      import_supplier text collate "C",
      external_account_number text collate "C"
    )`
  yield* sql`create index audit_log_by_pair on audit_log (import_supplier, external_account_number)`
  yield* sql`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% only grows', tg_table_name using errcode = 'restrict_violation';
    end $$`
  yield* sql`
    create trigger audit_log_only_grows before update or delete or truncate on audit_log
    for each statement execute function refuse_change()`
})

const outbox = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table outbox (
      id bigint generated always as identity constraint outbox_pkey primary key,
      at timestamptz not null,
      name text not null
        constraint outbox_name_form check (name ~ '^data_import[.][a-z_.]+-v[0-9]+$'),
      import_id bigint not null constraint outbox_import_exists references import_processes,
      codes text[] not null default '{}'
    )`
  yield* sql`create index outbox_by_import on outbox (import_id)`
})
