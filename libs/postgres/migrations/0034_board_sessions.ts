/**
 * Who is signed in at the board, and the role of its service. Ids of sessions and the secrets of
 * sign-in links are stored as hashes. The role reads what the board shows, and may do what a
 * manager does there.
 *
 * Can be undone: yes, by dropping the role and its tables; whoever is signed in signs in again.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const boardSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table board_sessions (
      hash text constraint board_sessions_pkey primary key,
      subject text not null,
      name text not null,
      role text not null,
      organisations text[],
      csrf_token text not null,
      created_at timestamptz not null,
      last_seen_at timestamptz not null,
      constraint board_sessions_role_known check (role in ('viewer', 'manager'))
    )`
  yield* sql`
    create table board_links (
      hash text constraint board_links_pkey primary key,
      expires_at timestamptz not null
    )`
  yield* action
  yield* createRole
  yield* grantSessions
  yield* grantForecasts
  yield* grantReading
  yield* grantActions
})

/** What else the log may say; the constraint keeps what it has, whatever that is. */
const action = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$
    declare known text := (
      select pg_get_expr(conbin, conrelid) from pg_constraint
      where conname = 'audit_log_action_known' and conrelid = 'audit_log'::regclass);
    begin
      alter table audit_log drop constraint audit_log_action_known;
      execute format('alter table audit_log add constraint audit_log_action_known
        check (%s or action = ''issue_board_link'') not valid', known);
    end $$`
})

// Another database of this server may have made the role, or be making it at this moment.
const createRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$ begin
      if not exists (select from pg_roles where rolname = 'data_import_board') then
        begin
          create role data_import_board nologin;
        exception when duplicate_object or unique_violation then null;
        end;
      end if;
    end $$`
  yield* sql`grant usage on schema public to data_import_board`
})

/** The operator issues links and sees none. */
const grantSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select, insert, delete, update (last_seen_at) on board_sessions to data_import_board`
  yield* sql`grant select, delete on board_links to data_import_board`
  yield* sql`grant insert on board_links to data_import_operator`
})

const grantForecasts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select, insert, update (held, settled_at) on forecasts to data_import_board`
})

/** What the pages show. It reads a staged payload too, which is masked until it is asked for. */
const grantReading = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select on suppliers, organisations, operations_teams, choices, import_processes,
      import_attempts, import_failures, import_totals, import_differences, uncounted_suppliers,
      import_history, import_activity, migration_plans, migration_sign_offs, batches,
      batch_problems, batch_problem_sets, batch_workers, audit_log, audit_chains
    to data_import_board`
  yield* sql`
    grant select on accounts, account_metadata, customers, billing_addresses, billing_options,
      supply_addresses, ledgers, transactions, transaction_line_items, transaction_tax_items,
      notes, note_documents, statements, payment_instructions
    to data_import_board`
})

/** What a manager does: the rights of the operator and of batches that these actions need. */
const grantActions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant update (status) on suppliers to data_import_board`
  yield* sql`
    grant insert, update (points, set_at), delete on migration_plans to data_import_board`
  yield* sql`
    grant insert, update (signed_by, signed_at) on migration_sign_offs to data_import_board`
  yield* sql`grant update (cohort) on import_processes to data_import_board`
  yield* sql`
    grant insert, update (started_at, api_key, is_taken, paused_by, accepted_failures,
      is_cancelled, finished_at, received, succeeded, already, failed, cancelled, bytes, uploads,
      waiting_for, recent)
    on batches to data_import_board`
  yield* sql`grant select, insert, update (blockers) on batch_chunks to data_import_board`
  yield* sql`grant select, insert on batch_links to data_import_board`
  // Whether the key that lines are stored for is still valid.
  yield* sql`grant select (id, revoked_at, expires_at) on api_keys to data_import_board`
  yield* sql`grant insert on audit_log, outbox to data_import_board`
})
