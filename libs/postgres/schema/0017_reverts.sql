-- The revert of an account, by functions, so that services need no right to change accounts
-- otherwise.
--
-- Can be undone: yes, by dropping the functions; accounts that were reverted stay so.

-- What decides whether an account is reverted: null if the import never had an account of this
-- number. The caller has locked the import; the account is locked until the transaction ends, so
-- that nothing is added to it meanwhile.
create function account_to_revert(import bigint, named text) returns json
language plpgsql security definer set search_path = public, pg_temp as $$
declare held record;
begin
  select id, created_at, reverted_at, payload, payload_notes into held
  from accounts where import_id = import and number = named for no key update nowait;
  if not found then return null; end if;
  return json_build_object(
    'createdAt', floor(extract(epoch from held.created_at) * 1000)::float8,
    'isReverted', held.reverted_at is not null,
    'additions', json_build_object(
      'transactions', (select count(*) from transactions
        where account_id = held.id and origin = 'post_import'),
      'notes', (select count(*) from notes where account_id = held.id) - held.payload_notes,
      'statements', (select count(*) from statements
        where account_id = held.id and origin = 'historical_statements'),
      'payment_instructions', (select count(*) from payment_instructions
        where account_id = held.id)),
    'hasPayload', (
      select coalesce(
        payload is not null or payload_hash = sha256(convert_to(held.payload::text, 'UTF8')), false)
      from import_processes where id = import),
    'active', (select json_build_object('vendor', vendor, 'reference', reference, 'type', type)
      from payment_instructions where account_id = held.id and ended_at is null));
end $$;

grant execute on function account_to_revert to data_import_account_import,
  data_import_batch_worker, data_import_operator;

-- Reverts the account of an import, which gets the payload of the account again if its own was
-- deleted. The kept answers about the account are deleted; until `kept_until` their keys say why.
create function revert_account(import bigint, instant timestamptz, by_whom text, why text,
  kept_until timestamptz)
returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  present bigint;
  hash bytea;
begin
  select account_id, payload_hash into present, hash from import_processes where id = import;
  update payment_instructions set ended_at = greatest(created_at, instant)
  where account_id = present and ended_at is null;
  update import_processes set account_id = null, account_number = null, account_created_at = null,
    reverted_at = instant, payload = coalesce(import_processes.payload, accounts.payload),
    payload_bytes = coalesce(import_processes.payload_bytes, accounts.payload_bytes)
  from accounts where import_processes.id = import and accounts.id = present;
  update accounts set reverted_at = instant, reverted_by = by_whom, revert_reason = why,
    payload_hash = hash
  where id = present;
  update idempotency_keys set token = '', answer = null, is_reverted = true,
    expires_at = kept_until
  where import_id = import and account_id = present and answer is not null;
end $$;

grant execute on function revert_account to data_import_account_import, data_import_batch_worker,
  data_import_operator;
