/**
 * The end of an attempt: the import becomes Imported and the account is created with everything on
 * it, in one statement. Its parts depend on `changed`, the row that the attempt still held; where
 * it held none, nothing is stored.
 */
import { DateTime, Effect } from "effect"
import type { Statement } from "effect/sql"
import { ReservationLost } from "@data-import/domain/ports/IdempotencyKeys"
import type { Completion, ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { finish } from "@data-import/domain/support/Steps"
import { accountRows } from "./AccountRows.ts"
import type { Database } from "../connection/Database.ts"
import { auditEntry, outboxEvent } from "../audit/ChangeEntries.ts"
import { noteAndStatementInserts, transactionInserts } from "./ItemInserts.ts"
import { isLost, keeping, type Keeping } from "../idempotency/KeptAnswers.ts"
import { breaks } from "../connection/SqlFailure.ts"

type Sql = Database["Service"]["sql"]
type Command = Parameters<ImportProcesses["Service"]["complete"]>[0]
type Rows = ReturnType<typeof accountRows>

const imported = (
  sql: Sql,
  { attempt, key, newAccount }: Command,
  { guard }: Keeping
): Statement.Fragment => sql`
  update import_processes
  set lease_attempt = null, lease_expires_at = null, account_number = ${newAccount.number},
    account_created_at = ${DateTime.toDateUtc(newAccount.createdAt)}
  where supplier = ${key.import_supplier}
    and external_account_number = ${key.external_account_number} and lease_attempt = ${attempt}
    ${guard}
  returning id`

const ended = (sql: Sql, { attempt, newAccount }: Command): Statement.Fragment => sql`
  update import_attempts
  set ended_at = ${DateTime.toDateUtc(newAccount.createdAt)}, outcome = 'created'
  from changed where import_id = changed.id and import_attempts.id = ${attempt}`

const account = (sql: Sql, rows: Rows): Statement.Fragment => sql`
  new_account as (
    insert into accounts (id, number, created_at, operations_team, balance, unknown_occupier,
      account_type, billing_email, billing_name, billing_sub_name, billing_customer_reference,
      date_of_sale, sales_channel, sales_subchannel, communication_preference,
      document_accessibility, transfer_balance, operations_team_name)
    select changed.id, sent.* from changed, json_to_record(${rows.account}::json) as sent(
      number text, created_at timestamptz, operations_team text, balance numeric,
      unknown_occupier boolean, account_type text, billing_email text, billing_name text,
      billing_sub_name text, billing_customer_reference text, date_of_sale date,
      sales_channel text, sales_subchannel text, communication_preference text,
      document_accessibility text, transfer_balance numeric, operations_team_name text)
  ),
  new_metadata as (
    insert into account_metadata (account_id, position, key, value)
    select changed.id, sent.* from changed, json_to_recordset(${rows.metadata}::json) as sent(
      position integer, key text, value json)
  )`

const people = (sql: Sql, rows: Rows): Statement.Fragment => sql`
  new_customers as (
    insert into customers (account_id, position, given_name, family_name, email, mobile, landline,
      date_of_birth, title, salutation, opted_into_sms, opted_into_recommended,
      opted_into_updates, opted_into_third_parties, opted_into_offers,
      is_user_psr_consent_obtained)
    select changed.id, sent.* from changed, json_to_recordset(${rows.customers}::json) as sent(
      position integer, given_name text, family_name text, email text, mobile text,
      landline text, date_of_birth date, title text, salutation text, opted_into_sms boolean,
      opted_into_recommended boolean, opted_into_updates boolean,
      opted_into_third_parties boolean, opted_into_offers boolean,
      is_user_psr_consent_obtained boolean)
  ),
  new_billing_address as (
    insert into billing_addresses (account_id, name, organization, street_address, locality,
      postal_code, country, delivery_point_identifier, structured_street_address)
    select changed.id, sent.*
    from changed, json_to_recordset(${rows.billingAddresses}::json) as sent(
      name text, organization text, street_address text, locality text, postal_code text,
      country text, delivery_point_identifier text, structured_street_address json)
  ),
  new_billing_options as (
    insert into billing_options (account_id, period_length, period_start_day,
      period_start_month, use_industry_billing)
    select changed.id, sent.* from changed, json_to_recordset(${rows.billingOptions}::json) as sent(
      period_length text, period_start_day integer, period_start_month integer,
      use_industry_billing boolean)
  ),
  new_supply_addresses as (
    insert into supply_addresses (account_id, position, supply_address1, supply_postcode,
      customer_at_supply_address_from_date, primary_place_of_residence_since)
    select changed.id, sent.*
    from changed, json_to_recordset(${rows.supplyAddresses}::json) as sent(
      position integer, supply_address1 text, supply_postcode text,
      customer_at_supply_address_from_date date, primary_place_of_residence_since date)
  )`

const ledgers = (sql: Sql, rows: Rows): Statement.Fragment => sql`
  new_ledgers as (
    insert into ledgers (account_id, position, ledger_code, last_statement_balance,
      last_statement_closing_date, ledger_balance)
    select changed.id, sent.* from changed, json_to_recordset(${rows.ledgers}::json) as sent(
      position integer, ledger_code text, last_statement_balance numeric,
      last_statement_closing_date date, ledger_balance numeric)
  )`

const completeEvent = "data_import.import_process.complete-v1"

/**
 * Everything in one statement, which gives no row where the attempt no longer holds the import, and
 * one without an id where the reservation of its key is lost.
 */
const statement = (sql: Sql, command: Command) => {
  const { caller, keep, key, newAccount } = command
  const { createdAt: at } = newAccount
  const kept = keep && { reservation: keep.reservation, text: finish(keep.textOf(newAccount)), at }
  const parts = keeping(sql, kept ?? null)
  const rows = accountRows(newAccount)
  const recordedAt = DateTime.toDateUtc(at)
  return sql`
    with ${parts.before}
    changed as (${imported(sql, command, parts)}),
    ended as (${ended(sql, command)}),
    ${account(sql, rows)},
    ${people(sql, rows)},
    ${ledgers(sql, rows)},
    target as (select id, 0 as transactions, 0 as notes, 0 as statements from changed),
    ${transactionInserts(sql, rows, recordedAt, sql`1`)},
    ${noteAndStatementInserts(sql, rows, recordedAt, "account_payload")},
    event as (${outboxEvent(sql, { at, name: completeEvent, codes: [] })}),
    audit as (${auditEntry(sql, { at, caller, action: "process", outcome: "created", key })})
    ${parts.after}
    select id from changed ${parts.lost}`
}

export const complete = ({ sql }: Database["Service"], command: Command) =>
  statement(sql, command).pipe(
    Effect.filterOrFail(
      (rows) => !isLost(rows),
      () => new ReservationLost()
    ),
    Effect.map((rows): Completion => ({ _tag: rows.length > 0 ? "Completed" : "LeaseLost" })),
    Effect.catchIf(breaks("accounts_number_once"), () =>
      Effect.succeed<Completion>({ _tag: "NumberTaken" })
    )
  )

/** What ends a transaction that is to leave nothing behind, with its outcome. */
interface RolledBack {
  readonly _tag: "RolledBack"
  readonly outcome: Completion
}

/** A rehearsal keeps no answer, so it has no reservation to lose. */
export const dryRun = (database: Database["Service"], command: Omit<Command, "keep">) =>
  complete(database, command).pipe(
    Effect.flatMap((outcome) => Effect.fail<RolledBack>({ _tag: "RolledBack", outcome })),
    database.sql.withTransaction,
    Effect.catchTags({
      RolledBack: ({ outcome }) => Effect.succeed(outcome),
      ReservationLost: Effect.die
    })
  )
