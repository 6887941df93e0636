-- The audit log. A sealer gives entries their positions and leaves each second, and keeps the tree:
-- the write itself inserts a row and nothing else. Positions count from 1 in the order of sealing.
--
-- Account numbers are erasable. A leaf contains the SHA-256 of a random salt and the number instead
-- of the number. Erasing replaces the number by this hash and deletes the salt: the leaf stays
-- valid, and the number cannot be found by trying numbers.
--
-- Can be undone: no, what was done would not be known any more.

create table audit_log (
  id bigint generated always as identity constraint audit_log_pkey primary key,
  at timestamptz not null,
  organisation text collate "C" not null,
  api_key text collate "C" not null,
  request_id text collate "C" not null,
  action text not null
    constraint audit_log_action_known check (action in ('stage', 'process', 'change_import',
      'revert_import', 'create_notes', 'create_transactions', 'create_historical_statements',
      'create_payment_instruction', 'end_payment_instruction', 'create_batch', 'start_batch',
      'pause_batch', 'resume_batch', 'cancel_batch', 'read_account', 'read_accounts',
      'read_batch', 'read_import', 'read_document', 'read_certificate', 'issue_certificate',
      'set_control_totals',
      'create_organisation', 'issue_key', 'revoke_key', 'create_supplier', 'configure_supplier',
      'change_supplier_status', 'create_team', 'add_choice', 'skip_import', 'unskip_import',
      'create_webhook', 'change_webhook', 'erase_import', 'empty_sandbox', 'set_plan', 'decide_wave', 'sign_off',
      'plan_wave', 'start_wave',
      'move_accounts', 'comment', 'invite_supplier', 'revoke_invitation',
      'issue_board_link', 'sign_in', 'prolong_session', 'end_board_sessions', 'set_alerts')),
  outcome text not null,
  import_supplier text collate "C",
  external_account_number text collate "C",
  position bigint,
  salt bytea,
  leaf bytea,
  constraint audit_log_sealed_whole check ((position is null) = (leaf is null))
);

-- Entries without a position come last.
create index audit_log_by_position on audit_log (position, id);

create index audit_log_by_import on audit_log (external_account_number, import_supplier)
where external_account_number is not null;

-- An entry that is inserted with a position is found as one that was not sealed.
grant insert
on audit_log to data_import_account_import, data_import_post_import, data_import_batches,
  data_import_batch_worker;
grant select, insert on audit_log to data_import_query, data_import_board, data_import_operator;

-- The batch worker seals by a function and exports the leaves; it cannot read the entries.
grant select (id, position, leaf) on audit_log to data_import_batch_worker;

-- The Merkle tree of the leaves (RFC 9162): its root, and the hashes of its perfect subtrees, the
-- largest first, from which it grows.
create table audit_head (
  is_only boolean constraint audit_head_pkey primary key default true
    constraint audit_head_once check (is_only),
  size bigint not null default 0,
  root bytea not null default sha256(''),
  frontier bytea not null default ''
);

insert into audit_head default values;

grant select on audit_head to data_import_query, data_import_board, data_import_operator;
grant select, update (size, root, frontier) on audit_head to data_import_batch_worker;

-- The functions of the hashes are not immutable, which extract is not either: only so is one a part
-- of the expression that uses it, and not planned anew for every entry.
create function netstring(value text) returns text language sql immutable
return coalesce(octet_length(value)::text || ':' || value || ',', '-');

create function audit_fields(entry audit_log) returns text language sql stable
return netstring(entry.id::text) || netstring(extract(epoch from entry.at)::text)
  || netstring(entry.organisation) || netstring(entry.api_key) || netstring(entry.request_id)
  || netstring(entry.action) || netstring(entry.outcome) || netstring(entry.import_supplier);

-- No valid number begins with a blank.
create function erased_number(salt bytea, number text) returns text language sql stable
return ' erased:' || encode(sha256(salt || convert_to(number, 'UTF8')), 'hex');

-- A number that was erased before its entry was sealed has no salt.
create function audit_leaf(entry audit_log, salt bytea) returns bytea language sql stable
return sha256('\x00'::bytea || convert_to(audit_fields(entry)
  || netstring(coalesce(erased_number(salt, entry.external_account_number),
    entry.external_account_number)), 'UTF8'));

