/**
 * Lets the operator erase a customer. An erased import keeps its number, and is skipped for
 * releases that know no other state; they cannot take it in again, nor add to its account. Each
 * kept answer knows the import that it is about. What is erased is deleted by functions, so that
 * the operator's user needs no right to change accounts and lines otherwise.
 *
 * Can be undone: no, what was erased is gone.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whoever may call a function needs no rights on what it does. */
const definer = "security definer set search_path = public, pg_temp"

export const erasure = Effect.gen(function* () {
  yield* columns
  yield* numberInLog
  yield* countsOfStates
  yield* erasingImport
  yield* erasingLines
})

/** The constraints that are added are not checked for the rows that are there. */
const columns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table import_processes add column erased_at timestamptz`
  yield* sql`
    alter table import_processes
      drop constraint import_processes_payload_needed,
      add constraint import_processes_payload_needed
        check (payload is not null or account_number is not null or erased_at is not null)
        not valid,
      add constraint import_processes_erased_for_good
        check (erased_at is null or skipped) not valid`
  yield* sql`
    grant select (erased_at) on import_processes
    to data_import_post_import, data_import_query, data_import_operator`
  yield* sql`alter table accounts add column erased_at timestamptz`
  yield* sql`
    create function refuse_erased_account() returns trigger language plpgsql as $$
    begin
      raise exception 'account % was erased', old.id using errcode = 'restrict_violation';
    end $$`
  yield* sql`
    create trigger accounts_erased_for_good before update on accounts
    for each row when (old.erased_at is not null) execute function refuse_erased_account()`
  yield* sql`alter table idempotency_keys add column import_id bigint`
  yield* sql`
    grant update (import_id) on idempotency_keys
    to data_import_account_import, data_import_post_import, data_import_batches,
      data_import_batch_worker`
})

/**
 * No entry that is written after the erasure has the number, whichever release writes it. The lock
 * is the one that the event of the same write takes; it lets an erasure and an entry not pass each
 * other by.
 */
const numberInLog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function withhold_erased_number() returns trigger language plpgsql ${definer} as $$
    declare erased timestamptz;
    begin
      select erased_at into erased from import_processes
      where supplier = new.import_supplier
        and external_account_number = new.external_account_number
      for key share;
      if erased is not null then new.external_account_number := null; end if;
      return new;
    end $$`)
  // Of several triggers, the one whose name comes first runs first: before the entry is chained.
  yield* sql`
    create trigger audit_log_anonymous before insert on audit_log
    for each row when (new.external_account_number is not null)
    execute function withhold_erased_number()`
  yield* sql`alter table audit_log drop constraint audit_log_action_known`
  yield* sql`
    alter table audit_log add constraint audit_log_action_known check (action in ('stage',
      'process', 'change_import', 'create_notes', 'create_transactions',
      'create_historical_statements', 'create_payment_instruction', 'end_payment_instruction',
      'create_batch', 'start_batch', 'pause_batch', 'resume_batch', 'cancel_batch', 'read_account',
      'read_accounts', 'read_batch', 'read_import', 'create_organisation', 'issue_key',
      'revoke_key', 'create_supplier', 'configure_supplier', 'change_supplier_status',
      'create_team', 'add_choice', 'skip_import', 'unskip_import', 'create_webhook',
      'change_webhook', 'erase_import')) not valid`
})

/** The rules of the domain, but for leases, which depend on the clock. */
const stateOf = (row: string): string => `
  case when ${row}.erased_at is not null then 'ERASED'
    when ${row}.account_number is not null then 'IMPORTED'
    when ${row}.skipped then 'SKIPPED'
    when ${row}.failed_staging = ${row}.stagings then 'FAILED'
    else 'PENDING'
  end`

