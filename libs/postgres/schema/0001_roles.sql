-- The record of migrations, and a role for each service and one for the operator, each with exactly
-- the privileges that its statements need: each table is followed by its grants. The roles are
-- shared by all databases of a server and cannot log in. A database user is a member of one of
-- them.
--
-- Can be undone: yes, by dropping the roles.

-- The migrator makes this table, and knows nothing of digests.
alter table migrations add column digest text;

-- Another database of this server may have made the roles, or be making them at this moment.
do $$
declare role text;
begin
  foreach role in array array['account_import', 'post_import', 'query', 'batches', 'batch_worker',
    'events', 'board', 'auth', 'operator']
  loop
    role := 'data_import_' || role;
    if not exists (select from pg_roles where rolname = role) then
      begin
        execute format('create role %I nologin', role);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
end $$;

-- Nothing here is for whoever can connect.
do $$
begin
  execute format('revoke all on database %I from public', current_database());
end $$;

revoke all on schema public from public;

alter default privileges revoke execute on functions from public;

grant usage on schema public to data_import_account_import, data_import_post_import,
  data_import_query, data_import_batches, data_import_batch_worker, data_import_events,
  data_import_board, data_import_auth, data_import_operator;
