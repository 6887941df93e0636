/**
 * Counts how many lines of each problem were erased, so that a name in a path goes with the last
 * customer who has it. `erase_names` compared only the lines of one erasure, and kept for good what
 * two erased customers had sent, for example two accounts of the same person. Lines that were
 * erased before are not counted.
 *
 * Can be undone: yes, by restoring the earlier function and dropping the column.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** As before, but lines that were erased earlier count as well. */
export const sharedNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isOwn = "(problem ->> 0) || ' ' || (problem ->> 1) = any (own)"
  yield* sql`alter table batch_problems add column erased integer not null default 0`
  yield* sql.unsafe(`
    create or replace function erase_names(of_batch uuid, keys text[], counts integer[])
    returns void language plpgsql security definer set search_path = public, pg_temp as $$
    declare own text[];
    begin
      perform from batch_problems
      where batch = of_batch and digest = any (array(select md5(key) from unnest(keys) as key))
      order by digest for no key update;
      update batch_problems set erased = erased + count
      from unnest(keys, counts) as named(key, count)
      where batch = of_batch and digest = md5(key);
      own := array(
        select (key::json ->> 0) || ' ' || (key::json ->> 1)
        from unnest(keys) as key
          left join batch_problems on batch = of_batch and digest = md5(key)
        where lines is null or lines <= erased);
      update batch_problems
      set attr = 'non_field_errors', digest = md5(gen_random_uuid()::text)
      where batch = of_batch and code || ' ' || attr = any (own);
      update batch_problem_sets
      set digest = md5(gen_random_uuid()::text), problems = (
        select json_agg(case when ${isOwn}
          then json_build_array(problem ->> 0, 'non_field_errors') else problem end
          order by place)
        from json_array_elements(problems) with ordinality as present(problem, place))
      where batch = of_batch and exists (
        select from json_array_elements(problems) as problem where ${isOwn});
    end $$`)
})
