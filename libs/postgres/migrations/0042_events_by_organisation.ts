/**
 * An event has its organisation and supplier from when it is stored, so that positions are given
 * and test organisations are emptied under one lock for each organisation.
 *
 * Can be undone: yes, by dropping the trigger and restoring the earlier function.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whoever stores an event needs no rights on what its owner is found by. */
const definer = "security definer set search_path = public, pg_temp"

/** The event of a webhook is stored with its organisation. */
export const eventsByOrganisation = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function name_event_owner() returns trigger language plpgsql ${definer} as $$
    begin
      select code, owner.organisation into new.import_supplier, new.organisation
      from suppliers as owner where code = coalesce(
        (select supplier from import_processes where id = new.import_id),
        (select supplier from batches where id = new.batch));
      return new;
    end $$`)
  yield* sql`
    create trigger outbox_owner before insert on outbox for each row
    when (new.organisation is null) execute function name_event_owner()`
  // `IndexBuilds` builds another one, in which the organisation comes first, and events that were
  // stored before get their organisation by it.
  yield* sql`drop index if exists outbox_without_position`
  yield* emptying
})

/** As before, but while it has the lock, only events of this organisation get no position. */
const emptying = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create or replace function empty_sandbox(sandbox text, caller_key text, request text,
      instant timestamptz, slice integer,
      out status text, out imports integer, out accounts integer, out batches integer,
      out events integer, out answers integer)
    language plpgsql ${definer} as $$
    declare
      codes text[] := array(select code from suppliers where organisation = sandbox);
      entry audit_log;
      more integer;
    begin
      if not exists (select from organisations where name = sandbox and test_of is not null) then
        status := 'LIVE';
        return;
      end if;
      if exists (
        select from public.batches where organisation = sandbox and finished_at is null)
      then
        status := 'BATCHES';
        return;
      end if;
      perform pg_advisory_xact_lock(
        hashtextextended('data-import event positions ' || sandbox, 0));
      entry.at := instant;
      entry.organisation := sandbox;
      entry.api_key := caller_key;
      entry.request_id := request;
      events := delete_test_events(sandbox, slice * 10);
      batches := 0;
      imports := 0;
      accounts := 0;
      if events < slice * 10 then
        select deleted.batches, deleted.events into batches, more
        from delete_test_batch(sandbox, slice) as deleted;
        events := events + more;
        select deleted.imports, deleted.accounts, deleted.events into imports, accounts, more
        from delete_test_imports(codes, entry, slice) as deleted;
        events := events + more;
      end if;
      with kept as (
        select key from idempotency_keys
        where organisation = sandbox and (answer is not null or expires_at <= instant)
        limit slice * 10 for update skip locked)
      delete from idempotency_keys using kept
      where organisation = sandbox and idempotency_keys.key = kept.key;
      get diagnostics answers = row_count;
      perform delete_test_counts(codes);
      status := case when exists (
          select from import_processes where supplier = any(codes)
        ) or exists (
          select from public.batches where organisation = sandbox and finished_at is not null
        ) then 'LEFT' else 'EMPTY' end;
    end $$`)
})
