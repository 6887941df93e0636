-- The erasure of a customer, by functions, so that the operator's user needs no right to change
-- accounts and lines otherwise. What was refused is kept as digests, by which a number could be
-- found; they go too, and a repeated refusal may be recorded once more.
--
-- Can be undone: no, what was erased is gone.

-- Erases an import, which the caller has locked, with its account. Returns what is outside of the
-- database: the documents that both name, and the instructions that are not ended. An id of the
-- supplier may repeat the number of the account. The lines of a bill keep what their amounts are
-- computed from.
create function erase_import(import bigint, instant timestamptz) returns json
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  outside json;
  lives bigint[];
begin
  select coalesce(array_agg(id), '{}') into lives
  from (select id from accounts where import_id = import for update nowait) as held;
  outside := json_build_object(
    'documents', coalesce((
      select json_agg(path order by path collate "C") from (
        select distinct regexp_replace(named, '^/', '') as path from (
          select document_path as named from note_documents where account_id = any(lives)
          union all
          select statement_path from statements where account_id = any(lives)
          union all
          select document ->> 'document_path' from import_processes,
            json_array_elements(payload -> 'notes') as note,
            json_array_elements(note -> 'document_paths') as document
          where id = import
          union all
          select statement ->> 'statement_path' from import_processes,
            json_array_elements(payload -> 'statements') as statement
          where id = import
        ) as every where named is not null
      ) as paths), '[]'),
    'instructions', coalesce((
      select json_agg(json_build_object('vendor', vendor, 'reference', reference, 'type', type))
      from payment_instructions where account_id = any(lives) and ended_at is null), '[]'));
  delete from outbox where import_id = import;
  update import_attempts set errors = (
    select coalesce(jsonb_agg(jsonb_build_object('code', error ->> 'code',
      'attr', 'non_field_errors') order by place), '[]')
    from jsonb_array_elements(errors) with ordinality as each(error, place))
  where import_id = import and errors <> '[]';
  update import_attempts set payload_hash = null
  where import_id = import and payload_hash is not null;
  update import_attempts set ended_at = instant, outcome = 'lease_expired'
  where import_id = import and ended_at is null;
  delete from payment_instructions where account_id = any(lives);
  delete from note_documents where account_id = any(lives);
  delete from notes where account_id = any(lives);
  update transactions set transaction_id = 'erased-' || gen_random_uuid(), occurrence = 1,
    reason = null, display_note = null, note = null, reference = null, payment_type = null,
    product_code = null
  where account_id = any(lives);
  update transaction_line_items set rate_band = null, reading_at_start = null,
    reading_at_end = null
  where account_id = any(lives);
  update statements set statement_id = 'erased-' || gen_random_uuid(), number = null,
    statement_path = null, document_size = null, document_etag = null, document_checksum = null
  where account_id = any(lives);
  update accounts set payload = null, payload_bytes = null, payload_notes = 0, revert_reason = null,
    payload_hash = null, erased_at = instant
  where id = any(lives);
  -- A certificate that is computed from an older snapshot cannot be stored after this change, and
  -- is computed again. One that is being stored is waited for.
  update certificates set leased_until = '-infinity'
  where status = 'RUNNING' and supplier = (select supplier from import_processes where id = import);
  delete from certificate_entries using import_processes
  where id = import and certificate_entries.supplier = import_processes.supplier
    and certificate_entries.external_account_number = import_processes.external_account_number;
  update certificate_blocks set numbers = array_replace(numbers, external_account_number, null)
  from import_processes
  where id = import and external_account_number = any(numbers) and certificate in (
    select certificates.id from certificates
    where certificates.supplier = import_processes.supplier);
  update comments set text = null where import_id = import;
  update import_processes set payload = null, payload_bytes = null, payload_hash = null,
    skipped = true, lease_attempt = null, lease_expires_at = null, lease_dry_run = false,
    failed_staging = null, account_number = null, account_created_at = null, erased_at = instant
  where id = import;
  return outside;
end $$;

grant execute on function erase_import to data_import_operator;

