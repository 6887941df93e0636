-- Alerts: what users of the board want to be told and where, what was found, and what was told.
--
-- Can be undone: yes, by dropping the tables; users then choose anew.

-- The organisations are those of the last sign-in. The addresses are those of users of the board,
-- and never of customers.
create table alert_settings (
  subject text constraint alert_settings_pkey primary key,
  name text not null,
  organisations text[],
  signed_in_at timestamptz not null,
  kinds text[] not null,
  failing_share smallint not null
    constraint alert_settings_share_percent check (failing_share between 1 and 100),
  suppliers text[] collate "C",
  email text,
  webhook text,
  changed_at timestamptz not null,
  tested_at timestamptz not null default '-infinity'
);

grant select, insert, delete, update (name, organisations, signed_in_at, kinds, failing_share,
  suppliers, email, webhook, changed_at, tested_at)
on alert_settings to data_import_board;
-- Whose sessions the operator ends is told nothing until the next sign-in.
grant select (subject, name), update (organisations) on alert_settings to data_import_operator;

-- An event has `happened_at`, and ends with it. A condition begins when it is raised, and ends when
-- it is not found any more.
create table alerts (
  id bigint generated always as identity constraint alerts_pkey primary key,
  kind text not null,
  supplier text collate "C" not null
    constraint alerts_supplier_exists references suppliers,
  what text collate "C" not null,
  reason text not null,
  raised_at timestamptz not null,
  happened_at timestamptz,
  ended_at timestamptz,
  constraint alerts_event_ended check (happened_at is null or ended_at is not null)
);

create unique index alerts_open on alerts (kind, supplier, what) where ended_at is null;

create index alerts_of_subject on alerts (kind, supplier, what, id);

create index alerts_by_time on alerts (raised_at);

grant select, insert, delete, update (ended_at) on alerts to data_import_board;

-- What one user is told by one way. It is claimed before it is sent: if its instance dies, nobody
-- knows whether it was received, and it is not sent again.
create table alert_deliveries (
  alert bigint not null
    constraint alert_deliveries_alert_exists references alerts on delete cascade,
  subject text not null
    constraint alert_deliveries_subject_exists references alert_settings on delete cascade,
  way text not null
    constraint alert_deliveries_way_known check (way in ('email', 'webhook')),
  due_at timestamptz not null,
  attempts smallint not null default 0,
  claimed_at timestamptz,
  ended_at timestamptz,
  error text,
  is_known boolean not null default true,
  constraint alert_deliveries_pkey primary key (alert, subject, way)
);

create index alert_deliveries_due on alert_deliveries (due_at)
where claimed_at is null and ended_at is null;

create index alert_deliveries_of_user on alert_deliveries (subject, alert);

grant select, insert, delete, update (due_at, attempts, claimed_at, ended_at, error, is_known)
on alert_deliveries to data_import_board;

create table alert_turns (
  is_only boolean constraint alert_turns_pkey primary key default true
    constraint alert_turns_once check (is_only),
  begun_at timestamptz not null default '-infinity'
);

insert into alert_turns default values;

grant select, update (begun_at) on alert_turns to data_import_board;

-- Which accounts are not as they were certified.
create index check_differences_of_supplier on check_differences (supplier, kind);

grant select (supplier, kind, subject) on check_differences to data_import_board;
