/** The SQL that makes an account of a staged payload: everything in one statement. */
import { addedTransactions, statement, transactionColumns } from "./Statements.ts"

/** The rows of a list in the payload, numbered from 0. */
const rowsOf = (list: string, columns: string): string => {
  const names = columns.split(", ").map((column) => column.split(" ")[0])
  return `rows from (jsonb_to_recordset(p -> '${list}') as (${columns}))
    with ordinality as sent(${names.join(", ")}, n)`
}

const customerColumns =
  "given_name text, family_name text, email text, mobile text, landline text, " +
  "date_of_birth date, title text, salutation text, customer_preferences jsonb"

const preference = (name: string, otherwise: boolean): string =>
  `coalesce((customer_preferences -> '${name}')::boolean, ${otherwise})`

const people = `
  customers as (
    insert into customers (account_id, position, given_name, family_name, email, mobile, landline,
      date_of_birth, title, salutation, opted_into_sms, opted_into_recommended,
      opted_into_updates, opted_into_third_parties, opted_into_offers,
      is_user_psr_consent_obtained)
    select id, n - 1, given_name, family_name, email, mobile, landline, date_of_birth, title,
      salutation, ${preference("opted_into_sms", false)},
      ${preference("opted_into_recommended", true)}, ${preference("opted_into_updates", false)},
      ${preference("opted_into_third_parties", false)}, ${preference("opted_into_offers", false)},
      case when customer_preferences ? 'is_user_psr_consent_obtained'
        then (customer_preferences ->> 'is_user_psr_consent_obtained')::boolean else false end
    from account, ${rowsOf("customers", customerColumns)}
  ),
  billing_address as (
    insert into billing_addresses (account_id, name, organization, street_address, locality,
      postal_code, country, delivery_point_identifier, structured_street_address)
    select account.id, sent.*,
      nullif(($6::json #> '{billing_address,structured_street_address}')::text, 'null')::json
    from account, jsonb_to_record(p -> 'billing_address') as sent(name text, organization text,
      street_address text, locality text, postal_code text, country text,
      delivery_point_identifier text)
    where p ? 'billing_address'
  ),
  billing_options as (
    insert into billing_options (account_id, period_length, period_start_day, period_start_month,
      use_industry_billing)
    select account.id, period_length, period_start_day, period_start_month,
      coalesce(use_industry_billing, false)
    from account, jsonb_to_record(p -> 'account_billing_options') as sent(period_length text,
      period_start_day integer, period_start_month integer, use_industry_billing boolean)
    where p ? 'account_billing_options'
  ),
  supply_addresses as (
    insert into supply_addresses (account_id, position, supply_address1, supply_postcode,
      customer_at_supply_address_from_date, primary_place_of_residence_since)
    select id, n - 1, supply_address1, supply_postcode, customer_at_supply_address_from_date,
      primary_place_of_residence_since
    from account, ${rowsOf(
      "supply_addresses",
      "supply_address1 text, supply_postcode text, customer_at_supply_address_from_date date, " +
        "primary_place_of_residence_since date"
    )}
  ),
  metadata as (
    insert into account_metadata (account_id, position, key, value)
    select id, n - 1, entry ->> 'key', entry -> 'value'
    from account, json_array_elements($6::json -> 'metadata') with ordinality as sent(entry, n)
  )`

const papers = `
  notes as (
    insert into notes (account_id, sequence, body, created_at, is_pinned, unpin_at)
    select id, n - 1, body, coalesce(created_at, $8), coalesce(is_pinned, false), unpin_at
    from account, ${rowsOf(
      "notes",
      "body text, created_at timestamptz, is_pinned boolean, unpin_at timestamptz"
    )}
  ),
  note_documents as (
    insert into note_documents (account_id, note_sequence, position, document_path)
    select id, n - 1, position - 1, document ->> 'document_path'
    from account, ${rowsOf("notes", "document_paths jsonb")},
      jsonb_array_elements(document_paths) with ordinality as path(document, position)
  ),
  statements as (
    insert into statements (account_id, sequence, origin, recorded_at, statement_id,
      bill_period_from_date, bill_period_to_date, statement_path)
    select id, n - 1, 'account_payload', $8, statement_id, bill_period_from_date,
      bill_period_to_date, statement_path
    from account, ${rowsOf(
      "statements",
      "statement_id text, bill_period_from_date date, bill_period_to_date date, statement_path text"
    )}
  )`

