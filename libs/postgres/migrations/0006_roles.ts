/**
 * A role for each service and one for the operator, each with exactly the privileges that its
 * statements need. The roles are shared by all databases of a server and cannot log in. A database
 * user is a member of one of them.
 *
 * Can be undone: yes, by connecting as the owner and dropping the roles.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const roles = Effect.gen(function* () {
  yield* createRoles
  yield* closeToPublic
  yield* whoeverChecksTokens
  yield* accountImport
  yield* postImport
  yield* query
  yield* auth
  yield* operator
})

// Another database of this server may have made the roles, or be making them at this moment.
const createRoles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$
    declare role text;
    begin
      foreach role in array array['data_import_account_import', 'data_import_post_import',
        'data_import_query', 'data_import_auth', 'data_import_operator']
      loop
        if not exists (select from pg_roles where rolname = role) then
          begin
            execute format('create role %I nologin', role);
          exception when duplicate_object or unique_violation then null;
          end;
        end if;
      end loop;
    end $$`
})

const closeToPublic = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$ begin
      execute format('revoke all on database %I from public', current_database());
    end $$`
  yield* sql`revoke all on schema public from public`
  yield* sql`revoke all on all tables in schema public from public`
  yield* sql`revoke all on all functions in schema public from public`
  yield* sql`alter default privileges revoke execute on functions from public`
  yield* sql`
    grant usage on schema public to data_import_account_import, data_import_post_import,
      data_import_query, data_import_auth, data_import_operator`
})

const whoeverChecksTokens = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select on suppliers, api_keys
    to data_import_account_import, data_import_post_import, data_import_query`
  yield* sql`
    grant select, insert, update (requests, at) on allowances
    to data_import_account_import, data_import_post_import, data_import_query`
})

/** It writes accounts and never reads them. */
const accountImport = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select on choices, operations_teams to data_import_account_import`
  yield* sql`
    grant select, insert, update (payload, staged_at, stagings, lease_attempt, lease_expires_at,
      account_number, account_created_at)
    on import_processes to data_import_account_import`
  yield* sql`
    grant select, insert, update (ended_at, outcome, errors)
    on import_attempts to data_import_account_import`
  yield* sql`grant insert on audit_log, outbox to data_import_account_import`
  yield* sql`
    grant insert on accounts, account_metadata, customers, billing_addresses, billing_options,
      supply_addresses, ledgers, transactions, transaction_line_items, transaction_tax_items, notes,
      note_documents, statements
    to data_import_account_import`
})

/** Of an account it sees what is added to it, not whose it is. */
const postImport = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select on choices to data_import_post_import`
  yield* sql`
    grant select (id, supplier, external_account_number, skipped, lease_attempt, lease_expires_at,
      account_number, account_created_at)
    on import_processes to data_import_post_import`
  yield* sql`
    grant select (id, number, balance), update (balance) on accounts to data_import_post_import`
  yield* sql`grant select on ledgers to data_import_post_import`
  yield* sql`
    grant select, insert on transactions, transaction_line_items, transaction_tax_items, notes,
      note_documents, statements, payment_instructions
    to data_import_post_import`
  yield* sql`grant insert on audit_log, outbox to data_import_post_import`
})

/** It sees where an import stands, and nothing of what was staged. */
const query = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select (id, supplier, external_account_number, skipped, lease_attempt, lease_expires_at,
      account_number, account_created_at)
    on import_processes to data_import_query`
})

const auth = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant select on api_keys to data_import_auth`
  yield* sql`
    grant select, insert, delete, update (revoked_at) on refresh_token_families
    to data_import_auth`
  yield* sql`
    grant select, insert, delete, update (used_at) on refresh_tokens to data_import_auth`
  // To lock a row takes the right to update something of it; an identity takes no other value.
  yield* sql`
    grant select, insert, delete, update (id) on failed_token_attempts to data_import_auth`
})

const operator = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select, insert on organisations, suppliers, operations_teams, choices, api_keys
    to data_import_operator`
  yield* sql`grant update (status) on suppliers to data_import_operator`
  yield* sql`grant update (revoked_at) on api_keys to data_import_operator`
  yield* sql`
    grant select (id, supplier, external_account_number, skipped, lease_attempt, lease_expires_at,
      account_number, account_created_at), update (skipped, lease_attempt, lease_expires_at)
    on import_processes to data_import_operator`
  yield* sql`
    grant select, update (ended_at, outcome) on import_attempts to data_import_operator`
  yield* sql`
    grant select on accounts, customers, ledgers, transactions, transaction_line_items,
      transaction_tax_items, notes, note_documents, statements, audit_chains
    to data_import_operator`
  yield* sql`
    grant select, update (ended_at) on payment_instructions to data_import_operator`
  yield* sql`grant select, insert on audit_log to data_import_operator`
})
