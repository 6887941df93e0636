-- The lines that staging or processing has refused, and whose account has not come since: open work
-- that no import shows. A row is stored by the statement that stores the line's outcome, and
-- deleted by the one that stores the import. The rows hold a digest and the place of the line, no
-- account number. Their counts are kept as those of imports are, but by batch, since a batch counts
-- once it has ended.
--
-- Can be undone: yes, by dropping the triggers, the view and the tables.

-- The identity is what two lines have in common that are about the same account of a supplier. A
-- foreign key would lock the row of the batch, the most contended one, with each chunk.
create table refused_lines (
  identity bytea constraint refused_lines_pkey primary key,
  supplier text collate "C" not null,
  cohort text,
  batch uuid not null,
  line integer not null,
  recorded_at timestamptz not null,
  is_settled boolean not null default false
);

create index refused_lines_of_batch on refused_lines (batch, line);

create index refused_lines_of_supplier on refused_lines (supplier, batch, line);

create index refused_lines_unsettled on refused_lines (recorded_at) where not is_settled;

-- `settle_refused` adds the differences up.
create table refused_differences (
  batch uuid not null,
  count bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create table refused_totals (
  batch uuid constraint refused_totals_pkey primary key,
  count bigint not null
);

create view refused_counts as
select supplier, cohort, sum(count)::bigint as count
from (
  select batch, count from refused_totals
  union all
  select batch, count from refused_differences
) as parts join batches on batches.id = parts.batch
where finished_at is not null group by supplier, cohort;

grant select (supplier, cohort, batch, line) on refused_lines to data_import_board;
grant select on refused_counts to data_import_query, data_import_board, data_import_operator;

create function count_refused_insert() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into refused_differences (batch, count)
  select batch, count(*) from changed group by batch;
  return null;
end $$;

create trigger refused_lines_count_insert after insert on refused_lines
referencing new table as changed for each statement execute function count_refused_insert();

create function count_refused_delete() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into refused_differences (batch, count)
  select batch, -count(*) from changed group by batch;
  return null;
end $$;

create trigger refused_lines_count_delete after delete on refused_lines
referencing old table as changed for each statement execute function count_refused_delete();

-- A line without a number is what was sent, or else its place. The lines of a retry are those it
-- refers to. A retry of a line that was too long to be kept is recorded already, with the batch
-- that it retries.
create function record_refused_lines(chunk batch_chunks, before text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  of_batch batches;
  present bytea[];
  refused refused_lines[];
begin
  select * into strict of_batch from batches where id = chunk.batch;
  if of_batch.dry_run or of_batch.operation not in ('STAGE', 'IMPORT', 'PROCESS') then
    return;
  end if;
  if array_position(chunk.numbers, null) is not null then
    present := coalesce(chunk.lines, lines_held(chunk.batch, chunk.held_lines));
  end if;
  select array_agg((identity, of_batch.supplier, of_batch.cohort, chunk.batch, first,
    clock_timestamp(), false)::refused_lines order by identity) into refused
  from (select identity, min(line) as first from (
    select chunk.first_line + place - 1 as line,
      case
        when number is not null then sha256(
          convert_to(of_batch.supplier, 'UTF8') || '\x00' || convert_to(number, 'UTF8'))
        when present[place] is not null then sha256(
          convert_to(of_batch.supplier, 'UTF8') || '\x0000' || present[place])
        else sha256(convert_to(
          chunk.batch::text || ' ' || chunk.first_line + place - 1, 'UTF8'))
      end as identity
    from unnest(chunk.numbers, chunk.outcomes, before, chunk.source_lines, chunk.results)
      with ordinality as of_line(number, outcome, earlier, source_line, result, place)
    where outcome = 'FAILED' and earlier is distinct from 'FAILED'
      and (number is not null or present[place] is not null or source_line is null)
      and (result::json ->> 'erased') is null
      and not exists (
        select from import_processes
        where import_processes.supplier = of_batch.supplier
          and external_account_number = number)
  ) as lines group by identity) as each;
  -- A batch that goes on does not count yet, so the line of this one takes its place.
  delete from refused_lines where identity = any(array(
    select earlier.identity from refused_lines as earlier join batches on batches.id = batch
    where earlier.identity in (select identity from unnest(refused))
      and batch <> chunk.batch and finished_at is null
    order by earlier.identity for update of earlier));
  insert into refused_lines select * from unnest(refused)
  on conflict on constraint refused_lines_pkey do nothing;
end $$;

create function record_refused() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform record_refused_lines(new, old.outcomes);
  return null;
end $$;

create trigger batch_chunks_record_refused after update on batch_chunks
for each row when (
  old.outcomes is distinct from new.outcomes and 'FAILED' = any (new.outcomes))
execute function record_refused();

-- An import under the number ends it. So do the erasure of the line and the deletion of its batch.
create function correct_refused() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from refused_lines where identity = any(array(
    select sha256(
      convert_to(supplier, 'UTF8') || '\x00' || convert_to(external_account_number, 'UTF8'))
    from added));
  return null;
end $$;

create trigger import_processes_correct_refused after insert on import_processes
referencing new table as added for each statement execute function correct_refused();

create function forget_refused() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from refused_lines where batch = new.batch and line = any(array(
    select new.first_line + place - 1 from unnest(new.results) with ordinality
      as of_line(result, place)
    where result::json ->> 'erased' = 'true'));
  return null;
end $$;

create trigger batch_chunks_forget_refused after update on batch_chunks
for each row when (
  old.outcomes is not distinct from new.outcomes and old.results is distinct from new.results)
execute function forget_refused();

create function forget_refused_of_batch() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from refused_lines where batch = old.id;
  delete from refused_differences where batch = old.id;
  delete from refused_totals where batch = old.id;
  return null;
end $$;

create trigger batches_forget_refused after delete on batches
for each row execute function forget_refused_of_batch();

-- A line may be refused while an import of its number is being stored, so that neither transaction
-- sees the other. Each row is thus looked at once more when both have ended.
create function settle_refused(slice integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with taken as (
    delete from refused_differences
    where ctid = any(array(select ctid from refused_differences limit slice))
    returning *
  )
  insert into refused_totals as total (batch, count)
  select batch, sum(count) from taken group by batch order by batch
  on conflict on constraint refused_totals_pkey do update
  set count = total.count + excluded.count;
  with due as materialized (
    select identity, supplier, batch, line from refused_lines
    where not is_settled and recorded_at < now() - interval '1 minute'
    order by recorded_at limit slice for update skip locked
  ),
  stored as materialized (
    select identity, exists (
      select from batch_chunks join import_processes
        on import_processes.supplier = due.supplier
          and external_account_number = numbers[line - first_line + 1]
      where batch_chunks.batch = due.batch and first_line = (
        select max(first_line) from batch_chunks as chunk
        where chunk.batch = due.batch and chunk.first_line <= line)
    ) as is_corrected from due
  ),
  corrected as (
    delete from refused_lines using stored
    where refused_lines.identity = stored.identity and is_corrected
  )
  update refused_lines set is_settled = true from stored
  where refused_lines.identity = stored.identity and not is_corrected;
end $$;

grant execute on function settle_refused to data_import_query;