/** As they were, with one state more. The account of an erased import is counted as before. */
const countsOfStates = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create or replace function count_new_imports() returns trigger language plpgsql ${definer} as $$
    begin
      insert into import_differences (supplier, cohort, kind, name, count)
      select supplier, cohort, 'state', ${stateOf("added")}, count(*) from added group by 1, 2, 4;
      perform count_account(id, account_created_at, supplier, cohort) from added
      where account_number is not null;
      return null;
    end $$`)
  yield* sql.unsafe(`
    create or replace function count_changed_import() returns trigger
    language plpgsql ${definer} as $$
    declare
      before text := ${stateOf("old")};
      now text := ${stateOf("new")};
      codes text[];
    begin
      if before <> now or old.cohort is distinct from new.cohort then
        insert into import_differences (supplier, cohort, kind, name, count)
        values (old.supplier, old.cohort, 'state', before, -1),
          (new.supplier, new.cohort, 'state', now, 1);
      end if;
      if before = 'FAILED' then codes := uncount_codes(new.id); end if;
      if now = 'FAILED' then
        if before <> 'FAILED' or old.lease_attempt is not null and new.lease_attempt is null then
          codes := latest_codes(new.id);
        end if;
        perform count_codes(new.id, new.supplier, new.cohort, codes);
      end if;
      if now = 'IMPORTED' and before <> 'IMPORTED' then
        perform count_account(new.id, new.account_created_at, new.supplier, new.cohort);
      end if;
      return null;
    end $$`)
  yield* sql`drop trigger import_processes_count_changed on import_processes`
  yield* sql.unsafe(`
    create trigger import_processes_count_changed after update on import_processes
    for each row when (
      old.skipped <> new.skipped
      or old.account_number is distinct from new.account_number
      or old.erased_at is distinct from new.erased_at
      or old.cohort is distinct from new.cohort
      or (old.failed_staging = old.stagings) is distinct from (new.failed_staging = new.stagings)
      or new.failed_staging = new.stagings
        and old.lease_attempt is not null and new.lease_attempt is null)
    execute function count_changed_import()`)
})

/** The documents that the import and its account name, and the instructions that are not ended. */
const whatIsOutside = `json_build_object(
  'documents', coalesce((
    select json_agg(path order by path collate "C") from (
      select distinct regexp_replace(named, '^/', '') as path from (
        select document_path as named from note_documents where account_id = import
        union all
        select statement_path from statements where account_id = import
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
    from payment_instructions where account_id = import and ended_at is null), '[]'))`

/**
 * Erases an import, which the caller has locked, with its account. Returns what is outside of the
 * database. An id of the supplier may repeat the number of the account. The lines of a bill keep
 * what their amounts are computed from. What was refused is kept as digests, by which a number
 * could be found; a repeated refusal may be recorded once more.
 */
const erasingImport = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function erase_import(import bigint, instant timestamptz) returns json
    language plpgsql ${definer} as $$
    declare outside json;
    begin
      perform from accounts where id = import for update nowait;
      outside := ${whatIsOutside};
      delete from outbox where import_id = import;
      update import_attempts set errors = (
        select coalesce(jsonb_agg(jsonb_build_object('code', error ->> 'code',
          'attr', 'non_field_errors') order by place), '[]')
        from jsonb_array_elements(errors) with ordinality as each(error, place))
      where import_id = import and errors <> '[]';
      update import_attempts set ended_at = instant, outcome = 'lease_expired'
      where import_id = import and ended_at is null;
      delete from payment_instructions where account_id = import;
      delete from note_documents where account_id = import;
      delete from notes where account_id = import;
      delete from customers where account_id = import;
      delete from account_metadata where account_id = import;
      delete from billing_addresses where account_id = import;
      delete from billing_options where account_id = import;
      delete from supply_addresses where account_id = import;
      update transactions set transaction_id = 'erased-' || gen_random_uuid(), occurrence = 1,
        reason = null, display_note = null, note = null, reference = null, payment_type = null,
        product_code = null
      where account_id = import;
      update transaction_line_items set rate_band = null, reading_at_start = null,
        reading_at_end = null
      where account_id = import;
      update statements set statement_id = 'erased-' || gen_random_uuid(), number = null,
        statement_path = null, document_size = null, document_etag = null, document_checksum = null
      where account_id = import;
      update accounts set billing_email = null, billing_name = null, billing_sub_name = null,
        billing_customer_reference = null, date_of_sale = null, sales_subchannel = null,
        document_accessibility = null, operations_team_name = null, omitted = null,
        payload_notes = null, erased_at = instant
      where id = import;
      update import_processes set payload = null, payload_bytes = null, payload_hash = null,
        skipped = true, lease_attempt = null, lease_expires_at = null, failed_staging = null,
        account_number = null, account_created_at = null, erased_at = instant
      where id = import;
      return outside;
    end $$`)
  yield* sql`grant execute on function erase_import to data_import_operator`
  yield* sql.unsafe(`
    create function erase_answers(import bigint) returns void language sql ${definer} as $$
      delete from idempotency_keys where import_id = $1
    $$`)
  yield* sql`grant execute on function erase_answers to data_import_operator`
  yield* sql.unsafe(`
    create function erase_refusals(of_organisation text) returns void language sql ${definer} as $$
      with recorded as (
        select organisation, api_key from refusal_windows where organisation = $1
        order by api_key for no key update
      )
      update refusal_windows as present set digests = '{}', is_full = false from recorded
      where present.organisation = recorded.organisation and present.api_key = recorded.api_key
        and digests <> '{}'
    $$`)
  yield* sql`grant execute on function erase_refusals to data_import_operator`
})

