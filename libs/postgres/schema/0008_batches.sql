-- Batches and their lines, in chunks. A chunk holds its lines as arrays, since a row for each line
-- would cost more than the work on it.
--
-- batches, board and the operator store lines and work on none; the batch worker does what
-- account-import and post-import do, for the lines of a batch.
--
-- Can be undone: no, batches and their results would be lost.

-- The counts close by a check. `lines_of` is the batch that received the lines of a retry.
-- `stored_bytes` are those of its lines, results and problems, counted by the statements that store
-- them, so that an upload reads no lines to know the sum.
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
  imported json,
  revert json,
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
  lines_of uuid,
  stored_bytes bigint not null default 0,
  constraint batches_start_whole check ((started_at is null) = (api_key is null)),
  constraint batches_counts_close check (
    least(received, succeeded, already, failed, cancelled) >= 0
    and succeeded + already + failed + cancelled <= received),
  constraint batches_finished_when_done check ((finished_at is not null) = (
    (started_at is not null or is_cancelled)
    and succeeded + already + failed + cancelled = received))
);

create index batches_of_supplier on batches (supplier, number);

create index batches_of_organisation on batches (organisation, number);

create index batches_unfinished on batches (organisation) where finished_at is null;

create index batches_in_work on batches (supplier, number)
where started_at is not null and finished_at is null;

create index batches_with_lines on batches (finished_at)
where lines_deleted_through < received;

create index batches_storing on batches (organisation)
where lines_deleted_through < received;

create index batches_referring on batches (lines_of) where lines_of is not null;

grant select (id, number, supplier, received, succeeded, already, failed, cancelled)
on batches to data_import_query;
grant select, insert, update (started_at, api_key, is_taken, paused_by, accepted_failures,
  is_cancelled, finished_at, received, succeeded, already, failed, cancelled, bytes, uploads,
  waiting_for, recent, stored_bytes)
on batches to data_import_batches, data_import_board, data_import_operator;
grant select, update (started_at, api_key, is_taken, paused_by, accepted_failures, is_cancelled,
  finished_at, received, succeeded, already, failed, cancelled, waiting_for, recent,
  lines_deleted_through, stored_bytes)
on batches to data_import_batch_worker;
grant select (id, supplier, dry_run) on batches to data_import_events;

-- `blockers` are earlier chunks of the same accounts. `waits` is how many times one after the other
-- the chunk was given back because its lines waited for a vendor or a store; the pause before its
-- next turn grows with it. A retry has `held_lines`, the numbers of its lines in the batch that
-- received them, instead of `lines`, and `sizes` are the bytes of each line, so that a retry is
-- divided into chunks without reading them.
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
  waits smallint not null default 0,
  held_lines integer[],
  sizes integer[] not null,
  constraint batch_chunks_pkey primary key (batch, first_line),
  constraint batch_chunks_unfinished check (unfinished between 0 and line_count)
);

create index batch_chunks_ready on batch_chunks (batch, first_line)
where unfinished > 0 and blockers = 0;

grant select (batch, line_count, outcomes, unfinished) on batch_chunks to data_import_query;
grant select, insert, update (blockers)
on batch_chunks to data_import_batches, data_import_board, data_import_operator;
grant select, update (lines, tries, outcomes, results, unfinished, blockers, ready_at, waits,
  held_lines)
on batch_chunks to data_import_batch_worker;

-- Each chunk of the other batch is read once, since it is decompressed as a whole.
create function lines_held(of_batch uuid, held_lines integer[]) returns bytea[]
language sql stable strict as $$
  with wanted as (
    select line, place, lines_of, (
      select max(first_line) from batch_chunks
      where batch = lines_of and first_line <= line) as first
    from batches, unnest(held_lines) with ordinality as held(line, place)
    where id = of_batch
  ),
  present as (
    select first_line + place - 1 as line, bytes
    from (select distinct lines_of, first from wanted) as needed
      join batch_chunks on batch = lines_of and first_line = first
      cross join unnest(lines) with ordinality as of_line(bytes, place)
  )
  select array_agg(bytes order by place) from wanted left join present using (line)
$$;

grant execute on function lines_held to data_import_batch_worker, data_import_operator;

-- How often a chunk was taken. The count begins anew when PostgreSQL restarts: workers may have
-- ended because of that.
create table batch_takes (
  batch uuid not null,
  first_line integer not null,
  takes integer not null,
  server_started_at timestamptz not null default pg_postmaster_start_time(),
  constraint batch_takes_pkey primary key (batch, first_line)
);

grant select, insert, delete, update (takes, server_started_at)
on batch_takes to data_import_batch_worker;

create table batch_links (
  batch uuid not null,
  earlier integer not null,
  later integer not null,
  constraint batch_links_pkey primary key (batch, earlier, later)
);

create index batch_links_later on batch_links (batch, later);

grant select, insert on batch_links to data_import_batches, data_import_board, data_import_operator;
grant select on batch_links to data_import_batch_worker;

-- `erased` are the lines of erased customers: a name in a path goes with the last one who has it.
create table batch_problems (
  batch uuid not null constraint batch_problems_batch_exists references batches,
  digest text not null,
  code text not null,
  attr text not null,
  lines integer not null,
  examples jsonb not null,
  erased integer not null default 0,
  constraint batch_problems_pkey primary key (batch, digest)
);

grant select on batch_problems to data_import_batches, data_import_board, data_import_operator;
grant select, insert, update (lines, examples) on batch_problems to data_import_batch_worker;

create table batch_problem_sets (
  batch uuid not null constraint batch_problem_sets_batch_exists references batches,
  digest text not null,
  problems json not null,
  lines integer not null,
  constraint batch_problem_sets_pkey primary key (batch, digest)
);

grant select on batch_problem_sets to data_import_batches, data_import_board, data_import_operator;
grant select, insert, update (lines) on batch_problem_sets to data_import_batch_worker;

create table batch_workers (
  id uuid constraint batch_workers_pkey primary key,
  seen_at timestamptz not null
);

grant select on batch_workers to data_import_batches, data_import_board, data_import_operator;
grant select, insert, delete, update (seen_at) on batch_workers to data_import_batch_worker;
