-- What the accounts that the lines of a rehearsal would create add up to, counted when lines end,
-- so that reading it takes no longer for a batch of many. Amounts are in units of 0.01.
--
-- They go with their batch, when a sandbox is emptied.
--
-- Can be undone: yes, by dropping the table; forecasts then have no sums.

create table batch_rehearsed (
  batch uuid not null constraint batch_rehearsed_batch_exists
    references batches on delete cascade,
  kind text not null
    constraint batch_rehearsed_kind_known
      check (kind in ('account', 'ledger', 'statement', 'transaction')),
  name text collate "C" not null,
  count integer not null,
  hundredths numeric not null,
  constraint batch_rehearsed_pkey primary key (batch, kind, name)
);

grant select on batch_rehearsed to data_import_batches, data_import_board;
grant select, insert, update (count, hundredths) on batch_rehearsed to data_import_batch_worker;
