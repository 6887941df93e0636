/**
 * A retry refers to the lines of the batch that received them, instead of copying them: `lines_of`
 * is that batch, and `held_lines` are the numbers of the lines there. `sizes` are the bytes of each
 * line, so that a retry is divided into chunks without reading its lines. Chunks that were stored
 * before have none.
 *
 * Can be undone: no, retries would have no lines.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const referredLines = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table batches add column lines_of uuid`
  yield* sql`
    alter table batch_chunks add column held_lines integer[], add column sizes integer[]`
  yield* sql`grant update (held_lines) on batch_chunks to data_import_batch_worker`
  yield* reading
  yield* recording
})

/** Each chunk of the other batch is read once, since it is decompressed as a whole. */
const reading = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
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
    $$`
  yield* sql`
    grant execute on function lines_held to data_import_batch_worker, data_import_operator`
})

/** As before, but the lines of a retry are those it refers to. */
const recording = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create or replace function record_refused_lines(chunk batch_chunks, before text[])
    returns void language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      of_batch batches;
      present bytea[];
    begin
      select * into strict of_batch from batches where id = chunk.batch;
      if of_batch.dry_run or of_batch.operation not in ('STAGE', 'IMPORT', 'PROCESS') then
        return;
      end if;
      if array_position(chunk.numbers, null) is not null then
        present := coalesce(chunk.lines, lines_held(chunk.batch, chunk.held_lines));
      end if;
      insert into refused_lines (identity, supplier, cohort, batch, line)
      select identity, of_batch.supplier, of_batch.cohort, chunk.batch, min(line) from (
        select chunk.first_line + place - 1 as line,
          case
            when number is not null then sha256(
              convert_to(of_batch.supplier, 'UTF8') || '\\x00' || convert_to(number, 'UTF8'))
            when present[place] is not null then sha256(
              convert_to(of_batch.supplier, 'UTF8') || '\\x0000' || present[place])
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
      ) as refused group by identity order by identity
      on conflict on constraint refused_lines_pkey do nothing;
    end $$`
})
