-- The scheduled checks: how far each walk has come, and the differences that stand. The query
-- service runs them, because it reads whole accounts anyway. What it may read beyond that holds no
-- content of accounts.
--
-- Can be undone: yes, by dropping the tables; the checks begin anew.

create table check_walks (
  walk text constraint check_walks_pkey primary key,
  position bigint not null default 0,
  begun_at timestamptz not null default '-infinity'
);

insert into check_walks (walk) values ('accounts'), ('batches'), ('audit_log'), ('events');

grant select, update (position, begun_at) on check_walks to data_import_query, data_import_operator;

create table check_differences (
  walk text not null constraint check_differences_walk_exists references check_walks,
  subject bigint not null,
  kind text not null,
  supplier text,
  detail text not null,
  found_at timestamptz not null,
  constraint check_differences_pkey primary key (walk, subject, kind)
);

grant select, insert, delete, update (supplier, detail)
on check_differences to data_import_query, data_import_operator;
