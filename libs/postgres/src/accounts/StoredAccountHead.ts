/**
 * Reads what changes of an account in one statement: the balance, the payment instructions, and how
 * long each list is; and the fields that are no lists.
 */
import { Effect, Option, Schema } from "effect"
import { type AccountNumber, ExternalAccountNumber } from "@data-import/domain/account/Account"
import { isSent, type Omitted, withoutOmitted } from "@data-import/domain/account/Omissions"
import { SupplierCode, wireCode } from "@data-import/domain/organisation/Supplier"
import type { PayloadFields } from "@data-import/domain/ports/StoredAccount"
import { type Database, rowsOf } from "../connection/Database.ts"
import { instant, texts } from "../tables/Column.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import * as tables from "../tables/AccountTables.ts"
import { type Columns, schemaOf, selected, withoutNulls } from "../tables/Table.ts"

type Sql = Database["Service"]["sql"]

/** The names of the fields of a row that were not sent. */
export const OmittedNames = Schema.NullOr(texts.schema)

/** A list of transactions: those of a list of a ledger, or those that were added. */
const Postings = Schema.Struct({
  ledger: Schema.NullOr(Schema.Int),
  origin: itemTables.transactions.columns.origin.schema,
  first: Schema.Int,
  count: Schema.Int,
  effect: Schema.BigDecimalFromString
})
export type Postings = typeof Postings.Type

const headRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    supplier: SupplierCode,
    external_account_number: ExternalAccountNumber,
    created_at: Schema.DateTimeUtcFromDate,
    operations_team: Schema.String,
    balance: Schema.BigDecimalFromString,
    omitted: OmittedNames,
    fields: schemaOf(tables.accountColumns),
    address: Schema.NullOr(
      Schema.Struct({ omitted: OmittedNames, row: schemaOf(tables.billingAddressColumns) })
    ),
    options: Schema.NullOr(
      Schema.Struct({ omitted: OmittedNames, row: schemaOf(tables.billingOptionColumns) })
    ),
    counts: Schema.Struct({
      customers: Schema.Int,
      metadata: Schema.Int,
      supplyAddresses: Schema.Int,
      notes: Schema.Int,
      payloadNotes: Schema.NullOr(Schema.Int),
      noteDocuments: Schema.Int,
      statements: Schema.Int,
      payloadStatements: Schema.Int,
      statementDocuments: Schema.Int
    }),
    postings: Schema.Array(Postings),
    instructions: Schema.Array(
      Schema.Struct({
        instruction: schemaOf(itemTables.instructionColumns),
        details: itemTables.InstructionDetails,
        endedAt: Schema.NullOr(instant.schema)
      })
    )
  })
)
export type Head = Effect.Success<ReturnType<typeof headRows>>[number]

/** SQL for the number of rows of a table that are on the account. */
const countOf = (table: string, condition = "true") =>
  `(select count(*) from ${table} where account_id = accounts.id and ${condition})`

const counts = `json_build_object(
  'customers', ${countOf("customers")},
  'metadata', ${countOf("account_metadata")},
  'supplyAddresses', ${countOf("supply_addresses")},
  'notes', ${countOf("notes")},
  'payloadNotes', payload_notes,
  'noteDocuments', ${countOf("note_documents")},
  'statements', ${countOf("statements")},
  'payloadStatements', ${countOf("statements", "origin = 'account_payload'")},
  'statementDocuments', ${countOf("statements", "statement_path is not null")})`

const sentRow = (table: string, columns: Columns) => `(
  select json_build_object('omitted', omitted, 'row', ${withoutNulls(columns)})
  from ${table} as sent where account_id = accounts.id)`

const postings = `coalesce((
  select json_agg(json_build_object('ledger', ledger_position, 'origin', origin, 'first', first,
    'count', count, 'effect', effect::text) order by first)
  from (
    select ledger_position, origin, min(sequence) as first, count(*) as count,
      sum(effect_on_balance) as effect
    from transactions where account_id = accounts.id group by ledger_position, origin
  ) as posted), '[]')`

const instructions = `coalesce((
  select json_agg(json_build_object('instruction', ${selected(itemTables.instructionColumns)},
    'details', details, 'endedAt', ended_at) order by sequence)
  from payment_instructions where account_id = accounts.id), '[]')`

/** The account of this number; no row if it does not exist. */
export const readHead = (sql: Sql, number: AccountNumber) =>
  headRows(sql`
    select accounts.id, supplier, external_account_number, created_at, operations_team,
      balance::text, accounts.omitted,
      ${sql.literal(withoutNulls(tables.accountColumns))} as fields,
      ${sql.literal(sentRow("billing_addresses", tables.billingAddressColumns))} as address,
      ${sql.literal(sentRow("billing_options", tables.billingOptionColumns))} as options,
      ${sql.literal(counts)} as counts, ${sql.literal(postings)} as postings,
      ${sql.literal(instructions)} as instructions
    from accounts join import_processes using (id) where number = ${number}`)

const locatedRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, external_account_number: ExternalAccountNumber })
)

/** The import that created the account, unless it was erased. */
export const locate = (sql: Sql, number: AccountNumber) =>
  Effect.map(
    locatedRows(sql`
      select supplier, external_account_number
      from accounts join import_processes using (id)
      where number = ${number} and account_number is not null`),
    ([row]) =>
      Option.map(Option.fromUndefinedOr(row), ({ external_account_number, supplier }) => ({
        import_supplier: supplier,
        external_account_number
      }))
  )

/** The row as it was sent. The named field is null where it was sent and is not stored. */
const asSent = <A extends object, Name extends keyof A & string>(
  { omitted, row }: { readonly omitted: Omitted; readonly row: A },
  nullable: Name
): A => {
  const sent = withoutOmitted(row, omitted)
  return isSent(nullable, omitted) ? { [nullable]: null, ...sent } : sent
}

/** The fields of the payload that are no lists. */
export const fieldsOf = (head: Head): PayloadFields => {
  const { address, external_account_number, fields, omitted, options, supplier } = head
  return {
    import_supplier: wireCode(supplier),
    external_account_number,
    ...withoutOmitted(fields, omitted),
    ...(address && { billing_address: asSent(address, "structured_street_address") }),
    ...(options && { account_billing_options: asSent(options, "period_start_month") })
  }
}
