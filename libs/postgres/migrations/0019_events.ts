/**
 * The position of each event in its organisation, given after the event was committed, and the
 * positions that every organisation has reached. The indexes on the outbox are built afterwards,
 * by `IndexBuilds`.
 *
 * Can be undone: no, clients hold positions that would be given anew.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const events = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table outbox
      add column event_id uuid,
      add column organisation text,
      add column import_supplier text,
      add column position bigint`
  yield* sql`
    create table event_heads (
      organisation text constraint event_heads_pkey primary key
        constraint event_heads_organisation_exists references organisations,
      position bigint not null,
      pruned_through bigint not null default 0,
      constraint event_heads_pruned_within check (pruned_through between 0 and position)
    )`
  yield* createRole
  yield* grants
})

// Another database of this server may have made the role, or be making it at this moment.
const createRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    do $$ begin
      if not exists (select from pg_roles where rolname = 'data_import_events') then
        begin
          create role data_import_events nologin;
        exception when duplicate_object or unique_violation then null;
        end;
      end if;
    end $$`
})

/** It sees which import or batch an event is of, and nothing of what was staged. */
const grants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`grant usage on schema public to data_import_events`
  yield* sql`grant select on suppliers, api_keys to data_import_events`
  yield* sql`grant select, insert, update (requests, at) on allowances to data_import_events`
  yield* sql`
    grant select, delete, update (event_id, organisation, import_supplier, position)
    on outbox to data_import_events`
  yield* sql`
    grant select, insert, update (position, pruned_through) on event_heads to data_import_events`
  yield* sql`
    grant select (id, supplier, external_account_number, account_number, cohort)
    on import_processes to data_import_events`
  yield* sql`grant select (id, supplier, cohort) on batches to data_import_events`
})
