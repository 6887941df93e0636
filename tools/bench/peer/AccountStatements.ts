/** The SQL that makes an account of a staged import, and that adds to an account. */
import { statement, trail } from "./Statements.ts"

const elements = (list: string) =>
  `jsonb_array_elements(payload -> '${list}') with ordinality as sent(e, n)`

/** The identity of a note: its text, or the paths of its documents. */
const noteContent = `
  coalesce(e -> 'body', jsonb_path_query_array(e, '$.document_paths[*].document_path'))::text`

const parts = `
  customers as (
    insert into peer.customers (account_id, position, given_name, family_name, email, details)
    select id, n - 1, e ->> 'given_name', e ->> 'family_name', e ->> 'email',
      e - '{given_name,family_name,email}'::text[]
    from changed, ${elements("customers")}
  ),
  supply_addresses as (
    insert into peer.supply_addresses (account_id, position, details)
    select id, n - 1, e from changed, ${elements("supply_addresses")}
  ),
  metadata as (
    insert into peer.metadata (account_id, key, value)
    select id, e ->> 'key', e -> 'value' from changed, ${elements("metadata")}
  ),
  ledgers as (
    insert into peer.ledgers (account_id, code, balance, last_balance, closed_on)
    select id, e ->> 'ledger_code', (e ->> 'ledger_balance')::numeric,
      (e ->> 'last_statement_balance')::numeric, (e ->> 'last_statement_closing_date')::date
    from changed, ${elements("ledgers")}
  ),
  transactions as (
    insert into peer.transactions
      (account_id, transaction_id, ledger_code, origin, date, amount, type, details)
    select id, t ->> 'transaction_id', e ->> 'ledger_code', origin,
      (t ->> 'transaction_date')::date, (t ->> 'amount')::numeric, t ->> 'type',
      t - '{transaction_id,transaction_date,amount,type}'::text[]
    from changed, ${elements("ledgers")},
      lateral (values ('historical', e -> 'historical_statement_transactions'),
        ('current', e -> 'current_statement_transactions')) as lists(origin, list),
      jsonb_array_elements(list) as t
  ),
  notes as (
    insert into peer.notes (account_id, content, is_untimed, created_at, details)
    select id, ${noteContent}, false, coalesce((e ->> 'created_at')::timestamptz, $3),
      e - 'created_at'
    from changed, ${elements("notes")}
    on conflict do nothing
  ),
  statements as (
    insert into peer.statements
      (account_id, statement_id, origin, from_date, to_date, path, details)
    select id, e ->> 'statement_id', 'payload', (e ->> 'bill_period_from_date')::date,
      (e ->> 'bill_period_to_date')::date, e ->> 'statement_path', '{}'
    from changed, ${elements("statements")}
  )`

/** $7 import, $8 lease, $9 stagings, $10 account number, $11 team, $12 balance. */
export const complete = statement(
  "complete",
  `with staged as materialized (
     select imports.id, payload from peer.imports join peer.payloads on import_id = imports.id
     where imports.id = $7 and lease = $8 and stagings = $9 and account_number is null
     for update of imports
   ),
   changed as (
     insert into peer.accounts (id, number, team, balance, closed_on, details, created_at)
     select id, $10, $11, $12::numeric,
       (select max((e ->> 'last_statement_closing_date')::date) from ${elements("ledgers")}),
       payload - '{customers,supply_addresses,metadata,ledgers,notes,statements}'::text[], $3
     from staged
     returning id, (select payload from staged) as payload
   ),
   imported as (
     update peer.imports
     set lease = null, leased_until = null, account_number = $10, account_created_at = $3
     from changed where imports.id = changed.id
   ),
   ${parts},
   ${trail("process", "'created'", "complete-v1")}
   select id from changed`
)

const account = `
  account as (
    select accounts.id, closed_on from peer.accounts join peer.imports using (id)
    where supplier = $1 and imports.number = $2
  )`

/** The result: one row if the account exists. */
export interface Added {
  readonly closed_on: string | null
  /** Whether nothing was added, since not all could be. */
  readonly refused: boolean
  /** The ids that were new. */
  readonly added: ReadonlyArray<string>
}

/**
 * $7 transactions, $8 today, $9 whether any may be added. Nothing here joins the table, so that
 * existing transactions are found by the index even with a plan from when the table was empty.
 */
export const addTransactions = statement<Added>(
  "add_transactions",
  `with ${account},
   sent as materialized (
     select id, closed_on, e, e ->> 'transaction_id' as transaction_id,
       (e ->> 'transaction_date')::date as date, (e ->> 'amount')::numeric as amount,
       e ->> 'type' as type
     from account, jsonb_array_elements($7::jsonb) as e
   ),
   refused as materialized (
     select not $9::boolean or exists (
       select from sent where (date > $8::date or date <= closed_on) and (
         select t.account_id from peer.transactions t
         where t.account_id = sent.id and t.transaction_id = sent.transaction_id) is null
     ) as refused
   ),
   added as (
     insert into peer.transactions
       (account_id, transaction_id, origin, date, amount, type, details)
     select id, transaction_id, 'post_import', date, amount, type,
       e - '{transaction_id,transaction_date,amount,type}'::text[]
     from sent, refused where not refused
     on conflict (account_id, transaction_id) do nothing
     returning transaction_id,
       case when type in ('PAYMENT', 'CREDIT') then amount else -amount end as effect
   ),
   changed as (
     update peer.accounts set balance = balance + (select coalesce(sum(effect), 0) from added)
     from account, refused where accounts.id = account.id and not refused
     returning accounts.id
   ),
   ${trail("create_transactions", "'created'", "post_import.completed-v1")}
   select closed_on::text, refused, array(select transaction_id from added) as added
   from account, refused`
)

/** The ids that exist already. $1 supplier, $2 number, $3 ids. */
export const presentTransactions = statement<{ readonly transaction_id: string }>(
  "present_transactions",
  `with ${account}
   select transaction_id from peer.transactions join account on account_id = account.id
   where transaction_id = any ($3::text[])`
)