-- 122 bits are random.
create function seal_audit_log(after bigint, most integer)
returns table (place bigint, hash bytea)
language sql security definer set search_path = public, pg_temp as $$
  with unsealed as materialized (
    select id, external_account_number as number from audit_log
    where position is null order by id limit most for update skip locked
  ), placed as materialized (
    select id, after + row_number() over (order by id) as place,
      case when number not like ' erased:%' then uuid_send(gen_random_uuid()) end as salt
    from unsealed
  )
  update audit_log
  set position = placed.place, salt = placed.salt, leaf = audit_leaf(audit_log, placed.salt)
  from placed where audit_log.id = placed.id
  returning position, leaf
$$;

grant execute on function seal_audit_log to data_import_batch_worker;

-- The number of an import for an entry about it; null once it is erased. The lock is the one that
-- the event of a write takes; it lets an erasure and an entry not pass each other by.
create function number_to_record(of_supplier text, number text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare erased timestamptz;
begin
  select erased_at into erased from import_processes
  where supplier = of_supplier and external_account_number = number
  for key share;
  return case when erased is null then number end;
end $$;

grant execute on function number_to_record to data_import_account_import,
  data_import_post_import, data_import_batches, data_import_batch_worker, data_import_query,
  data_import_board, data_import_operator;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% only grows', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_log_only_grows before delete or truncate on audit_log
for each statement execute function refuse_change();

create trigger audit_head_never_lost before delete or truncate on audit_head
for each statement execute function refuse_change();

-- An entry is sealed once, and its number may be erased. Everything else is refused.
create trigger audit_log_only_sealed before update on audit_log for each row
when ((old.id, old.at, old.organisation, old.api_key, old.request_id, old.action, old.outcome,
    old.import_supplier)
  is distinct from (new.id, new.at, new.organisation, new.api_key, new.request_id, new.action,
    new.outcome, new.import_supplier)
  or case
    when old.external_account_number is not distinct from new.external_account_number
      then old.position is not null
    when old.position is null
      then new.position is not null
        or coalesce(new.external_account_number not like ' erased:%', true)
    else (new.external_account_number, new.salt, new.position, new.leaf) is distinct from
      (erased_number(old.salt, old.external_account_number), null, old.position, old.leaf)
  end)
execute function refuse_change();

-- Which refusals of an API key were recorded in its present window, so that repeated ones are not
-- recorded again. A key has one row, which the next window overwrites: the table does not grow with
-- refusals.
create table refusal_windows (
  organisation text collate "C" not null,
  api_key text collate "C" not null,
  began_at timestamptz not null,
  digests bigint[] not null,
  is_full boolean not null default false,
  constraint refusal_windows_pkey primary key (organisation, api_key)
);

grant select, insert, update (began_at, digests, is_full)
on refusal_windows to data_import_account_import, data_import_post_import, data_import_batches,
  data_import_batch_worker, data_import_board;

-- Erases the number of an import from the log, and gives how many entries had it. Of a supplier
-- that was not recorded, any import may be meant. What an API key was refused is kept as digests,
-- by which a number could be found; those of the keys that named it are emptied, so that a repeated
-- refusal may be recorded once more. They are locked before the entries, as by a refusal.
create function erase_audited_number(supplier text, number text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare erased bigint;
begin
  if number like ' erased:%' then return 0; end if;
  with named as (
    select distinct organisation, api_key from audit_log
    where external_account_number = number
      and (import_supplier = supplier or import_supplier is null)
  ), locked as (
    select organisation, api_key from refusal_windows
    where (organisation, api_key) in (select organisation, api_key from named)
    order by organisation, api_key for no key update
  )
  update refusal_windows as present set digests = '{}' from locked
  where present.organisation = locked.organisation and present.api_key = locked.api_key;
  update audit_log set salt = null, external_account_number = erased_number(
    coalesce(salt, uuid_send(gen_random_uuid())), external_account_number)
  where external_account_number = number
    and (import_supplier = supplier or import_supplier is null);
  get diagnostics erased = row_count;
  return erased;
end $$;

grant execute on function erase_audited_number to data_import_operator;
