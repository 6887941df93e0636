/**
 * Webhooks, their secrets, and the events that could not be delivered yet. The secrets are read by
 * the events service alone; the operator's user can add them and not read them.
 *
 * Can be undone: no, webhooks and their secrets would be lost.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const createTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table webhooks (
      id uuid constraint webhooks_pkey primary key,
      number bigint generated always as identity constraint webhooks_number_once unique,
      organisation text not null constraint webhooks_organisation_exists references organisations,
      url text not null,
      suppliers text[],
      names text[],
      allows_private boolean not null,
      created_at timestamptz not null,
      cursor bigint not null,
      replay_next bigint,
      replay_to bigint,
      failures integer not null default 0,
      due_at timestamptz not null,
      disabled_by text,
      last_error text,
      last_success_at timestamptz,
      lease uuid,
      leased_until timestamptz,
      constraint webhooks_replay_whole check ((replay_next is null) = (replay_to is null)),
      constraint webhooks_lease_whole check ((lease is null) = (leased_until is null)),
      constraint webhooks_disabled_known
        check (disabled_by in ('OPERATOR', 'FAILURES', 'GONE'))
    )`
  yield* sql`
    create table webhook_secrets (
      webhook uuid not null constraint webhook_secrets_webhook_exists references webhooks,
      number bigint generated always as identity,
      secret text not null,
      expires_at timestamptz,
      constraint webhook_secrets_pkey primary key (webhook, number)
    )`
  yield* sql`
    create table webhook_retries (
      webhook uuid not null constraint webhook_retries_webhook_exists references webhooks,
      position bigint not null,
      attempts integer not null,
      due_at timestamptz not null,
      constraint webhook_retries_pkey primary key (webhook, position)
    )`
  yield* sql`
    alter table outbox
    add column webhook uuid constraint outbox_webhook_exists references webhooks`
})

export const webhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* createTables
  yield* sql`
    grant select, update (cursor, replay_next, replay_to, failures, due_at, disabled_by, last_error,
      last_success_at, lease, leased_until)
    on webhooks to data_import_events`
  yield* sql`grant select, delete on webhook_secrets to data_import_events`
  yield* sql`
    grant select, insert, delete, update (attempts, due_at) on webhook_retries
    to data_import_events`
  yield* sql`grant insert on outbox to data_import_events`
  yield* sql`
    grant select, insert, update (replay_next, replay_to, failures, due_at, disabled_by)
    on webhooks to data_import_operator`
  yield* sql`
    grant select (webhook, number, expires_at), insert, update (expires_at)
    on webhook_secrets to data_import_operator`
  yield* sql`
    grant select, update (attempts, due_at) on webhook_retries to data_import_operator`
  yield* sql`grant select (organisation, position) on event_heads to data_import_operator`
  yield* sql`
    grant select (event_id, organisation, position) on outbox to data_import_operator`
})
