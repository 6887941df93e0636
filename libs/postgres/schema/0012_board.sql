-- Who is signed in at the board, and what managers decide there: plans and sign-offs of migrations,
-- with their comments, and the record of forecasts.
--
-- Can be undone: no, plans, comments and sign-offs would be lost.

-- Ids of sessions and the secrets of sign-in links are stored as hashes.
create table board_sessions (
  hash text constraint board_sessions_pkey primary key,
  subject text not null,
  name text not null,
  role text not null,
  organisations text[],
  suppliers text[] collate "C",
  csrf_token text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  prolonged_until timestamptz,
  constraint board_sessions_role_known check (role in ('supplier', 'viewer', 'manager')),
  -- What only asks for organisations shows nothing to a user of suppliers.
  constraint board_sessions_of_suppliers check (case when role = 'supplier'
    then suppliers is not null and organisations = '{}' else suppliers is null end)
);

grant select, insert, delete, update (last_seen_at, prolonged_until)
on board_sessions to data_import_board;
grant select (subject, name, role, organisations, suppliers, created_at, last_seen_at,
  prolonged_until), delete
on board_sessions to data_import_operator;

create table board_links (
  hash text constraint board_links_pkey primary key,
  expires_at timestamptz not null
);

-- The operator issues links and sees none.
grant select, delete on board_links to data_import_board;
grant insert, delete on board_links to data_import_operator;

