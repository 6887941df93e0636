-- The audit log as hash chains. A chain has the entries of one organisation about one import, each
-- with the SHA-256 of its content and of the hash before it. The head of a chain has its length and
-- last hash, so that entries missing at the end are detected too. Requests that name no import have
-- chains of their own. Writes to different imports never wait for each other.
--
-- Account numbers are erasable. The hashes contain an HMAC of the number instead of the number,
-- with a random salt of the chain as its key. Erasing replaces the number by its HMAC and deletes
-- the salt: the hashes stay valid, and the number cannot be found by trying numbers.
--
-- Can be undone: no, what was done would not be known any more.

-- No foreign key to the chain: the trigger alone writes it, and has the head's row locked already.
create table audit_log (
  id bigint generated always as identity constraint audit_log_pkey primary key,
  at timestamptz not null,
  organisation text collate "C" not null,
  api_key text collate "C" not null,
  request_id text collate "C" not null,
  action text not null
    constraint audit_log_action_known check (action in ('stage', 'process', 'change_import',
      'create_notes', 'create_transactions', 'create_historical_statements',
      'create_payment_instruction', 'end_payment_instruction', 'create_batch', 'start_batch',
      'pause_batch', 'resume_batch', 'cancel_batch', 'read_account', 'read_accounts',
      'read_batch', 'read_import', 'read_document', 'create_organisation', 'issue_key',
      'revoke_key', 'create_supplier', 'configure_supplier', 'change_supplier_status',
      'create_team', 'add_choice', 'skip_import', 'unskip_import', 'create_webhook',
      'change_webhook', 'erase_import', 'empty_sandbox', 'set_plan', 'sign_off',
      'issue_board_link', 'sign_in', 'end_board_sessions')),
  outcome text not null,
  import_supplier text collate "C",
  external_account_number text collate "C",
  chain bigint not null,
  position bigint not null,
  hash bytea not null,
  constraint audit_log_position_once unique (chain, position)
);

grant insert
on audit_log to data_import_account_import, data_import_post_import, data_import_batches,
  data_import_batch_worker;
grant select, insert on audit_log to data_import_query, data_import_board, data_import_operator;

-- The free space keeps the moves of a head within its page.
create table audit_chains (
  id bigint generated always as identity constraint audit_chains_pkey primary key,
  organisation text collate "C" not null,
  import_supplier text collate "C",
  external_account_number text collate "C",
  length bigint not null,
  head bytea not null,
  salt bytea,
  hmac bytea,
  constraint audit_chains_once
    unique nulls not distinct (import_supplier, external_account_number, organisation)
) with (fillfactor = 70);

-- The batch worker exports the heads, and cannot read what a chain is about.
grant select on audit_chains to data_import_query, data_import_board, data_import_operator;
grant select (id, length, head) on audit_chains to data_import_batch_worker;

-- The functions of the hashes are not immutable, which extract is not either: only so is one a part
-- of the expression that uses it, and not planned anew for every entry.
create function netstring(value text) returns text language sql immutable
return coalesce(octet_length(value)::text || ':' || value || ',', '-');

create function audit_fields(entry audit_log) returns text language sql stable
return netstring(entry.id::text) || netstring(extract(epoch from entry.at)::text)
  || netstring(entry.organisation) || netstring(entry.api_key) || netstring(entry.request_id)
  || netstring(entry.action) || netstring(entry.outcome) || netstring(entry.import_supplier);

create function audit_hash(previous bytea, place bigint, content text) returns bytea
language sql stable
return sha256(convert_to(
  netstring(encode(previous, 'hex')) || netstring(place::text) || content, 'UTF8'));

-- 32 bytes, of which 244 bits are random.
create function random_salt() returns bytea language sql volatile
return uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());

-- HMAC-SHA256 (RFC 2104) with a key of 32 bytes. SQL has no exclusive or of bytes, but of bits.
-- `bit_send` puts their number before them.
create function audit_hmac(salt bytea, number text) returns bytea language sql stable
return sha256(
  substr(bit_send(('x' || encode(salt, 'hex'))::bit(256) #
    X'5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c'), 5)
  || '\x5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c'::bytea
  || sha256(
    substr(bit_send(('x' || encode(salt, 'hex'))::bit(256) #
      X'3636363636363636363636363636363636363636363636363636363636363636'), 5)
    || '\x3636363636363636363636363636363636363636363636363636363636363636'::bytea
    || convert_to(number, 'UTF8')));

