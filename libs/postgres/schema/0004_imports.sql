-- Imports with their staged text, and their attempts.
--
-- Can be undone: no, every import would be lost.

-- The state of an import is in its columns: at most one of skipped, lease and account is set, and
-- without any of them it is pending, or failed if its latest staging did. An erased import keeps
-- its number, and counts as skipped, so that it can neither be taken in again nor added to; the id
-- of its account stays, without which nothing that was kept of it could be found. Type
-- json keeps the staged text to the letter. A low tuple target moves it out of the row, so that a
-- lease or a list never touches it; the free space keeps those updates within the page. Size and
-- hash of the payload are read instead of it, and the hash stays when the payload of an account is
-- deleted. The latest account may have been reverted; the import is then pending again.
-- `failed_staging` counts `stagings`: it is 0 if something was staged since one failed.
create table import_processes (
  id bigint generated always as identity constraint import_processes_pkey primary key,
  supplier text collate "C" not null
    constraint import_processes_supplier_exists references suppliers,
  external_account_number text collate "C" not null
    constraint import_processes_external_account_number_length
    check (char_length(external_account_number) between 1 and 128),
  payload json,
  staged_at timestamptz not null,
  stagings integer not null default 1,
  skipped boolean not null default false,
  lease_attempt text collate "C",
  lease_expires_at timestamptz,
  lease_dry_run boolean not null default false,
  account_id bigint,
  account_number text collate "C",
  account_created_at timestamptz,
  payload_bytes integer,
  cohort text,
  payload_hash bytea,
  failed_staging integer,
  erased_at timestamptz,
  reverted_at timestamptz,
  constraint import_processes_pair_once unique (supplier, external_account_number),
  constraint import_processes_lease_whole
    check ((lease_attempt is null) = (lease_expires_at is null)
      and (lease_attempt is not null or not lease_dry_run)),
  constraint import_processes_account_whole
    check ((account_number is null) = (account_created_at is null)
      and (account_number is null or account_id is not null)),
  constraint import_processes_one_state
    check (num_nonnulls(nullif(skipped, false), lease_attempt, account_number) < 2),
  constraint import_processes_payload_needed
    check (payload is not null or account_number is not null or erased_at is not null),
  constraint import_processes_erased_for_good check (erased_at is null or skipped)
) with (toast_tuple_target = 128, fillfactor = 80);

-- A server may be built without it, as the embedded one is.
do $$
begin
  if exists (select from pg_settings
    where name = 'default_toast_compression' and 'lz4' = any (enumvals))
  then
    alter table import_processes alter payload set compression lz4;
  end if;
end $$;

create index import_processes_pending on import_processes (supplier, external_account_number)
where account_number is null and not skipped;

create index import_processes_imported on import_processes (supplier, external_account_number)
where account_number is not null;

create index import_processes_failed on import_processes (supplier, external_account_number)
where failed_staging is not null;

create index import_processes_erased on import_processes (supplier, external_account_number)
where erased_at is not null;

-- Waiting imports in the order of their first staging. An index on the time of the last staging
-- would get another entry with each staging.
create index import_processes_oldest on import_processes (supplier, id)
where account_number is null and not skipped and coalesce(failed_staging, 0) = 0;

create index import_processes_oldest_of_cohort on import_processes (supplier, cohort, id)
where cohort is not null and account_number is null and not skipped
  and coalesce(failed_staging, 0) = 0;

-- The payloads that are to be deleted at some time.
create index import_processes_with_payload on import_processes (account_created_at)
where account_number is not null and payload is not null;

-- Only account-import and the batch worker, which process it, and the board, which masks it, read
-- what was staged.
grant select, insert, update (payload, staged_at, stagings, lease_attempt, lease_expires_at,
  lease_dry_run, account_id, account_number, account_created_at, payload_bytes, cohort,
  payload_hash, failed_staging)
on import_processes to data_import_account_import, data_import_batch_worker;
grant select (id, supplier, external_account_number, skipped, lease_attempt, lease_expires_at,
  lease_dry_run, account_id, account_number, account_created_at, erased_at, reverted_at)
on import_processes to data_import_post_import;
grant select (id, supplier, external_account_number, staged_at, stagings, skipped, lease_attempt,
  lease_expires_at, lease_dry_run, account_id, account_number, account_created_at, cohort,
  payload_hash, failed_staging, erased_at, reverted_at)
on import_processes to data_import_query;
grant select (id, supplier, external_account_number, staged_at, skipped, lease_attempt,
  lease_expires_at, lease_dry_run, account_number, account_created_at, cohort, stagings,
  failed_staging, erased_at, reverted_at)
on import_processes to data_import_batches;
grant select (id, supplier, external_account_number) on import_processes to data_import_events;
grant select, update (cohort) on import_processes to data_import_board;
grant select (id, supplier, external_account_number, staged_at, stagings, skipped, lease_attempt,
  lease_expires_at, lease_dry_run, account_id, account_number, account_created_at, cohort,
  payload_hash, failed_staging, erased_at, reverted_at),
  update (skipped, lease_attempt, lease_expires_at, lease_dry_run, failed_staging)
on import_processes to data_import_operator;

-- What it judged, and by what: the business day, the version of the rules, and a digest of the
-- configuration.
create table import_attempts (
  sequence bigint generated always as identity,
  import_id bigint not null
    constraint import_attempts_import_exists references import_processes,
  id text collate "C" not null,
  dry_run boolean not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  outcome text,
  errors jsonb not null default '[]',
  payload_hash bytea,
  judged_by text collate "C",
  constraint import_attempts_pkey primary key (import_id, id),
  constraint import_attempts_end_whole check ((ended_at is null) = (outcome is null)),
  constraint import_attempts_errors_list check (jsonb_typeof(errors) = 'array')
);

create index import_attempts_running on import_attempts (import_id) where ended_at is null;

grant select, insert, update (ended_at, outcome, errors)
on import_attempts to data_import_account_import, data_import_batch_worker;
grant select on import_attempts to data_import_query, data_import_batches, data_import_board;
grant select, update (ended_at, outcome) on import_attempts to data_import_operator;
