-- The emptying of test organisations, in slices of rows and of bytes (16 MiB of payloads or lines,
-- and one row at least), so that a slice with large accounts or large lines ends far below the
-- limit of a statement.
--
-- Can be undone: yes, by dropping the functions.

-- Deletes imports of these suppliers with their accounts, each table before those that it refers
-- to, and records it in the audit log. Rows that a transaction holds are left, so that
-- nobody waits for another in a circle: whoever writes locks the account first, or the import. One
-- that was erased has an account, and no number of it. The loop measures no account that it will
-- not take; a transaction or note that was added after the import has about 500 bytes.
create function delete_test_imports(codes text[], entry audit_log, slice integer, out imports
  integer, out accounts integer, out events integer)
language plpgsql as $$
declare
  ids bigint[] := '{}';
  with_account bigint[];
  held record;
  bytes bigint := 0;
begin
  for held in
    select id, account_id, coalesce(payload_bytes, octet_length(payload::text), 0) as payload
    from import_processes
    where supplier = any(codes) and (lease_attempt is null or lease_expires_at <= entry.at)
    order by id limit slice for update skip locked
  loop
    bytes := bytes + held.payload + 500 * (
      (select count(*) from transactions where account_id = held.account_id)
      + (select count(*) from notes where account_id = held.account_id));
    exit when bytes > 16777216 and ids <> '{}';
    ids := ids || held.id;
  end loop;
  select array_agg(id) into with_account from (
    select id from public.accounts where import_id = any(ids) for update skip locked) as present;
  ids := array(
    select id from import_processes where id = any(ids)
      and not exists (
        select from public.accounts as account where account.import_id = import_processes.id
          and account.id <> all(coalesce(with_account, '{}')))
    order by supplier, external_account_number);
  with_account := array(select id from public.accounts where import_id = any(ids));
  insert into audit_log (at, organisation, api_key, request_id, action, outcome,
    import_supplier, external_account_number)
  select entry.at, entry.organisation, entry.api_key, entry.request_id, 'empty_sandbox',
    'emptied', supplier, case when erased_at is null then external_account_number end
  from import_processes where id = any(ids) order by supplier, external_account_number;
  delete from transaction_line_items where account_id = any(with_account);
  delete from transaction_tax_items where account_id = any(with_account);
  delete from transactions where account_id = any(with_account);
  delete from note_documents where account_id = any(with_account);
  delete from notes where account_id = any(with_account);
  delete from statements where account_id = any(with_account);
  delete from payment_instructions where account_id = any(with_account);
  delete from ledgers where account_id = any(with_account);
  delete from certificate_entries using import_processes
  where id = any(ids) and certificate_entries.supplier = import_processes.supplier
    and certificate_entries.external_account_number = import_processes.external_account_number;
  delete from moved_imports where import_id = any(ids);
  delete from comments where import_id = any(ids);
  delete from import_failures where import_id = any(ids);
  delete from import_attempts where import_id = any(ids);
  delete from outbox where import_id = any(ids);
  get diagnostics events = row_count;
  with gone as (delete from public.accounts where id = any(with_account))
  delete from import_processes where id = any(ids);
  get diagnostics imports = row_count;
  accounts := coalesce(cardinality(with_account), 0);
end $$;

-- Deletes from one batch that has ended. Its row goes with the last of its lines. A slice that has
-- deleted lines only is told apart by its chunks from one that could delete nothing.
create function delete_test_batch(sandbox text, slice integer, out batches integer, out events
  integer, out chunks integer)
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
    where place = 1 or bytes <= 16777216));
  get diagnostics chunks = row_count;
  if exists (select from batch_chunks where batch = ended) then return; end if;
  delete from outbox where batch = ended;
  get diagnostics events = row_count;
  delete from public.batches where id = ended;
  batches := 1;
end $$;

-- Deletes events from the first on, so that a client never misses one without a word.
create function delete_test_events(sandbox text, slice integer) returns integer
language plpgsql as $$
declare
  through bigint;
  deleted integer;
begin
  perform from event_heads where organisation = sandbox for no key update;
  select max(position) into through from (
    select position from outbox where organisation = sandbox and position is not null
    order by position limit slice) as first_ones;
  if through is null then return 0; end if;
  delete from outbox where organisation = sandbox and position <= through;
  get diagnostics deleted = row_count;
  update event_heads set pruned_through = greatest(pruned_through, through)
  where organisation = sandbox;
  return deleted;
end $$;

-- Takes back what is counted of suppliers without imports. One statement sees imports, differences
-- and totals at one instant, so what is written meanwhile is counted right.
create function delete_test_counts(codes text[]) returns void language sql as $$
  insert into import_differences (supplier, cohort, kind, name, count, amount)
  select supplier, cohort, kind, name, -sum(count), -sum(amount)
  from (
    select supplier, cohort, kind, name, count, amount from import_differences
    where supplier = any(codes)
    union all
    select supplier, nullif(cohort, ''), kind, name, count, amount from import_totals
    where supplier = any(codes)
    union all
    select supplier, null, kind, name, -count, -amount from import_totals
    where supplier = any(codes) and cohort <> ''
  ) as counted
  where not exists (select from import_processes where supplier = counted.supplier)
  group by supplier, cohort, kind, name having sum(count) <> 0 or sum(amount) <> 0
$$;

-- It looks itself whether the organisation is a test organisation, so that no other is ever
-- emptied, whoever calls it. While it has the lock, no event of this organisation gets a position.
create function empty_sandbox(sandbox text, caller_key text, request text, instant timestamptz,
  slice integer, out status text, out imports integer, out accounts integer, out batches integer,
  out events integer, out answers integer, out chunks integer)
language plpgsql security definer set search_path = public, pg_temp as $$
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
  delete from outbox
  where certificate in (select id from certificates where organisation = sandbox);
  delete from certificate_blocks
  where certificate in (select id from certificates where organisation = sandbox);
  delete from certificates where organisation = sandbox;
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
end $$;

grant execute on function empty_sandbox to data_import_account_import;
