/** The SQL of the peer. Every statement is prepared under its name; parameters are positional. */

export interface Statement<Row extends object> {
  readonly name: string
  readonly text: string
  /** Not there; for the type of the rows. */
  readonly row?: Row
}

export const statement = <Row extends object = object>(
  name: string,
  text: string
): Statement<Row> => ({ name, text })

export interface Supplier {
  readonly organisation: string
  readonly status: "Ongoing" | "Paused" | "Complete"
  readonly timeZone: string
}

/** Everything that the rules may know beyond the payload. */
export interface Known {
  readonly supplier: Supplier | null
  readonly codeLists: Readonly<Record<string, ReadonlyArray<string>>>
  readonly teamExists: boolean
}

/** The columns of an import that say where it stands. */
export interface ImportRow {
  readonly skipped: boolean
  readonly lease_expires_at: Date | null
  readonly account_number: string | null
}

export const activeKey = statement(
  "active_key",
  `select id from api_keys where id = $1 and revoked_at is null
     and (expires_at is null or expires_at > now())`
)

/** $1 supplier, $2 team. */
export const known = statement<Known>(
  "known",
  `select
     (select json_build_object('organisation', organisation, 'status', status,
         'timeZone', time_zone)
       from suppliers where code = $1) as supplier,
     (select coalesce(json_object_agg(list, "values"), '{}') from (
       select list, json_agg(value order by added) as "values" from choices group by list) c
     ) as "codeLists",
     exists (select from operations_teams where name = $2) as "teamExists"`
)

const isPending = (at: string): string => `
  present.account_number is null and not present.skipped
  and (present.lease_attempt is null or present.lease_expires_at <= ${at})`

/** $1 supplier, $2 number, $3 payload, $4 at, $5 organisation, $6 key, $7 request. */
export const stage = statement<{ readonly stagings: number }>(
  "stage",
  `with changed as (
     insert into import_processes as present
       (supplier, external_account_number, payload, staged_at)
     values ($1, $2, $3::json, $4)
     on conflict on constraint import_processes_pair_once do update
     set payload = excluded.payload, staged_at = excluded.staged_at,
       stagings = present.stagings + 1, lease_attempt = null, lease_expires_at = null
     where ${isPending("excluded.staged_at")}
     returning id, stagings
   ),
   expired as (
     update import_attempts set ended_at = $4, outcome = 'lease_expired'
     from changed where import_id = changed.id and ended_at is null
   ),
   event as (
     insert into outbox (at, name, import_id)
     select $4, 'data_import.import_process.staged-v1', id from changed
   ),
   audit as (
     insert into audit_log (at, organisation, api_key, request_id, action, outcome,
       import_supplier, external_account_number)
     select $4, $5, $6, $7, 'stage', case stagings when 1 then 'created' else 'replaced' end, $1, $2
     from changed
   )
   select stagings from changed`
)

/** $1 supplier, $2 number. */
export const find = statement<ImportRow>(
  "find",
  `select skipped, lease_expires_at, account_number from import_processes
   where supplier = $1 and external_account_number = $2`
)

/** $1 supplier, $2 number, $3 attempt, $4 at, $5 until. */
export const claim = statement<{ readonly payload: string }>(
  "claim",
  `with changed as (
     update import_processes as present set lease_attempt = $3, lease_expires_at = $5
     where supplier = $1 and external_account_number = $2 and ${isPending("$4")}
     returning id, payload::text
   ),
   expired as (
     update import_attempts set ended_at = $4, outcome = 'lease_expired'
     from changed where import_id = changed.id and ended_at is null
   ),
   started as (
     insert into import_attempts (import_id, id, dry_run, started_at)
     select id, $3, false, $4 from changed
   )
   select payload from changed`
)

/** $1 supplier, $2 number, $3 attempt, $4 outcome, $5 codes, $6 errors, $7 at, $8-$10 who. */
export const release = statement(
  "release",
  `with changed as (
     update import_processes set lease_attempt = null, lease_expires_at = null
     where supplier = $1 and external_account_number = $2 and lease_attempt = $3
     returning id
   ),
   ended as (
     update import_attempts set ended_at = $7, outcome = $4, errors = $6::jsonb
     from changed where import_id = changed.id and import_attempts.id = $3
   ),
   event as (
     insert into outbox (at, name, import_id, codes)
     select $7, 'data_import.import_process.error-v1', id, $5::text[] from changed
   )
   insert into audit_log (at, organisation, api_key, request_id, action, outcome,
     import_supplier, external_account_number)
   select $7, $8, $9, $10, 'process', $4, $1, $2 from changed`
)

