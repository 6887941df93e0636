-- Who may send requests, how many, and what was answered: keys, refresh tokens, token buckets and
-- idempotency keys.
--
-- Can be undone: no, every key would be lost.

create table api_keys (
  id text collate "C" constraint api_keys_pkey primary key,
  organisation text collate "C" not null
    constraint api_keys_organisation_exists references organisations,
  label text not null,
  scopes text[] not null
    constraint api_keys_scopes_known
    check (scopes <@ array['import:read', 'import:write', 'import:revert', 'account:read']),
  hash text collate "C" not null constraint api_keys_hash_once unique,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz
);

create index api_keys_by_organisation on api_keys (organisation);

grant select
on api_keys to data_import_account_import, data_import_post_import, data_import_query,
  data_import_batches, data_import_batch_worker, data_import_events, data_import_auth;
grant select (id, expires_at, revoked_at) on api_keys to data_import_board;
grant select, insert, update (revoked_at) on api_keys to data_import_operator;

create table refresh_token_families (
  family text collate "C" constraint refresh_token_families_pkey primary key,
  api_key text collate "C" not null
    constraint refresh_token_families_api_key_exists references api_keys,
  revoked_at timestamptz
);

grant select, insert, delete, update (revoked_at) on refresh_token_families to data_import_auth;

create table refresh_tokens (
  hash text collate "C" constraint refresh_tokens_pkey primary key,
  family text collate "C" not null
    constraint refresh_tokens_family_exists references refresh_token_families,
  expires_at timestamptz not null,
  used_at timestamptz
);

create index refresh_tokens_by_expiry on refresh_tokens (expires_at);

create index refresh_tokens_by_family on refresh_tokens (family);

grant select, insert, delete, update (used_at) on refresh_tokens to data_import_auth;

create table failed_token_attempts (
  id bigint generated always as identity constraint failed_token_attempts_pkey primary key,
  client_address text collate "C" not null,
  at timestamptz not null
);

create index failed_token_attempts_by_address on failed_token_attempts (client_address, at);

create index failed_token_attempts_by_time on failed_token_attempts (at);

-- To lock a row takes the right to update something of it; an identity takes no other value.
grant select, insert, delete, update (id) on failed_token_attempts to data_import_auth;

-- Token buckets. A crash may empty them: every organisation then has its whole allowance again.
create unlogged table allowances (
  organisation text collate "C"
    constraint allowances_pkey primary key
    constraint allowances_organisation_exists references organisations,
  requests double precision
    constraint allowances_requests_not_negative check (requests >= 0),
  at timestamptz,
  constraint allowances_whole check ((requests is null) = (at is null))
);

grant select, insert, update (requests, at)
on allowances to data_import_account_import, data_import_post_import, data_import_query,
  data_import_batches, data_import_events;

-- The reservation of a key, then the answer that is kept under it for a day, with the import that
-- it is about, and with the account if a revert of that deletes it. An answer may repeat what the
-- client sent. No reference to the organisation: every key of one would lock the same row. An
-- answer about an account that was reverted is deleted, and its key remembers why.
create table idempotency_keys (
  organisation text collate "C" not null,
  key text collate "C" not null
    constraint idempotency_keys_key_length check (length(key) between 1 and 255),
  fingerprint text collate "C" not null,
  token text collate "C" not null,
  expires_at timestamptz not null,
  answer text,
  import_id bigint,
  account_id bigint,
  is_reverted boolean not null default false,
  has_large_answer boolean generated always as (octet_length(answer) > 16384) stored,
  constraint idempotency_keys_pkey primary key (organisation, key)
);

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- By which the answers about an import are erased.
create index idempotency_keys_by_import on idempotency_keys (import_id)
where import_id is not null;

-- Large answers count in what an organisation stores; a small one is not larger than what any
-- request leaves.
create index idempotency_keys_large on idempotency_keys (organisation)
where has_large_answer;

grant select, insert, delete,
  update (fingerprint, token, expires_at, answer, import_id, account_id, is_reverted)
on idempotency_keys to data_import_account_import, data_import_post_import, data_import_batches,
  data_import_batch_worker;

create function kept_answer_bytes(of_organisation text) returns bigint
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(octet_length(answer)), 0)::bigint from idempotency_keys
  where organisation = of_organisation and has_large_answer
$$;

grant execute on function kept_answer_bytes to data_import_batches, data_import_board,
  data_import_operator;
