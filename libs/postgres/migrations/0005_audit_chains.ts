/**
 * The audit log as hash chains. A chain has the entries of one organisation about one import, each
 * with the SHA-256 of its content and of the hash before it. The head of a chain has its length and
 * last hash, so that entries missing at the end are detected too. Requests that name no import have
 * chains of their own. Writes to different imports never wait for each other.
 *
 * Can be undone: no, what was chained could not be verified any more.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const auditChains = Effect.gen(function* () {
  yield* heads
  yield* columns
  yield* chaining
  yield* presentEntries
  yield* rules
})

const heads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The free space keeps the moves of a head within its page.
  yield* sql`
    create table audit_chains (
      id bigint generated always as identity constraint audit_chains_pkey primary key,
      organisation text collate "C" not null,
      import_supplier text collate "C",
      external_account_number text collate "C",
      length bigint not null,
      head bytea not null,
      constraint audit_chains_once
        unique nulls not distinct (import_supplier, external_account_number, organisation)
    ) with (fillfactor = 70)`
})

const columns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // No foreign key: the trigger alone writes the chain, and has the head's row locked already.
  yield* sql`
    alter table audit_log
      add column chain bigint,
      add column position bigint,
      add column hash bytea,
      drop constraint audit_log_action_known,
      add constraint audit_log_action_known check (action in ('stage', 'process', 'create_notes',
        'create_transactions', 'create_historical_statements', 'create_payment_instruction',
        'end_payment_instruction'))`
})

/**
 * The lock of the head's row is held until the transaction ends, so that no chain forks. It is the
 * last lock that a write takes, and several at once are taken in the order of the imports, which
 * are locked before; so nobody waits in a circle.
 */
const chaining = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create function netstring(value text) returns text language sql immutable
    return coalesce(octet_length(value)::text || ':' || value || ',', '-')`
  // Not immutable, which extract is not either: only so is it a part of the expression that uses
  // it, and not planned anew for every entry.
  yield* sql`
    create function audit_content(entry audit_log) returns text language sql stable
    return netstring(entry.id::text) || netstring(extract(epoch from entry.at)::text)
      || netstring(entry.organisation) || netstring(entry.api_key) || netstring(entry.request_id)
      || netstring(entry.action) || netstring(entry.outcome) || netstring(entry.import_supplier)
      || netstring(entry.external_account_number)`
  yield* sql`
    create function audit_hash(previous bytea, place bigint, content text) returns bytea
    language sql stable
    return sha256(convert_to(
      netstring(encode(previous, 'hex')) || netstring(place::text) || content, 'UTF8'))`
  yield* sql`
    create function chain_audit_entry() returns trigger language plpgsql
    security definer set search_path = public, pg_temp as $$
    declare content text := audit_content(new);
    begin
      insert into audit_chains as chain
        (organisation, import_supplier, external_account_number, length, head)
      values (new.organisation, new.import_supplier, new.external_account_number, 1,
        audit_hash(null, 1, content))
      on conflict on constraint audit_chains_once do update
      set length = chain.length + 1, head = audit_hash(chain.head, chain.length + 1, content)
      returning id, length, head into new.chain, new.position, new.hash;
      return new;
    end $$`
})

/** What is there is chained in the order in which it was written. */
const presentEntries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table audit_log disable trigger audit_log_only_grows`
  yield* sql`
    do $$
    declare entry audit_log; last audit_log;
    begin
      for entry in select * from audit_log
        order by import_supplier, external_account_number, organisation, id
      loop
        if (entry.import_supplier, entry.external_account_number, entry.organisation)
          is distinct from (last.import_supplier, last.external_account_number, last.organisation)
        then
          insert into audit_chains
            (organisation, import_supplier, external_account_number, length, head)
          values (entry.organisation, entry.import_supplier, entry.external_account_number, 0, '')
          returning id into entry.chain;
          last.position := 0;
          last.hash := null;
        else
          entry.chain := last.chain;
        end if;
        entry.position := last.position + 1;
        entry.hash := audit_hash(last.hash, entry.position, audit_content(entry));
        update audit_log set chain = entry.chain, position = entry.position, hash = entry.hash
        where id = entry.id;
        last := entry;
      end loop;
    end $$`
  yield* sql`
    update audit_chains set length = position, head = hash
    from (select distinct on (chain) * from audit_log order by chain, position desc) as last
    where last.chain = audit_chains.id`
  yield* sql`alter table audit_log enable trigger audit_log_only_grows`
})

const rules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    alter table audit_log
      alter column chain set not null,
      alter column position set not null,
      alter column hash set not null,
      add constraint audit_log_position_once unique (chain, position)`
  yield* sql`drop index audit_log_by_pair`
  yield* sql`
    create trigger audit_log_chained before insert on audit_log
    for each row execute function chain_audit_entry()`
  yield* sql`
    create trigger audit_chains_never_lost before delete or truncate on audit_chains
    for each statement execute function refuse_change()`
  yield* sql`
    create trigger audit_chains_only_grow before update on audit_chains for each row
    when ((old.id, old.organisation, old.import_supplier, old.external_account_number,
      old.length + 1) is distinct from (new.id, new.organisation, new.import_supplier,
      new.external_account_number, new.length))
    execute function refuse_change()`
})
