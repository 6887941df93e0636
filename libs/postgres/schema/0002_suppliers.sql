-- What the operator configures: organisations, their suppliers, the teams and the choices.
--
-- Can be undone: no, what was configured would be lost.

-- A test organisation is of one live organisation.
create table organisations (
  name text collate "C"
    constraint organisations_pkey primary key
    constraint organisations_name_form check (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  created_at timestamptz not null,
  test_of text collate "C"
    constraint organisations_test_of_once unique
    constraint organisations_test_of_exists references organisations
    constraint organisations_test_of_another check (test_of <> name)
);

grant select on organisations to data_import_board;
grant select, insert on organisations to data_import_operator;

-- The code of a test supplier has a blank before it, so that the same code exists in both modes.
-- The time zone is that of the business day; the operator command knows the zones that there are.
-- An account can be reverted for as many days as the window has.
create table suppliers (
  code text collate "C"
    constraint suppliers_pkey primary key
    constraint suppliers_code_length
    check (char_length(code) between 1 and 32 + starts_with(code, ' ')::integer),
  organisation text collate "C" not null
    constraint suppliers_organisation_exists references organisations,
  status text not null
    constraint suppliers_status_known check (status in ('Ongoing', 'Paused', 'Complete')),
  document_root text not null,
  document_check boolean not null,
  customer_emails boolean not null,
  concurrency_limit integer
    constraint suppliers_concurrency_limit_not_negative check (concurrency_limit >= 0),
  time_zone text not null default 'UTC',
  revert_window integer not null default 14
    constraint suppliers_revert_window_days check (revert_window between 0 and 3650),
  four_eyes boolean not null default false
);

grant select
on suppliers to data_import_account_import, data_import_post_import, data_import_query,
  data_import_batches, data_import_batch_worker, data_import_events;
grant select, update (status) on suppliers to data_import_board;
grant select, insert, update (status, document_root, document_check, customer_emails,
  concurrency_limit, time_zone, revert_window, four_eyes)
on suppliers to data_import_operator;

create table operations_teams (
  name text collate "C"
    constraint operations_teams_pkey primary key
    constraint operations_teams_name_length check (char_length(name) between 1 and 128)
);

grant select
on operations_teams to data_import_account_import, data_import_batches, data_import_batch_worker,
  data_import_board;
grant select, insert on operations_teams to data_import_operator;

create table choices (
  list text not null
    constraint choices_list_known check (list in
      ('sales_channel', 'reason', 'payment_type', 'ledger_code', 'product_code', 'vendor')),
  value text collate "C" not null
    constraint choices_value_length check (char_length(value) between 1 and 128),
  added bigint generated always as identity,
  constraint choices_pkey primary key (list, value)
);

grant select
on choices to data_import_account_import, data_import_post_import, data_import_query,
  data_import_batches, data_import_batch_worker, data_import_board;
grant select, insert on choices to data_import_operator;
