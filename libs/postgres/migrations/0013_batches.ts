/**
 * Batches and their lines, in chunks. A chunk holds its lines as arrays, since a row for each line
 * would cost more than the work on it. The counts of a batch close by a check.
 *
 * Can be undone: no, batches and their results would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const createBatches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table batches (
      id uuid constraint batches_pkey primary key,
      number bigint generated always as identity constraint batches_number_once unique,
      organisation text not null constraint batches_organisation_exists references organisations,
      supplier text not null constraint batches_supplier_exists references suppliers,
      operation text not null,
      name text,
      operations_team text constraint batches_team_exists references operations_teams,
      dry_run boolean not null,
      cohort text,
      pending json,
      retry_of uuid,
      max_failures integer,
      parameters json not null,
      created_at timestamptz not null,
      started_at timestamptz,
      api_key text,
      is_taken boolean not null default false,
      paused_by text[] not null default '{}',
      accepted_failures integer not null default 0,
      is_cancelled boolean not null default false,
      finished_at timestamptz,
      received integer not null default 0,
      succeeded integer not null default 0,
      already integer not null default 0,
      failed integer not null default 0,
      cancelled integer not null default 0,
      bytes bigint not null default 0,
      uploads integer not null default 0,
      waiting_for text,
      recent json not null default '[]',
      lines_deleted_through integer not null default 0,
      constraint batches_start_whole check ((started_at is null) = (api_key is null)),
      constraint batches_counts_close check (
        least(received, succeeded, already, failed, cancelled) >= 0
        and succeeded + already + failed + cancelled <= received),
      constraint batches_finished_when_done check ((finished_at is not null) = (
        (started_at is not null or is_cancelled)
        and succeeded + already + failed + cancelled = received))
    )`
  yield* sql`create index batches_of_supplier on batches (supplier, number)`
  yield* sql`create index batches_unfinished on batches (organisation) where finished_at is null`
  yield* sql`
    create index batches_with_lines on batches (finished_at)
    where lines_deleted_through < received`
  yield* sql`
    create index batches_in_work on batches (supplier, number)
    where started_at is not null and finished_at is null`
})

const createLines = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table batch_chunks (
      batch uuid not null constraint batch_chunks_batch_exists references batches,
      first_line integer not null,
      line_count smallint not null,
      lines bytea[],
      numbers text[] not null,
      source_lines integer[],
      tries smallint[] not null,
      outcomes text[] not null,
      results text[] not null,
      unfinished smallint not null,
      blockers integer not null default 0,
      ready_at timestamptz,
      constraint batch_chunks_pkey primary key (batch, first_line),
      constraint batch_chunks_unfinished check (unfinished between 0 and line_count)
    )`
  yield* sql`
    create index batch_chunks_ready on batch_chunks (batch, first_line)
    where unfinished > 0 and blockers = 0`
  yield* sql`
    create table batch_takes (
      batch uuid not null,
      first_line integer not null,
      takes integer not null,
      constraint batch_takes_pkey primary key (batch, first_line)
    )`
  yield* sql`
    create table batch_links (
      batch uuid not null,
      earlier integer not null,
      later integer not null,
      constraint batch_links_pkey primary key (batch, earlier, later)
    )`
  yield* sql`
    create table batch_problems (
      batch uuid not null constraint batch_problems_batch_exists references batches,
      digest text not null,
      code text not null,
      attr text not null,
      lines integer not null,
      examples jsonb not null,
      constraint batch_problems_pkey primary key (batch, digest)
    )`
  yield* sql`
    create table batch_problem_sets (
      batch uuid not null constraint batch_problem_sets_batch_exists references batches,
      digest text not null,
      problems json not null,
      lines integer not null,
      constraint batch_problem_sets_pkey primary key (batch, digest)
    )`
})

export const batches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* createBatches
  yield* createLines
  yield* sql`
    create table batch_workers (
      id uuid constraint batch_workers_pkey primary key,
      seen_at timestamptz not null
    )`
  yield* sql`alter table import_processes add column cohort text`
  yield* sql`grant update (cohort) on import_processes to data_import_account_import`
  yield* sql`alter table audit_log drop constraint audit_log_action_known`
  yield* sql`
    alter table audit_log add constraint audit_log_action_known check (action in ('stage',
      'process', 'create_notes', 'create_transactions', 'create_historical_statements',
      'create_payment_instruction', 'end_payment_instruction', 'create_batch', 'start_batch',
      'pause_batch', 'resume_batch', 'cancel_batch')) not valid`
  yield* sql`alter table outbox alter column import_id drop not null`
  yield* sql`
    alter table outbox add column batch uuid constraint outbox_batch_exists references batches`
  yield* createRoles
  yield* grantToBatches
  yield* grantToWorker
})

// Another database of this server may have made the roles, or be making them at this moment.
const createRoles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$
    declare role text;
    begin
      foreach role in array array['data_import_batches', 'data_import_batch_worker'] loop
        if not exists (select from pg_roles where rolname = role) then
          begin
            execute format('create role %I nologin', role);
          exception when duplicate_object or unique_violation then null;
          end;
        end if;
      end loop;
    end $$`
  yield* sql`grant usage on schema public to data_import_batches, data_import_batch_worker`
  yield* sql`
    grant select on suppliers, api_keys, choices, operations_teams
    to data_import_batches, data_import_batch_worker`
  yield* sql`
    grant select, insert, delete, update (fingerprint, token, expires_at, answer)
    on idempotency_keys to data_import_batches, data_import_batch_worker`
  yield* sql`grant insert on audit_log, outbox to data_import_batches, data_import_batch_worker`
  yield* sql`
    grant select, update (started_at, api_key, is_taken, paused_by, accepted_failures,
      is_cancelled, finished_at, received, succeeded, already, failed, cancelled, waiting_for,
      recent)
    on batches to data_import_batches, data_import_batch_worker, data_import_operator`
  yield* sql`
    grant select on batch_problems, batch_problem_sets, batch_workers
    to data_import_batches, data_import_operator`
  yield* sql`grant insert on outbox to data_import_operator`
})

/** It stores lines and answers results, and works on none. */
const grantToBatches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select, insert, update (requests, at) on allowances to data_import_batches`
  yield* sql`grant insert, update (bytes, uploads) on batches to data_import_batches`
  yield* sql`grant select, insert, update (blockers) on batch_chunks to data_import_batches`
  yield* sql`grant select, insert on batch_links to data_import_batches`
  yield* sql`grant select on import_attempts to data_import_batches`
  yield* sql`
    grant select (id, supplier, external_account_number, skipped, account_number, lease_attempt,
      lease_expires_at, cohort)
    on import_processes to data_import_batches`
})

/** It does what account-import and post-import do, for the lines of a batch. */
const grantToWorker = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select, update (lines, tries, outcomes, results, unfinished, blockers, ready_at)
    on batch_chunks to data_import_batch_worker`
  yield* sql`grant update (lines_deleted_through) on batches to data_import_batch_worker`
  yield* sql`grant select on batch_links to data_import_batch_worker`
  yield* sql`
    grant select, insert, update (lines, examples) on batch_problems to data_import_batch_worker`
  yield* sql`
    grant select, insert, update (lines) on batch_problem_sets to data_import_batch_worker`
  yield* sql`
    grant select, insert, delete, update (takes) on batch_takes to data_import_batch_worker`
  yield* sql`
    grant select, insert, delete, update (seen_at) on batch_workers to data_import_batch_worker`
  yield* sql`
    grant select, insert, update (payload, payload_bytes, staged_at, stagings, lease_attempt,
      lease_expires_at, account_number, account_created_at, cohort)
    on import_processes to data_import_batch_worker`
  yield* sql`
    grant select, insert, update (ended_at, outcome, errors)
    on import_attempts to data_import_batch_worker`
  yield* sql`
    grant insert on accounts, account_metadata, customers, billing_addresses, billing_options,
      supply_addresses, ledgers
    to data_import_batch_worker`
  yield* sql`
    grant select (id, number, balance, revision), update (balance)
    on accounts to data_import_batch_worker`
  yield* sql`grant select on ledgers to data_import_batch_worker`
  yield* sql`
    grant select, insert on transactions, transaction_line_items, transaction_tax_items, notes,
      note_documents, statements, payment_instructions
    to data_import_batch_worker`
})
