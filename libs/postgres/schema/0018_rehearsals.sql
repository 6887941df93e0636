-- What rehearsals predict, and what happens afterwards.
--
-- Can be undone: yes, by dropping what is made here; rehearsals then have no sums and no outcome.

-- What the accounts that the lines of a rehearsal would create add up to, counted when lines end,
-- so that reading it takes no longer for a batch of many. Amounts are in units of 0.01. They go
-- with their batch, when a sandbox is emptied.
create table batch_rehearsed (
  batch uuid not null constraint batch_rehearsed_batch_exists
    references batches on delete cascade,
  kind text not null
    constraint batch_rehearsed_kind_known
      check (kind in ('account', 'ledger', 'statement', 'transaction')),
  name text collate "C" not null,
  count integer not null,
  hundredths numeric not null,
  constraint batch_rehearsed_pkey primary key (batch, kind, name)
);

grant select on batch_rehearsed to data_import_batches, data_import_board;
grant select, insert, update (count, hundredths) on batch_rehearsed to data_import_batch_worker;

-- Of each line of a rehearsal that was judged: what, by what, when, and the codes that were found,
-- between blanks. Null for a line that was refused before.
alter table batch_chunks add payload_hashes bytea[], add judged_by text[],
  add judged_at timestamptz[], add judged_codes text[];

grant update (payload_hashes, judged_by, judged_at, judged_codes)
on batch_chunks to data_import_batch_worker;

-- The chunks to count anew when an import changes. Those whose lines were deleted are not. A list
-- of pending entries would be read whole by each search.
create index batch_chunks_judged on batch_chunks using gin (numbers) with (fastupdate = off)
where judged_at is not null and (lines is not null or held_lines is not null);

-- A rehearsal is followed from its first line on, until its lines are deleted. Nothing is counted
-- before every transaction has ended that may not have seen this row: those before `fence`.
create table followed_rehearsals (
  batch uuid constraint followed_rehearsals_pkey primary key
    constraint followed_rehearsals_batch_exists references batches on delete cascade,
  supplier text collate "C" not null,
  fence xid8,
  followed_until timestamptz
);

create index followed_rehearsals_of_supplier on followed_rehearsals (supplier)
where followed_until is null;

grant select on followed_rehearsals to data_import_batches, data_import_board;
grant select, insert, update (fence, followed_until)
on followed_rehearsals to data_import_batch_worker;

-- Each chunk by what was predicted and what happened, and the sums of the accounts that were
-- created. The counts are true as of `stale_since`, or as of now if that is null.
create table rehearsal_counts (
  batch uuid not null constraint rehearsal_counts_batch_followed
    references followed_rehearsals on delete cascade,
  first_line integer not null,
  lines jsonb not null default '[]',
  sums jsonb not null default '[]',
  stale_since timestamptz,
  constraint rehearsal_counts_pkey primary key (batch, first_line)
);

create index rehearsal_counts_stale on rehearsal_counts (batch, stale_since)
where stale_since is not null;

grant execute on function ledger_sum to data_import_batch_worker;
grant select on rehearsal_counts to data_import_batches, data_import_board;
grant select, insert, update (lines, sums, stale_since)
on rehearsal_counts to data_import_batch_worker;

-- What the counts do not have yet: imports of suppliers with a followed rehearsal, and chunks with
-- erased lines. The batch worker looks up their chunks and deletes them. The triggers that count
-- imports write them, since not every change has an event.
create table rehearsal_changes (
  at timestamptz not null default now(),
  import_id bigint,
  batch uuid,
  first_line integer
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create index rehearsal_changes_oldest on rehearsal_changes (at);

grant select on rehearsal_changes to data_import_batches, data_import_board;
-- A row is locked before it is deleted, which needs the right to update a column.
grant select, insert, delete, update (at) on rehearsal_changes to data_import_batch_worker;

-- The hash of a payload goes with the number of the line.
create function erase_judged_lines() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.payload_hashes := array(
    select case when number is not null then hash end
    from unnest(new.numbers, new.payload_hashes) with ordinality as of_line(number, hash, place)
    order by place);
  insert into rehearsal_changes (batch, first_line) values (new.batch, new.first_line);
  return new;
end $$;

create trigger batch_chunks_erase_judged before update of numbers on batch_chunks
for each row when (new.judged_at is not null) execute function erase_judged_lines();
