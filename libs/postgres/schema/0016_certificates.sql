-- Certificates: what was migrated for an import supplier, as Merkle trees of its accounts. Who writes
-- to an account stores or clears its entry in the same statement. The batch worker issues.
--
-- Can be undone: yes, by dropping what is made here; certificates that were issued stay valid.

-- The entry of the account in the tree and its sums, as text. Null if it was not computed since the
-- account changed.
alter table accounts add entry text, add entry_sums text;

grant update (entry, entry_sums) on accounts to data_import_post_import, data_import_batch_worker;

-- Public keys, past ones for ever.
create table certificate_keys (
  kid text collate "C" constraint certificate_keys_pkey primary key,
  x text not null,
  added_at timestamptz not null
);

grant select, insert on certificate_keys to data_import_batch_worker;
grant select on certificate_keys to data_import_query;

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
  leased_until timestamptz,
  ended_at timestamptz,
  content json,
  jws text,
  constraint certificates_issued_whole check ((status = 'ISSUED') = (jws is not null))
);

create index certificates_by_supplier on certificates (supplier, number desc);

create index certificates_running on certificates (number) where status = 'RUNNING';

-- The leaves of a tree, 256 in a block, with the numbers of the first and the last account. An
-- erased number is null.
create table certificate_blocks (
  certificate bigint not null
    constraint certificate_blocks_certificate_exists references certificates on delete cascade,
  block integer not null,
  first_number text collate "C",
  last_number text collate "C",
  leaves bytea not null,
  constraint certificate_blocks_pkey primary key (certificate, block)
);

-- The entries of all trees of a supplier, each version once.
create table certificate_entries (
  supplier text collate "C" not null,
  external_account_number text collate "C" not null,
  leaf bytea not null,
  entry text not null,
  constraint certificate_entries_pkey primary key (supplier, external_account_number, leaf)
);