/**
 * Erases lines of a chunk, which the caller has locked: those at these places get these results.
 * The keys under which they ran are deleted.
 */
const erasingLines = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function erase_lines(of_batch uuid, first integer, places integer[],
      erased_results text[], keys text[])
    returns void language plpgsql ${definer} as $$
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
    end $$`)
  yield* sql`grant execute on function erase_lines to data_import_operator`
  yield* erasingProblems
})

/**
 * Erases what the problems of a batch tell of these lines. The name of an unknown field is what was
 * sent; it stays where other lines have it too.
 */
const erasingProblems = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isErased = "(example ->> 'line')::integer = any (erased_lines)"
  const isOwn = (code: string, attr: string) => `${code} = 'unknown_field' and ${attr} = any (own)`
  yield* sql.unsafe(`
    create function erase_examples(of_batch uuid, erased_lines integer[]) returns void
    language plpgsql ${definer} as $$
    declare own text[];
    begin
      perform from batch_problems
      where batch = of_batch and exists (
        select from jsonb_array_elements(examples) as example where ${isErased})
      order by digest for no key update;
      own := array(
        select attr from batch_problems
        where batch = of_batch and code = 'unknown_field' and lines = (
          select count(*) from jsonb_array_elements(examples) as example where ${isErased}));
      update batch_problems
      set attr = case when ${isOwn("code", "attr")} then 'non_field_errors' else attr end,
        examples = (
          select jsonb_agg(case when ${isErased}
            then example || '{"externalAccountNumber": null, "detail": null}' else example end
            order by place)
          from jsonb_array_elements(examples) with ordinality as present(example, place))
      where batch = of_batch and exists (
        select from jsonb_array_elements(examples) as example where ${isErased});
      update batch_problem_sets
      set problems = (
        select json_agg(case when ${isOwn("problem ->> 0", "problem ->> 1")}
          then json_build_array('unknown_field', 'non_field_errors') else problem end
          order by place)
        from json_array_elements(problems) with ordinality as present(problem, place))
      where batch = of_batch and exists (
        select from json_array_elements(problems) as problem
        where ${isOwn("problem ->> 0", "problem ->> 1")});
    end $$`)
  yield* sql`grant execute on function erase_examples to data_import_operator`
})
