/**
 * What the operator configures, and what authentication needs: organisations to API keys.
 *
 * Can be undone: no, every organisation and key would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const operatorSetup = Effect.gen(function* () {
  yield* setup
  yield* keys
})

const setup = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table organisations (
      name text collate "C"
        constraint organisations_pkey primary key
        constraint organisations_name_form check (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
      created_at timestamptz not null
    )`

  yield* sql`
    create table suppliers (
      code text collate "C"
        constraint suppliers_pkey primary key
        constraint suppliers_code_length check (char_length(code) between 1 and 32),
      organisation text collate "C" not null
        constraint suppliers_organisation_exists references organisations,
      status text not null
        constraint suppliers_status_known check (status in ('Ongoing', 'Paused', 'Complete')),
      document_root text not null,
      document_check boolean not null,
      customer_emails boolean not null,
      concurrency_limit integer
        constraint suppliers_concurrency_limit_not_negative check (concurrency_limit >= 0)
    )`

  yield* sql`
    create table operations_teams (
      name text collate "C"
        constraint operations_teams_pkey primary key
        constraint operations_teams_name_length check (char_length(name) between 1 and 128)
    )`

  yield* sql`
    create table choices (
      list text not null
        constraint choices_list_known check (list in
          ('sales_channel', 'reason', 'payment_type', 'ledger_code', 'product_code', 'vendor')),
      value text collate "C" not null
        constraint choices_value_length check (char_length(value) between 1 and 128),
      added bigint generated always as identity,
      constraint choices_pkey primary key (list, value)
    )`
})

const keys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table api_keys (
      id text collate "C" constraint api_keys_pkey primary key,
      organisation text collate "C" not null
        constraint api_keys_organisation_exists references organisations,
      label text not null,
      scopes text[] not null
        constraint api_keys_scopes_known check (scopes <@ array['import:read', 'import:write']),
      hash text collate "C" not null constraint api_keys_hash_once unique,
      created_at timestamptz not null,
      expires_at timestamptz,
      revoked_at timestamptz
    )`
  yield* sql`create index api_keys_by_organisation on api_keys (organisation)`

  yield* sql`
    create table refresh_token_families (
      family text collate "C" constraint refresh_token_families_pkey primary key,
      api_key text collate "C" not null
        constraint refresh_token_families_api_key_exists references api_keys,
      revoked_at timestamptz
    )`

  yield* sql`
    create table refresh_tokens (
      hash text collate "C" constraint refresh_tokens_pkey primary key,
      family text collate "C" not null
        constraint refresh_tokens_family_exists references refresh_token_families,
      expires_at timestamptz not null,
      used_at timestamptz
    )`

  yield* sql`
    create table failed_token_attempts (
      id bigint generated always as identity constraint failed_token_attempts_pkey primary key,
      client_address text collate "C" not null,
      at timestamptz not null
    )`
  yield* sql`
    create index failed_token_attempts_by_address on failed_token_attempts (client_address, at)`
  yield* sql`create index failed_token_attempts_by_time on failed_token_attempts (at)`
})