-- No valid number begins with a blank.
create function erased_number(hmac bytea) returns text language sql stable
return ' erased:' || encode(hmac, 'hex');

-- No entry that is written after the erasure has the number. The lock is the one that the event of
-- the same write takes; it lets an erasure and an entry not pass each other by.
create function withhold_erased_number() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare erased timestamptz;
begin
  select erased_at into erased from import_processes
  where supplier = new.import_supplier
    and external_account_number = new.external_account_number
  for key share;
  if erased is not null then new.external_account_number := null; end if;
  return new;
end $$;

-- Of several triggers, the one whose name comes first runs first: before the entry is chained.
create trigger audit_log_anonymous before insert on audit_log
for each row when (new.external_account_number is not null)
execute function withhold_erased_number();

-- The lock of the head's row is held until the transaction ends, so that no chain forks. It is the
-- last lock that a write takes, and several at once are taken in the order of the imports, which
-- are locked before; so nobody waits in a circle. One statement, although the salt is only used for
-- the first entry of a chain: to look for the chain first was measured to cost more.
create function chain_audit_entry() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  fields text := audit_fields(new);
  number text := new.external_account_number;
  drawn bytea := case when number is not null then random_salt() end;
  keyed bytea := audit_hmac(drawn, number);
begin
  insert into audit_chains as chain
    (organisation, import_supplier, external_account_number, length, head, salt, hmac)
  values (new.organisation, new.import_supplier, number, 1,
    audit_hash(null, 1, fields || netstring(erased_number(keyed))), drawn, keyed)
  on conflict on constraint audit_chains_once do update
  set length = chain.length + 1, head = audit_hash(chain.head, chain.length + 1,
    fields || netstring(erased_number(chain.hmac)))
  returning id, length, head into new.chain, new.position, new.hash;
  return new;
end $$;

create trigger audit_log_chained before insert on audit_log
for each row execute function chain_audit_entry();

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% only grows', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_log_only_grows before delete or truncate on audit_log
for each statement execute function refuse_change();

create trigger audit_chains_never_lost before delete or truncate on audit_chains
for each statement execute function refuse_change();

-- Besides growing, the number of a chain may be erased. Everything else is refused.
create function check_chain_change() returns trigger language plpgsql as $$
declare allowed audit_chains;
begin
  if old.hmac is not null and new.hmac is null then
    allowed := old;
    allowed.external_account_number := erased_number(old.hmac);
    allowed.salt := null;
    allowed.hmac := null;
  end if;
  if new is distinct from allowed then
    raise exception '% only grows', tg_table_name using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create trigger audit_chains_only_grow before update on audit_chains for each row
when ((old.id, old.organisation, old.import_supplier, old.external_account_number,
  old.length + 1, old.salt, old.hmac)
  is distinct from (new.id, new.organisation, new.import_supplier, new.external_account_number,
  new.length, new.salt, new.hmac))
execute function check_chain_change();

-- An entry takes the number of its chain once that is erased.
create function check_entry_change() returns trigger language plpgsql as $$
declare chain audit_chains; allowed audit_log;
begin
  select * into chain from audit_chains where id = old.chain;
  if chain.external_account_number like ' erased:%' then
    allowed := old;
    allowed.external_account_number := chain.external_account_number;
  end if;
  if new is distinct from allowed then
    raise exception '% only grows', tg_table_name using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create trigger audit_log_only_erased before update on audit_log
for each row execute function check_entry_change();

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
-- refusal may be recorded once more. They are locked before the chains, as by a refusal.
create function erase_audited_number(supplier text, number text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare found bigint[]; erased bigint;
begin
  if number like ' erased:%' then return 0; end if;
  found := array(
    select id from audit_chains
    where external_account_number = number
      and (import_supplier = supplier or import_supplier is null)
    order by id);
  perform from refusal_windows
  where (organisation, api_key) in (
    select organisation, api_key from audit_log where chain = any(found))
  order by organisation, api_key for no key update;
  perform from audit_chains where id = any(found) order by id for update;
  update refusal_windows set digests = '{}'
  where (organisation, api_key) in (
    select organisation, api_key from audit_log where chain = any(found));
  update audit_chains
  set external_account_number = erased_number(hmac), salt = null, hmac = null
  where id = any(found);
  update audit_log set external_account_number = audit_chains.external_account_number
  from audit_chains
  where audit_chains.id = any(found) and chain = audit_chains.id
    and audit_log.external_account_number = number;
  get diagnostics erased = row_count;
  return erased;
end $$;

grant execute on function erase_audited_number to data_import_operator;