const ledgers = `
  ledgers as (
    insert into ledgers (account_id, position, ledger_code, last_statement_balance,
      last_statement_closing_date, ledger_balance)
    select id, n - 1, ledger_code, last_statement_balance, last_statement_closing_date,
      ledger_balance
    from account, ${rowsOf(
      "ledgers",
      "ledger_code text, last_statement_balance numeric, last_statement_closing_date date, " +
        "ledger_balance numeric"
    )}
  ),
  target as (select id from account),
  sent as (
    select (row_number() over (order by ledger, list, position))::integer - 1 as sequence,
      ledger - 1 as ledger_position, origin, entry.*
    from account, jsonb_array_elements(p -> 'ledgers') with ordinality as l(fields, ledger),
      lateral (values (1, 'historical_statement', fields -> 'historical_statement_transactions'),
        (2, 'current_statement', fields -> 'current_statement_transactions')
      ) as lists(list, origin, elements),
      jsonb_array_elements(elements) with ordinality as t(element, position),
      jsonb_to_record(element) as entry(${transactionColumns})
  ),
  ${addedTransactions("1", "$8")}`

/**
 * The whole account in one statement, from the payload itself. $1 supplier, $2 number, $3 attempt,
 * $4 account number, $5 team, $6 payload, $7 balance, $8 at, $9-$11 who.
 */
export const complete = statement(
  "complete",
  `with changed as (
     update import_processes set lease_attempt = null, lease_expires_at = null,
       account_number = $4, account_created_at = $8
     where supplier = $1 and external_account_number = $2 and lease_attempt = $3
     returning id
   ),
   ended as (
     update import_attempts set ended_at = $8, outcome = 'created'
     from changed where import_id = changed.id and import_attempts.id = $3
   ),
   account as materialized (select id, $6::jsonb as p from changed),
   new_account as (
     insert into accounts (id, number, created_at, operations_team, balance, unknown_occupier,
       account_type, billing_email, billing_name, billing_sub_name, billing_customer_reference,
       date_of_sale, sales_channel, sales_subchannel, communication_preference,
       document_accessibility, transfer_balance, operations_team_name)
     select account.id, $4, $8, $5, $7::numeric, coalesce(unknown_occupier, false),
       coalesce(account_type, 'DOMESTIC'), billing_email, billing_name, billing_sub_name,
       billing_customer_reference, date_of_sale, coalesce(sales_channel, 'DIRECT'),
       sales_subchannel, coalesce(communication_preference, 'ONLINE'), document_accessibility,
       transfer_balance, operations_team_name
     from account, jsonb_to_record(p) as sent(unknown_occupier boolean, account_type text,
       billing_email text, billing_name text, billing_sub_name text,
       billing_customer_reference text, date_of_sale date, sales_channel text,
       sales_subchannel text, communication_preference text, document_accessibility text,
       transfer_balance numeric, operations_team_name text)
   ),
   ${people},
   ${ledgers},
   ${papers},
   event as (
     insert into outbox (at, name, import_id)
     select $8, 'data_import.import_process.complete-v1', id from changed
   ),
   audit as (
     insert into audit_log (at, organisation, api_key, request_id, action, outcome,
       import_supplier, external_account_number)
     select $8, $9, $10, $11, 'process', 'created', $1, $2 from changed
   )
   select id from changed`
)