/** Transactions that are all there already. $1 at, $2-$4 who, $5 supplier, $6 number. */
export const audit = statement(
  "audit",
  `insert into audit_log (at, organisation, api_key, request_id, action, outcome,
     import_supplier, external_account_number)
   values ($1, $2, $3, $4, 'create_transactions', 'unchanged', $5, $6)`
)

export const transactionColumns = `transaction_id text, transaction_date date,
  amount numeric, type text, reason text, display_note text, note text, reference text,
  payment_type text, product_code text, line_items jsonb, tax_items jsonb`

/** Rows of `sent` (sequence, origin, ledger_position and the columns above) onto the `target`. */
export const addedTransactions = (occurrence: string, at: string): string => `
  added as (
    insert into transactions (account_id, sequence, ledger_position, origin, transaction_id,
      occurrence, transaction_date, amount, type, reason, display_note, note,
      reference, payment_type, product_code, line_item_count, tax_item_count, recorded_at)
    select target.id, sequence, ledger_position, origin, transaction_id, ${occurrence},
      transaction_date, amount, type, reason, display_note, note, reference,
      payment_type, product_code, jsonb_array_length(line_items), jsonb_array_length(tax_items),
      ${at}
    from target, sent
  ),
  line_items as (
    insert into transaction_line_items (account_id, transaction_sequence, position, start_date,
      end_date, rate_band, number_of_units, price_per_unit, net_amount, reading_at_start,
      reading_at_end)
    select target.id, sequence, position - 1, start_date, end_date, rate_band, number_of_units,
      price_per_unit, net_amount, (units ->> 0)::numeric, (units ->> 1)::numeric
    from target, sent, rows from (jsonb_to_recordset(line_items) as (start_date date,
      end_date date, rate_band text, number_of_units numeric, price_per_unit numeric,
      net_amount numeric, units jsonb)) with ordinality as item(start_date, end_date, rate_band,
      number_of_units, price_per_unit, net_amount, units, position)
  ),
  tax_items as (
    insert into transaction_tax_items (account_id, transaction_sequence, position, amount,
      tax_type, value_taxed, rate, unit_type)
    select target.id, sequence, position - 1, item.amount, tax_type, value_taxed, rate, unit_type
    from target, sent, rows from (jsonb_to_recordset(tax_items) as (amount numeric,
      tax_type text, value_taxed numeric, rate numeric, unit_type text)) with ordinality
      as item(amount, tax_type, value_taxed, rate, unit_type, position)
  )`

/** $1 supplier, $2 number. */
export const lockAccount = statement<{
  readonly id: string
  readonly last_closing_date: string | null
}>(
  "lock_account",
  `select accounts.id, (select max(last_statement_closing_date) from ledgers
     where account_id = accounts.id) as last_closing_date
   from accounts join import_processes using (id)
   where supplier = $1 and external_account_number = $2 for update of accounts`
)

/** Which of the ids are there. $1 account, $2 ids. */
export const present = statement<{ readonly transaction_id: string }>(
  "present",
  `select distinct transaction_id from transactions
   where account_id = $1 and transaction_id = any ($2::text[])`
)

/** $1 account, $2 transactions, $3 raise of the balance, $4-$5 pair, $6 at, $7-$9 who. */
export const add = statement(
  "add",
  `with changed as (
     update accounts set balance = balance + $3::numeric where id = $1 returning id
   ),
   target as (
     select id, (select coalesce(max(sequence), -1) from transactions where account_id = id) as last
     from changed
   ),
   sent as (
     select (last + n)::integer as sequence, null::integer as ledger_position,
       'post_import' as origin, entry.*
     from target, jsonb_array_elements($2::jsonb) with ordinality as t(element, n),
       jsonb_to_record(element) as entry(${transactionColumns})
   ),
   ${addedTransactions(
     `(select count(*) from transactions before where before.account_id = target.id
       and before.transaction_id = sent.transaction_id) + 1`,
     "$6"
   )},
   event as (
     insert into outbox (at, name, import_id)
     select $6, 'data_import.import_process.post_import.completed-v1', id from changed
   )
   insert into audit_log (at, organisation, api_key, request_id, action, outcome,
     import_supplier, external_account_number)
   select $6, $7, $8, $9, 'create_transactions', 'created', $4, $5 from changed`
)

/** $1 supplier, $2 after, $3 size. Each line is JSON text already. */
export const page = statement<{
  readonly external_account_number: string
  readonly line: string
}>(
  "page",
  `select external_account_number, json_build_object(
     'external_account_number', external_account_number,
     'kraken_account_number', account_number, 'account_created_at',
     to_char(account_created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))::text as line
   from import_processes
   where supplier = $1 and external_account_number > $2
   order by external_account_number limit $3`
)
