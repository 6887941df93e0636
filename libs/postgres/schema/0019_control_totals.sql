-- Control totals: what suppliers and managers expect of a migration, and of its cohorts. A row
-- without a cohort, whose name is empty, is of all accounts of the supplier.
--
-- Can be undone: no, what was entered would be lost.

create table control_totals (
  supplier text collate "C" not null
    constraint control_totals_supplier_exists references suppliers,
  cohort text collate "C" not null,
  accounts bigint not null,
  balance numeric,
  -- Codes and balances; null if none are expected.
  ledgers json,
  set_by text collate "C" not null,
  set_at timestamptz not null,
  constraint control_totals_pkey primary key (supplier, cohort),
  constraint control_totals_ledgers_list check (json_typeof(ledgers) = 'array')
);

grant select, insert, delete, update (accounts, balance, ledgers, set_by, set_at)
on control_totals to data_import_batches, data_import_board;
grant select on control_totals to data_import_batch_worker;
grant select (supplier, cohort, accounts)
on control_totals to data_import_query, data_import_operator;

-- To compare them with what was sent and what has arrived.
grant select on import_totals, import_differences, refused_counts to data_import_batches;
