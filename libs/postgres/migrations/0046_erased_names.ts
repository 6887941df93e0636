/**
 * Erases the names in paths of problems that only erased customers' lines have, however many lines
 * these are, and whatever is wrong at the path. `erase_examples` knew only the names of unknown
 * fields, and as many lines as there are examples. Each problem counts its erased lines, so that a
 * name goes with the last customer who has it. The digests are replaced as well, because a name
 * can be guessed from its digest.
 *
 * Can be undone: no, what was erased is gone.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** `keys` are those under which the problems are counted, and `counts` how many lines have them. */
export const erasedNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isOwn = "(problem ->> 0) || ' ' || (problem ->> 1) = any (own)"
  yield* sql`alter table batch_problems add column erased integer not null default 0`
  yield* sql.unsafe(`
    create function erase_names(of_batch uuid, keys text[], counts integer[]) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
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
  yield* sql`grant execute on function erase_names to data_import_operator`
})
