/**
 * Makes the account numbers in the audit log erasable. The hashes of a chain contain an HMAC of the
 * number instead of the number, with a random salt of the chain as its key. Erasing replaces the
 * number by its HMAC and deletes the salt: the hashes stay valid, and the number cannot be found by
 * trying numbers. Chains of earlier releases, whose hashes contain the number itself, are made anew
 * afterwards, by `ChainRemakes`, while requests continue.
 *
 * Can be undone: no, erased numbers and the salts of chains are gone.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const erasableChains = Effect.gen(function* () {
  yield* tables
  yield* hashes
  yield* chaining
  yield* chainRule
  yield* entryRule
  yield* remaking
  yield* slices
  yield* erasing
  yield* earlierChains
})

/**
 * `former_length` and `former_head` are the head of a chain before it was made anew. A write locks
 * the log before the chains, and so does this.
 */
const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`lock table audit_log in share row exclusive mode`
  yield* sql`
    alter table audit_chains
      add column salt bytea,
      add column hmac bytea,
      add column former_length bigint,
      add column former_head bytea`
  yield* sql`
    create table earlier_audit_chains (
      last bigint constraint earlier_audit_chains_pkey primary key,
      remade_to bigint not null
    )`
})

/** SQL has no exclusive or of bytes, but of bits. `bit_send` puts their number before them. */
const padded = (pad: string) => `
  substr(bit_send(('x' || encode(salt, 'hex'))::bit(256) # X'${pad.repeat(32)}'), 5)
    || '\\x${pad.repeat(32)}'::bytea`

/** They are not immutable, so that they become a part of the expression that uses them: see 0005. */
const hashes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // 32 bytes, of which 244 bits are random.
  yield* sql`
    create function random_salt() returns bytea language sql volatile
    return uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())`
  // HMAC-SHA256 (RFC 2104) with a key of 32 bytes.
  yield* sql.unsafe(`
    create function audit_hmac(salt bytea, number text) returns bytea language sql stable
    return sha256(${padded("5c")}
      || sha256(${padded("36")} || convert_to(number, 'UTF8')))`)
  // No valid number begins with a blank.
  yield* sql`
    create function erased_number(hmac bytea) returns text language sql stable
    return ' erased:' || encode(hmac, 'hex')`
  yield* sql`
    create function audit_fields(entry audit_log) returns text language sql stable
    return netstring(entry.id::text) || netstring(extract(epoch from entry.at)::text)
      || netstring(entry.organisation) || netstring(entry.api_key) || netstring(entry.request_id)
      || netstring(entry.action) || netstring(entry.outcome) || netstring(entry.import_supplier)`
})

/**
 * One statement, although the salt is only used for the first entry of a chain: to look for the
 * chain first was measured to cost more.
 */
const chaining = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create or replace function chain_audit_entry() returns trigger language plpgsql
    security definer set search_path = public, pg_temp as $$
    declare
      fields text := audit_fields(new);
      number text := new.external_account_number;
      drawn bytea := case when number is not null then random_salt() end;
      keyed bytea := audit_hmac(drawn, number);
    begin
      insert into audit_chains as chain
        (organisation, import_supplier, external_account_number, length, head, salt, hmac)
      values (new.organisation, new.import_supplier, number, 1,
        audit_hash(null, 1, fields || netstring(erased_number(keyed))), drawn, keyed)
      on conflict on constraint audit_chains_once do update
      set length = chain.length + 1, head = audit_hash(chain.head, chain.length + 1,
        fields || netstring(coalesce(erased_number(chain.hmac), chain.external_account_number)))
      returning id, length, head into new.chain, new.position, new.hash;
      return new;
    end $$`
  yield* sql`drop function audit_content(audit_log)`
})

/**
 * Besides growing, the number of a chain may be erased, and a chain may be made anew, which keeps
 * its former head. Everything else is refused.
 */
const chainRule = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function check_chain_change() returns trigger language plpgsql as $$
    declare allowed audit_chains;
    begin
      if old.hmac is not null and new.hmac is null then
        allowed := old;
        allowed.external_account_number := erased_number(old.hmac);
        allowed.salt := null;
        allowed.hmac := null;
        allowed.former_head := null;
      elsif old.hmac is null and octet_length(new.salt) = 32
        and old.external_account_number not like ' erased:%'
      then
        allowed := old;
        allowed.salt := new.salt;
        allowed.hmac := audit_hmac(new.salt, old.external_account_number);
        allowed.former_length := old.length;
        allowed.former_head := old.head;
        allowed.head := new.head;
      end if;
      if new is distinct from allowed then
        raise exception '% only grows', tg_table_name using errcode = 'restrict_violation';
      end if;
      return new;
    end $$`
  yield* sql`
    create or replace trigger audit_chains_only_grow before update on audit_chains for each row
    when ((old.id, old.organisation, old.import_supplier, old.external_account_number,
      old.length + 1, old.salt, old.hmac, old.former_length, old.former_head)
      is distinct from (new.id, new.organisation, new.import_supplier, new.external_account_number,
      new.length, new.salt, new.hmac, new.former_length, new.former_head))
    execute function check_chain_change()`
})

/**
 * An entry takes the number of its chain once that is erased, and the hash that it has in its chain
 * when that is made anew. Both follow from what is stored, so nothing else can be written.
 */