create function erase_answers(import bigint) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from idempotency_keys where import_id = $1
$$;

grant execute on function erase_answers to data_import_operator;

create function erase_refusals(of_organisation text) returns void
language sql security definer set search_path = public, pg_temp as $$
  with recorded as (
    select organisation, api_key from refusal_windows where organisation = $1
    order by api_key for no key update
  )
  update refusal_windows as present set digests = '{}', is_full = false from recorded
  where present.organisation = recorded.organisation and present.api_key = recorded.api_key
    and digests <> '{}'
$$;

grant execute on function erase_refusals to data_import_operator;

-- Erases lines of a chunk, which the caller has locked: those at these places get these results.
-- The keys under which they ran are deleted.
create function erase_lines(of_batch uuid, first integer, places integer[], erased_results text[],
  keys text[])
returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare chunk batch_chunks;
begin
  select * into strict chunk from batch_chunks where batch = of_batch and first_line = first;
  for each in 1 .. cardinality(places) loop
    if chunk.outcomes[places[each]] is null then
      raise exception 'line % has not ended', first + places[each] - 1;
    end if;
    chunk.lines[places[each]] := null;
    chunk.numbers[places[each]] := null;
    chunk.results[places[each]] := erased_results[each];
  end loop;
  update batch_chunks set numbers = chunk.numbers, results = chunk.results,
    lines = case when lines is not null then chunk.lines end
  where batch = of_batch and first_line = first;
  delete from idempotency_keys using batches
  where batches.id = of_batch and idempotency_keys.organisation = batches.organisation
    and key = any (keys);
end $$;

grant execute on function erase_lines to data_import_operator;

-- Erases what the problems of a batch tell of these lines. The name of an unknown field is what was
-- sent; it stays where other lines have it too.
create function erase_examples(of_batch uuid, erased_lines integer[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare own text[];
begin
  perform from batch_problems
  where batch = of_batch and exists (
    select from jsonb_array_elements(examples) as example
    where (example ->> 'line')::integer = any (erased_lines))
  order by digest for no key update;
  own := array(
    select attr from batch_problems
    where batch = of_batch and code = 'unknown_field' and lines = (
      select count(*) from jsonb_array_elements(examples) as example
      where (example ->> 'line')::integer = any (erased_lines)));
  update batch_problems
  set attr = case when code = 'unknown_field' and attr = any (own)
      then 'non_field_errors' else attr end,
    examples = (
      select jsonb_agg(case when (example ->> 'line')::integer = any (erased_lines)
        then example || '{"externalAccountNumber": null, "detail": null}' else example end
        order by place)
      from jsonb_array_elements(examples) with ordinality as present(example, place))
  where batch = of_batch and exists (
    select from jsonb_array_elements(examples) as example
    where (example ->> 'line')::integer = any (erased_lines));
  update batch_problem_sets
  set problems = (
    select json_agg(case when problem ->> 0 = 'unknown_field' and problem ->> 1 = any (own)
      then json_build_array('unknown_field', 'non_field_errors') else problem end
      order by place)
    from json_array_elements(problems) with ordinality as present(problem, place))
  where batch = of_batch and exists (
    select from json_array_elements(problems) as problem
    where problem ->> 0 = 'unknown_field' and problem ->> 1 = any (own));
end $$;

grant execute on function erase_examples to data_import_operator;

-- Erases the names in paths of problems that only erased customers' lines have, however many lines
-- these are, and whatever is wrong at the path. `keys` are those under which the problems are
-- counted, and `counts` how many lines have them. The digests are replaced as well, because a name
-- can be guessed from its digest.
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
    select json_agg(case when (problem ->> 0) || ' ' || (problem ->> 1) = any (own)
      then json_build_array(problem ->> 0, 'non_field_errors') else problem end
      order by place)
    from json_array_elements(problems) with ordinality as present(problem, place))
  where batch = of_batch and exists (
    select from json_array_elements(problems) as problem
    where (problem ->> 0) || ' ' || (problem ->> 1) = any (own));
end $$;

grant execute on function erase_names to data_import_operator;