-- Links that sign people of a supplier in. A use moves the end of the first week.
create table board_invitations (
  id uuid constraint board_invitations_pkey primary key,
  supplier text collate "C" not null
    constraint board_invitations_supplier_exists references suppliers,
  person text not null,
  hash text not null constraint board_invitations_hash_unique unique,
  invited_by text not null,
  invited_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create index board_invitations_of_supplier on board_invitations (supplier);

grant select, insert, delete, update (expires_at, used_at)
on board_invitations to data_import_board;
grant delete on board_invitations to data_import_operator;

create table migration_plans (
  supplier text collate "C"
    constraint migration_plans_pkey primary key
    constraint migration_plans_supplier_exists references suppliers,
  points json not null
    constraint migration_plans_points_list check (json_typeof(points) = 'array'),
  set_at timestamptz not null
);

grant select, insert, delete, update (points, set_at) on migration_plans to data_import_board;

-- Decisions about waves, all of them. The rehearsal may be deleted later.
create table wave_decisions (
  id bigint generated always as identity constraint wave_decisions_pkey primary key,
  supplier text collate "C" not null
    constraint wave_decisions_supplier_exists references suppliers,
  cohort text not null,
  decision text not null
    constraint wave_decisions_decision_known check (decision in ('GO', 'NO_GO')),
  rehearsal uuid,
  note text,
  decided_by text not null,
  decided_at timestamptz not null
);

create index wave_decisions_of_cohort on wave_decisions (supplier, cohort, id);

grant select, insert on wave_decisions to data_import_board;

-- What is planned of waves. A wave that starts by itself has a start, from its instant to its
-- outcome. An instance that carries it out takes it first.
create table waves (
  supplier text collate "C" not null
    constraint waves_supplier_exists references suppliers,
  cohort text collate "C" not null,
  starts_on date,
  owner text,
  accounts integer,
  starts_at timestamptz,
  start_batch uuid,
  start_team text,
  start_by text,
  start_taken_at timestamptz,
  start_outcome text,
  set_at timestamptz not null,
  constraint waves_pkey primary key (supplier, cohort),
  constraint waves_start_whole check (
    num_nulls(starts_at, start_batch, start_team, start_by) in (0, 4)),
  constraint waves_start_ended check (
    starts_at is not null or num_nonnulls(start_taken_at, start_outcome) = 0)
);

create index waves_due on waves (starts_at) where starts_at is not null and start_outcome is null;

grant select, insert, delete, update (starts_on, owner, accounts, starts_at, start_batch,
  start_team, start_by, start_taken_at, start_outcome, set_at)
on waves to data_import_board;

-- Moves of accounts to another cohort, with the cohort that each account had before. An undo is a
-- move, too: it has no cohort of its own. Accounts are counted by the cohort that they had, '' for
-- none, so that a move of a million is told without reading them.
create table cohort_moves (
  id uuid constraint cohort_moves_pkey primary key,
  supplier text collate "C" not null
    constraint cohort_moves_supplier_exists references suppliers,
  to_cohort text,
  moved_by text not null,
  moved_at timestamptz not null,
  undoes uuid
    constraint cohort_moves_undone_once unique
    constraint cohort_moves_undone_exists references cohort_moves,
  constraint cohort_moves_undo_restores check (undoes is null or to_cohort is null)
);

create table moved_imports (
  move uuid
    constraint moved_imports_move_exists references cohort_moves,
  import_id bigint
    constraint moved_imports_import_exists references import_processes,
  from_cohort text,
  constraint moved_imports_pkey primary key (move, import_id)
);

create index moved_imports_of_import on moved_imports (import_id);

create table moved_counts (
  move uuid
    constraint moved_counts_move_exists references cohort_moves,
  from_cohort text not null,
  accounts integer not null,
  constraint moved_counts_pkey primary key (move, from_cohort)
);

grant select, insert on cohort_moves, moved_imports to data_import_board;
grant select, insert, update (accounts) on moved_counts to data_import_board;

-- What people say about a migration, a wave or an account. It is never changed; the text about an
-- account is erased with it.
create table comments (
  id uuid constraint comments_pkey primary key,
  number bigint generated always as identity,
  supplier text collate "C" not null
    constraint comments_supplier_exists references suppliers,
  cohort text,
  import_id bigint
    constraint comments_import_exists references import_processes,
  about text not null
    constraint comments_about_known check (about in
      ('comment', 'pause', 'resume', 'sign_off', 'corrections_sent')),
  text text,
  open jsonb,
  said_by text not null,
  said_at timestamptz not null,
  constraint comments_of_one check (cohort is null or import_id is null),
  constraint comments_text_kept check (text is not null or import_id is not null)
);

create index comments_of_supplier on comments (supplier, number);
create index comments_of_cohort on comments (supplier, cohort, number) where cohort is not null;
create index comments_of_import on comments (import_id, number) where import_id is not null;

grant select, insert on comments to data_import_board;

-- Why the status is what it is. A change without a reason ends that of the status before.
alter table suppliers add column status_comment uuid
  constraint suppliers_status_comment_exists references comments;

grant update (status_comment) on suppliers to data_import_board, data_import_operator;

-- It ends when the migration is reopened.
create table migration_sign_offs (
  supplier text collate "C"
    constraint migration_sign_offs_pkey primary key
    constraint migration_sign_offs_supplier_exists references suppliers,
  signed_by text not null,
  signed_at timestamptz not null
);

grant select, insert, update (signed_by, signed_at) on migration_sign_offs to data_import_board;
grant select (supplier), delete on migration_sign_offs to data_import_operator;

-- In which condition each migration has been since when, so that what changed can be told.
create table migration_conditions (
  supplier text collate "C"
    constraint migration_conditions_supplier_exists references suppliers,
  condition text not null,
  began_at timestamptz,
  constraint migration_conditions_pkey primary key (supplier, began_at)
);

grant select, insert, delete on migration_conditions to data_import_board;

-- At most one of a supplier and day, and whether its interval held. It stays when its supplier's
-- imports are done, because it tells how good the forecasts are.
create table forecasts (
  supplier text collate "C" not null
    constraint forecasts_supplier_exists references suppliers,
  day date not null,
  made_at timestamptz not null,
  open bigint not null,
  low timestamptz not null,
  median timestamptz not null,
  high timestamptz not null,
  held boolean,
  settled_at timestamptz,
  constraint forecasts_pkey primary key (supplier, day),
  constraint forecasts_interval_forward check (low <= median and median <= high),
  constraint forecasts_settled_whole check ((held is null) = (settled_at is null))
);

grant select, insert, update (held, settled_at) on forecasts to data_import_board;
