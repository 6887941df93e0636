/**
 * Test organisations are emptied in slices of bytes as well as of rows, so that a slice with large
 * accounts or large lines ends far below the limit of a statement. A slice that has deleted lines
 * only is told apart from one that could delete nothing.
 *
 * Can be undone: yes, by restoring the earlier functions.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { accountTables } from "./0028_test_organisations.ts"

/** Of payloads or lines, about how many bytes are deleted in one slice, and one row at least. */
const sliceBytes = 16 * 1024 * 1024

/** A transaction or note that was added after the import has about so many bytes. */
const itemBytes = 500

const definer = "security definer set search_path = public, pg_temp"

export const sandboxSlices = Effect.gen(function* () {
  yield* emptyingImports
  yield* emptyingBatches
  yield* emptying
})

/** As before, but it stops at `sliceBytes`. The loop measures no account that it will not take. */
const emptyingImports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create or replace function delete_test_imports(codes text[], entry audit_log, slice integer,
      out imports integer, out accounts integer, out events integer)
    language plpgsql as $$
    declare
      ids bigint[] := '{}';
      with_account bigint[];
      held record;
      bytes bigint := 0;
    begin
      for held in
        select id, coalesce(payload_bytes, octet_length(payload::text), 0) as payload
        from import_processes
        where supplier = any(codes) and (lease_attempt is null or lease_expires_at <= entry.at)
        order by id limit slice for update skip locked
      loop
        bytes := bytes + held.payload + ${itemBytes} * (
          (select count(*) from transactions where account_id = held.id)
          + (select count(*) from notes where account_id = held.id));
        exit when bytes > ${sliceBytes} and ids <> '{}';
        ids := ids || held.id;
      end loop;
      select array_agg(id) into with_account from (
        select id from public.accounts where id = any(ids) for update skip locked) as present;
      ids := array(
        select id from import_processes where id = any(ids)
          and (id = any(with_account) or not exists (
            select from public.accounts as account where account.id = import_processes.id))
        order by supplier, external_account_number);
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select entry.at, entry.organisation, entry.api_key, entry.request_id, 'empty_sandbox',
        'emptied', supplier, external_account_number
      from import_processes where id = any(ids) order by supplier, external_account_number;
      ${accountTables
        .map((table) => `delete from ${table} where account_id = any(with_account);`)
        .join("\n      ")}
      delete from import_failures where import_id = any(ids);
      delete from import_attempts where import_id = any(ids);
      delete from outbox where import_id = any(ids);
      get diagnostics events = row_count;
      with gone as (delete from public.accounts where id = any(with_account))
      delete from import_processes where id = any(ids);
      get diagnostics imports = row_count;
      accounts := coalesce(cardinality(with_account), 0);
    end $$`)
})

/** As before, but it stops at `sliceBytes`, and returns how many chunks it deleted. */
const emptyingBatches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`drop function delete_test_batch(text, integer)`
  yield* sql.unsafe(`
    create function delete_test_batch(sandbox text, slice integer,
      out batches integer, out events integer, out chunks integer)
    language plpgsql as $$
    declare ended uuid;
    begin
      batches := 0;
      events := 0;
      chunks := 0;
      select id into ended from public.batches
      where organisation = sandbox and finished_at is not null
      order by number limit 1 for update skip locked;
      if ended is null then return; end if;
      delete from batch_links where batch = ended;
      delete from batch_takes where batch = ended;
      delete from batch_problems where batch = ended;
      delete from batch_problem_sets where batch = ended;
      delete from batch_chunks where batch = ended and first_line = any(array(
        select first_line from (
          select first_line, row_number() over before as place,
            sum(coalesce(pg_column_size(lines), 0) + pg_column_size(results)) over before as bytes
          from (
            select first_line, lines, results from batch_chunks
            where batch = ended order by first_line limit slice) as first_ones
          window before as (order by first_line)) as measured
        where place = 1 or bytes <= ${sliceBytes}));
      get diagnostics chunks = row_count;
      if exists (select from batch_chunks where batch = ended) then return; end if;
      delete from outbox where batch = ended;
      get diagnostics events = row_count;
      delete from public.batches where id = ended;
      batches := 1;
    end $$`)
})

/** As before, and it also returns the deleted chunks. An earlier release ignores them. */
const emptying = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`drop function empty_sandbox(text, text, text, timestamptz, integer)`
  yield* sql.unsafe(`
    create function empty_sandbox(sandbox text, caller_key text, request text,
      instant timestamptz, slice integer,
      out status text, out imports integer, out accounts integer, out batches integer,
      out events integer, out answers integer, out chunks integer)
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
      chunks := 0;
      imports := 0;
      accounts := 0;
      if events < slice * 10 then
        select deleted.batches, deleted.events, deleted.chunks into batches, more, chunks
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
  yield* sql`
    grant execute on function empty_sandbox(text, text, text, timestamptz, integer)
    to data_import_account_import`
})
