-- Certificates: what was migrated for an import supplier, as Merkle trees of its accounts. The
-- batch worker issues them.
--
-- Can be undone: yes, by dropping what is made here; certificates that were issued stay valid.

-- The entry of the account in the tree, without its payload hash, and its sums. An import writes
-- them; whatever changes the account clears them, and the batch worker computes them anew, with the
-- hash of what is stored then: an account that was altered by hand does not pass for what was
-- imported.
alter table accounts add entry text, add entry_sums text, add entry_hash bytea;

create index accounts_without_entry on accounts (id)
where entry is null and erased_at is null and reverted_at is null;

grant select (entry, entry_sums, entry_hash), update (entry, entry_sums, entry_hash)
on accounts to data_import_batch_worker;

-- To fill in an entry is no change of the account.
create or replace function count_account_revision() returns trigger language plpgsql as $$
begin
  if old.entry is null and new.entry is not null then return new; end if;
  new.revision := old.revision + 1;
  new.entry := null;
  new.entry_sums := null;
  new.entry_hash := null;
  return new;
end $$;

-- Also what is changed by hand is in the next certificate. Items are only added otherwise.
create function clear_entry() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update accounts set entry = null, entry_sums = null
  where id = old.account_id and entry is not null;
  return null;
end $$;

do $$
declare changed text;
begin
  foreach changed in array array['ledgers', 'payment_instructions', 'notes', 'note_documents',
    'statements', 'transactions', 'transaction_line_items', 'transaction_tax_items']
  loop
    execute format('create trigger %I after update or delete on %I for each row execute '
      'function clear_entry()', changed || '_clear_entry', changed);
  end loop;
end $$;

-- To read accounts back, as query does.
grant select on notes, note_documents, statements, transactions, transaction_line_items,
  transaction_tax_items, payment_instructions, accounts
to data_import_batch_worker;

-- Public keys, past ones for ever.
create table certificate_keys (
  kid text collate "C" constraint certificate_keys_pkey primary key,
  x text not null,
  added_at timestamptz not null
);

grant select, insert on certificate_keys to data_import_batch_worker;
grant select on certificate_keys to data_import_batches, data_import_board;

create table certificates (
  number bigint generated always as identity constraint certificates_pkey primary key,
  id uuid not null constraint certificates_id_once unique,
  organisation text collate "C" not null,
  supplier text collate "C" not null
    constraint certificates_supplier_exists references suppliers,
  cohort text,
  issued_by json not null,
  requested_at timestamptz not null,
  status text not null default 'RUNNING'
    constraint certificates_status_known check (status in ('RUNNING', 'ISSUED', 'FAILED')),
  leased_until timestamptz not null default '-infinity',
  ended_at timestamptz,
  content json,
  jws text,
  -- The step that failed.
  failure text constraint certificates_failure_known
    check (failure in ('ACCOUNTS', 'DOCUMENTS', 'SIGNATURE')),
  constraint certificates_failed_whole check ((status = 'FAILED') = (failure is not null)),
  constraint certificates_issued_whole check ((status = 'ISSUED') = (jws is not null))
);

create index certificates_by_supplier on certificates (supplier, number desc);

create index certificates_by_organisation on certificates (organisation, ended_at);

create index certificates_running on certificates (number) where status = 'RUNNING';

grant select, insert on certificates to data_import_batches, data_import_board;
grant select, update (status, leased_until, ended_at, content, jws, failure)
on certificates to data_import_batch_worker;

-- How many accounts of a running certificate are done. It is a table of its own, because the
-- certificate is stored by a transaction that began before, and would conflict with each update.
create table certificate_progress (
  certificate uuid constraint certificate_progress_pkey primary key
    constraint certificate_progress_certificate_exists references certificates (id)
    on delete cascade,
  done integer not null,
  total integer not null,
  reported_at timestamptz not null default now()
);

grant select, insert, update (done, total, reported_at)
on certificate_progress to data_import_batch_worker;
grant select on certificate_progress to data_import_batches, data_import_board;

-- The leaves of a tree, 256 in a block, with the tree hash of each block and the numbers of its
-- accounts. An erased number is null.
create table certificate_blocks (
  certificate uuid not null
    constraint certificate_blocks_certificate_exists references certificates (id),
  block integer not null,
  numbers text[] collate "C" not null,
  leaves bytea not null,
  hash bytea not null,
  constraint certificate_blocks_pkey primary key (certificate, block)
);

grant select, insert on certificate_blocks to data_import_batch_worker;
grant select on certificate_blocks to data_import_batches;

-- The entries of all trees of a supplier, each version once.
create table certificate_entries (
  supplier text collate "C" not null,
  external_account_number text collate "C" not null,
  leaf bytea not null,
  entry text not null,
  constraint certificate_entries_pkey primary key (supplier, external_account_number, leaf)
);

grant select, insert on certificate_entries to data_import_batch_worker;
grant select on certificate_entries to data_import_batches;

-- The one that a sign-off was given with; null for none.
alter table migration_sign_offs add certificate uuid
  constraint migration_sign_offs_certificate_exists references certificates (id);

grant update (certificate) on migration_sign_offs to data_import_board;

-- The event that a certificate was issued.
alter table outbox add certificate uuid
  constraint outbox_certificate_exists references certificates (id);

create index outbox_by_certificate on outbox (certificate) where certificate is not null;

grant select (id, cohort) on certificates to data_import_events;