const entryRule = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function check_entry_change() returns trigger language plpgsql as $$
    declare chain audit_chains; allowed audit_log; previous bytea;
    begin
      select * into chain from audit_chains where id = old.chain;
      if chain.external_account_number like ' erased:%' then
        allowed := old;
        allowed.external_account_number := chain.external_account_number;
      elsif chain.hmac is not null and old.position <= chain.former_length then
        select hash into previous from audit_log
        where audit_log.chain = old.chain and position = old.position - 1;
        allowed := old;
        allowed.hash := audit_hash(previous, old.position,
          audit_fields(old) || netstring(erased_number(chain.hmac)));
      end if;
      if new is distinct from allowed then
        raise exception '% only grows', tg_table_name using errcode = 'restrict_violation';
      end if;
      return new;
    end $$`
  yield* sql`
    create or replace trigger audit_log_only_grows before delete or truncate on audit_log
    for each statement execute function refuse_change()`
  yield* sql`
    create trigger audit_log_only_erased before update on audit_log
    for each row execute function check_entry_change()`
})

/**
 * Makes a chain anew whose hashes contain the number itself. False, and nothing is changed, if it
 * is not as it was written: new hashes would hide that.
 */
const remaking = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function remake_audit_chain(wanted bigint) returns boolean language plpgsql as $$
    declare
      chain audit_chains;
      entry audit_log;
      drawn bytea := random_salt();
      keyed bytea;
      place bigint := 0;
      former bytea;
      present bytea;
    begin
      select * into chain from audit_chains where id = wanted for no key update;
      if chain.hmac is not null or chain.external_account_number is null
        or chain.external_account_number like ' erased:%'
      then
        return true;
      end if;
      keyed := audit_hmac(drawn, chain.external_account_number);
      for entry in select * from audit_log where audit_log.chain = wanted order by position loop
        place := place + 1;
        former := audit_hash(former, place,
          audit_fields(entry) || netstring(entry.external_account_number));
        present := audit_hash(present, place,
          audit_fields(entry) || netstring(erased_number(keyed)));
        if (entry.position, entry.hash, entry.organisation, entry.import_supplier,
            entry.external_account_number)
          is distinct from (place, former, chain.organisation, chain.import_supplier,
            chain.external_account_number)
        then
          return false;
        end if;
      end loop;
      if (place, former) is distinct from (chain.length, chain.head) then return false; end if;
      update audit_chains
      set salt = drawn, hmac = keyed, head = present, former_length = length, former_head = head
      where id = wanted;
      present := null;
      for entry in select * from audit_log where audit_log.chain = wanted order by position loop
        present := audit_hash(present, entry.position,
          audit_fields(entry) || netstring(erased_number(keyed)));
        update audit_log set hash = present where id = entry.id;
      end loop;
      return true;
    end $$`
})

/**
 * Makes the next chains of earlier releases anew, of so many entries in all unless the first has
 * more. False if there were none. A write may hold several chains, in an order of its own. So this
 * does not wait for a chain while it holds another, but ends before it.
 */
const slices = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function remake_audit_chains(entries bigint) returns boolean language plpgsql as $$
    declare slice earlier_audit_chains; first bigint; wanted bigint; size bigint;
    begin
      select * into slice from earlier_audit_chains for update;
      for wanted, size in select id, length from audit_chains
        where id > slice.remade_to and id <= slice.last order by id limit entries
      loop
        if first is null then
          first := wanted;
        else
          exit when size > entries;
          perform from audit_chains where id = wanted for no key update skip locked;
          exit when not found;
        end if;
        perform remake_audit_chain(wanted);
        entries := entries - size;
        slice.remade_to := wanted;
      end loop;
      if first is null then
        delete from earlier_audit_chains;
      else
        update earlier_audit_chains set remade_to = slice.remade_to;
      end if;
      return first is not null;
    end $$`
})

/**
 * Erases the number of an import from the log, and gives how many entries had it. Of a supplier
 * that was not recorded, any import may be meant. What an API key was refused is kept as digests,
 * by which a number could be found; those of the keys that named it are emptied, so that a repeated
 * refusal may be recorded once more. They are locked before the chains, as by a refusal.
 */
const erasing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function erase_audited_number(supplier text, number text) returns bigint
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare wanted bigint; found bigint[]; entries bigint; erased bigint := 0;
    begin
      if number like ' erased:%' then return 0; end if;
      found := array(
        select id from audit_chains
        where external_account_number = number
          and (import_supplier = supplier or import_supplier is null)
        order by id);
      perform from refusal_windows
      where (organisation, api_key) in (
        select organisation, api_key from audit_log where chain = any(found))
      order by organisation, api_key for no key update;
      perform from audit_chains where id = any(found) order by id for update;
      update refusal_windows set digests = '{}'
      where (organisation, api_key) in (
        select organisation, api_key from audit_log where chain = any(found));
      foreach wanted in array found loop
        if not remake_audit_chain(wanted) then
          raise exception 'Audit chain % is not as it was written', wanted
            using errcode = 'data_corrupted', hint = 'Verify the audit log.';
        end if;
        update audit_chains
        set external_account_number = erased_number(hmac), salt = null, hmac = null,
          former_head = null
        where id = wanted and hmac is not null;
        update audit_log set external_account_number = audit_chains.external_account_number
        from audit_chains
        where audit_chains.id = wanted and chain = wanted
          and audit_log.external_account_number = number;
        get diagnostics entries = row_count;
        erased := erased + entries;
      end loop;
      return erased;
    end $$`
  yield* sql`grant execute on function erase_audited_number(text, text) to data_import_operator`
})

/** Every chain that is there. The lock holds back writes until new chains have salts. */
const earlierChains = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    insert into earlier_audit_chains (last, remade_to)
    select last, 0 from (select max(id) as last from audit_chains) as chains
    where last is not null`
})
