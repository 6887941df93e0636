-- Events, webhooks, their secrets, and the events that could not be delivered yet.
--
-- Can be undone: no, clients hold positions that would be given anew.

create table webhooks (
  id uuid constraint webhooks_pkey primary key,
  number bigint generated always as identity constraint webhooks_number_once unique,
  organisation text not null constraint webhooks_organisation_exists references organisations,
  url text not null,
  suppliers text[],
  names text[],
  allows_private boolean not null,
  created_at timestamptz not null,
  cursor bigint not null,
  replay_next bigint,
  replay_to bigint,
  failures integer not null default 0,
  due_at timestamptz not null,
  disabled_by text,
  last_error text,
  last_success_at timestamptz,
  lease uuid,
  leased_until timestamptz,
  is_slow boolean not null default false,
  constraint webhooks_replay_whole check ((replay_next is null) = (replay_to is null)),
  constraint webhooks_lease_whole check ((lease is null) = (leased_until is null)),
  constraint webhooks_disabled_known
    check (disabled_by in ('OPERATOR', 'FAILURES', 'GONE'))
);

grant select, update (cursor, replay_next, replay_to, failures, due_at, disabled_by, last_error,
  last_success_at, lease, leased_until, is_slow)
on webhooks to data_import_events;
grant select, insert, update (replay_next, replay_to, failures, due_at, disabled_by)
on webhooks to data_import_operator;

create table webhook_secrets (
  webhook uuid not null constraint webhook_secrets_webhook_exists references webhooks,
  number bigint generated always as identity,
  secret text not null,
  expires_at timestamptz,
  constraint webhook_secrets_pkey primary key (webhook, number)
);

-- The operator's user can add secrets and not read them.
grant select, delete on webhook_secrets to data_import_events;
grant select (webhook, number, expires_at), insert, update (expires_at)
on webhook_secrets to data_import_operator;

create table webhook_retries (
  webhook uuid not null constraint webhook_retries_webhook_exists references webhooks,
  position bigint not null,
  attempts integer not null,
  due_at timestamptz not null,
  constraint webhook_retries_pkey primary key (webhook, position)
);

grant select, insert, delete, update (attempts, due_at) on webhook_retries to data_import_events;
grant select, update (attempts, due_at) on webhook_retries to data_import_operator;

-- An event is of an import, a batch or a webhook. It gets its position in its organisation after it
-- was committed, so that positions are given under one lock for each organisation. That of an
-- import keeps the account and the cohort that it had, because both may change.
create table outbox (
  id bigint generated always as identity constraint outbox_pkey primary key,
  at timestamptz not null,
  name text not null
    constraint outbox_name_form check (name ~ '^data_import[.][a-z_.]+-v[0-9]+$'),
  import_id bigint constraint outbox_import_exists references import_processes,
  account_number text collate "C",
  cohort text,
  codes text[] not null default '{}',
  batch uuid constraint outbox_batch_exists references batches,
  event_id uuid,
  organisation text not null,
  import_supplier text,
  position bigint,
  webhook uuid constraint outbox_webhook_exists references webhooks
);

create index outbox_by_import on outbox (import_id);

create index outbox_by_batch on outbox (batch) where batch is not null;

-- It contains only rows that wait for their positions, so it stays small.
create index outbox_by_organisation on outbox (organisation, id) where position is null;

create index outbox_by_position on outbox (organisation, position) where position is not null;

grant insert
on outbox to data_import_account_import, data_import_post_import, data_import_batches,
  data_import_batch_worker, data_import_board;
grant select (id, at, position) on outbox to data_import_query;
grant select, insert, delete, update (event_id, organisation, import_supplier, position)
on outbox to data_import_events;
grant select (id, at, event_id, organisation, position), insert on outbox to data_import_operator;

-- Whoever stores an event needs no rights on what its owner is found by. The event of a webhook is
-- stored with its organisation.
create function name_event_owner() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.import_id is not null then
    select supplier, import_processes.cohort, coalesce(new.account_number, account_number)
    into new.import_supplier, new.cohort, new.account_number
    from import_processes where id = new.import_id;
  else
    select supplier, batches.cohort into new.import_supplier, new.cohort
    from batches where id = new.batch;
  end if;
  select owner.organisation into new.organisation
  from suppliers as owner where code = new.import_supplier;
  return new;
end $$;

create trigger outbox_owner before insert on outbox for each row
when (new.organisation is null) execute function name_event_owner();

-- The positions that every organisation has reached.
create table event_heads (
  organisation text constraint event_heads_pkey primary key
    constraint event_heads_organisation_exists references organisations,
  position bigint not null,
  pruned_through bigint not null default 0,
  constraint event_heads_pruned_within check (pruned_through between 0 and position)
);

grant select, insert, update (position, pruned_through) on event_heads to data_import_events;
grant select (organisation, position) on event_heads to data_import_operator;
