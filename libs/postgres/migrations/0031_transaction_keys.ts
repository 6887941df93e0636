/**
 * Keeps the transactions of an account and their items together by one check a statement instead
 * of a foreign key's check a row, which was a sixth of what 100 transactions cost the database. The
 * guarantees and their names are the same, and so are the locks: whoever adds a row locks the one
 * that it refers to, so that no deletion passes it by. Keys never change.
 *
 * Can be undone: yes, by the foreign keys of 0003, after a check of every row.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const transactionKeys = Effect.gen(function* () {
  yield* whatIsAdded
  yield* whatIsDeleted
  yield* keysStay
  yield* replaceForeignKeys
})

/** A trigger sees what the service that writes may not read. */
const definer = "security definer set search_path = public, pg_temp"

const refusing = (table: string, constraint: string, what: string): string => `
  raise exception '${what}' using errcode = 'foreign_key_violation', schema = 'public',
    table = ${table}, constraint = ${constraint};`

const accountExists = "'transactions_account_exists'"
const ofTransaction = (table: string): string => `${table} || '_transaction_exists'`

/**
 * Rows are looked up one by one, because plans are kept while tables grow. The order makes
 * PostgreSQL choose the primary key, and not another index in which it would read all transactions
 * of an account.
 */
const whatIsAdded = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function check_added_transactions() returns trigger language plpgsql ${definer} as $$
    begin
      if (select count(*) from (
          select from accounts where id = any(array(select account_id from added)) for key share
        ) as held) < (select count(distinct account_id) from added)
      then
        ${refusing("tg_table_name", accountExists, "a transaction has no account")}
      end if;
      return null;
    end $$`)
  yield* sql.unsafe(`
    create function check_added_items() returns trigger language plpgsql ${definer} as $$
    begin
      if exists (
        select from added where transaction_sequence is distinct from (
          select sequence from transactions
          where account_id = added.account_id and sequence >= added.transaction_sequence
          order by sequence limit 1 for key share))
      then
        ${refusing("tg_table_name", ofTransaction("tg_table_name"), "an item has no transaction")}
      end if;
      return null;
    end $$`)
})

/** The rows that are left, of the keys that are gone. */
const left = (table: string, columns: string, keys: string): string => `
  exists (select from gone cross join lateral (
    select from ${table} where (${columns}) = (${keys}) limit 1) as present)`

const itemTables = ["transaction_line_items", "transaction_tax_items"]

const whatIsDeleted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create function check_deleted_accounts() returns trigger language plpgsql ${definer} as $$
    begin
      if ${left("transactions", "account_id", "gone.id")} then
        ${refusing("'transactions'", accountExists, "an account has transactions")}
      end if;
      return null;
    end $$`)
  const refusals = itemTables.map(
    (table) => `
      if ${left(table, "account_id, transaction_sequence", "gone.account_id, gone.sequence")} then
        ${refusing(`'${table}'`, ofTransaction(`'${table}'`), "a transaction has items")}
      end if;`
  )
  yield* sql.unsafe(`
    create function check_deleted_transactions() returns trigger language plpgsql ${definer} as $$
    begin
      ${refusals.join("")}
      return null;
    end $$`)
  yield* sql`
    create trigger accounts_without_transactions after delete on accounts
    referencing old table as gone for each statement execute function check_deleted_accounts()`
  yield* sql`
    create trigger transactions_without_items after delete on transactions
    referencing old table as gone for each statement execute function check_deleted_transactions()`
})

/** The keys by which rows refer to each other. */
const keys: Readonly<Record<string, ReadonlyArray<string>>> = {
  accounts: ["id"],
  transactions: ["account_id", "sequence"],
  transaction_line_items: ["account_id", "transaction_sequence"],
  transaction_tax_items: ["account_id", "transaction_sequence"]
}

const keysStay = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function refuse_key_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the keys of % stay', tg_table_name using errcode = 'restrict_violation';
    end $$`
  for (const [table, columns] of Object.entries(keys)) {
    const changed = columns.map((column) => `old.${column} <> new.${column}`).join(" or ")
    yield* sql.unsafe(`
      create trigger ${table}_keys_stay before update of ${columns.join(", ")} on ${table}
      for each row when (${changed}) execute function refuse_key_change()`)
  }
  for (const table of ["accounts", "transactions"]) {
    yield* sql.unsafe(`
      create trigger ${table}_not_emptied before truncate on ${table}
      for each statement execute function refuse_key_change()`)
  }
})

const replaceForeignKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create trigger transactions_account_exists after insert on transactions
    referencing new table as added for each statement execute function check_added_transactions()`
  yield* sql`alter table transactions drop constraint transactions_account_exists`
  for (const table of itemTables) {
    const name = `${table}_transaction_exists`
    yield* sql.unsafe(`
      create trigger ${name} after insert on ${table} referencing new table as added
      for each statement execute function check_added_items()`)
    yield* sql.unsafe(`alter table ${table} drop constraint ${name}`)
  }
})
