/**
 * Reads accounts in one statement: what can change (the balance, the payment instructions and the
 * length of each list), the fields that are not lists, and for small accounts the lists too.
 */
import { Effect, Option, Schema } from "effect"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { isSent, type Omitted, withoutOmitted } from "@data-import/domain/accounts/Omissions"
import { SupplierCode, wireCode } from "@data-import/domain/suppliers/Supplier"
import type { PayloadFields } from "@data-import/domain/accounts/StoredAccount"
import { type Database, rowsOf } from "../connection/Database.ts"
import { instant } from "../tables/Column.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import * as tables from "../tables/AccountTables.ts"
import { type Columns, schemaOf, selected, withoutNulls } from "../tables/Table.ts"
import { transactions } from "./AccountItemReading.ts"
import * as lists from "./AccountLists.ts"

type Sql = Database["Service"]["sql"]

/** The lists of an account by their names. */
const accountLists = {
  customers: lists.customers,
  metadata: lists.metadata,
  supplyAddresses: lists.supplyAddresses,
  ledgers: lists.ledgers,
  notes: lists.notes,
  statements: lists.statements,
  transactions
}
type AccountLists = typeof accountLists

export type ListName = keyof AccountLists
export type RowOf<Name extends ListName> = AccountLists[Name]["schema"]["Type"]

const listNames = Object.keys(accountLists) as ReadonlyArray<ListName>

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
    place: Schema.Int,
    next: Schema.NullOr(Schema.Int),
    id: Schema.BigInt,
    number: AccountNumber,
    supplier: SupplierCode,
    external_account_number: ExternalAccountNumber,
    created_at: Schema.DateTimeUtcFromDate,
    reverted_at: Schema.NullOr(Schema.DateTimeUtcFromDate),
    operations_team: Schema.String,
    balance: Schema.BigDecimalFromString,
    omitted: lists.OmittedNames,
    fields: schemaOf(tables.accountColumns),
    address: Schema.NullOr(
      Schema.Struct({ omitted: lists.OmittedNames, row: schemaOf(tables.billingAddressColumns) })
    ),
    options: Schema.NullOr(
      Schema.Struct({ omitted: lists.OmittedNames, row: schemaOf(tables.billingOptionColumns) })
    ),
    counts: Schema.Struct({
      customers: Schema.Int,
      metadata: Schema.Int,
      supplyAddresses: Schema.Int,
      ledgers: Schema.Int,
      notes: Schema.Int,
      payloadNotes: Schema.Int,
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
    ),
    lists: Schema.NullOr(
      Schema.Struct({
        customers: Schema.Array(lists.customers.schema),
        metadata: Schema.Array(lists.metadata.schema),
        supplyAddresses: Schema.Array(lists.supplyAddresses.schema),
        ledgers: Schema.Array(lists.ledgers.schema),
        notes: Schema.Array(lists.notes.schema),
        statements: Schema.Array(lists.statements.schema),
        transactions: Schema.Array(transactions.schema)
      })
    )
  })
)
export type Head = Effect.Success<ReturnType<typeof headRows>>[number]

/** SQL for the number of rows in a list of `account`, and their bytes. */
const sizeOf = (name: ListName): string => {
  const { bytes, table } = accountLists[name]
  return `cross join lateral (
    select count(*) as count, coalesce(sum(${bytes}), 0)::bigint as bytes
    from ${table} as held where account_id = account.id) as "${name}"`
}

/** SQL for the bytes of an account without its lists and its address. */
const accountBytes = "2000"

const bytes = [accountBytes, "address.bytes", ...listNames.map((name) => `"${name}".bytes`)].join(
  " + "
)

const countOf = (table: string, condition: string): string =>
  `(select count(*) from ${table} where account_id = account.id and ${condition})`

const counts = `json_build_object(
  ${listNames.map((name) => `'${name}', "${name}".count`).join(", ")},
  'payloadNotes', payload_notes,
  'noteDocuments', ${countOf("note_documents", "true")},
  'payloadStatements', ${countOf("statements", "origin = 'account_payload'")},
  'statementDocuments', ${countOf("statements", "statement_path is not null")})`

const wholeLists = `json_build_object(${listNames
  .map((name) => `'${name}', ${lists.wholeList(accountLists[name], "account.id")}`)
  .join(", ")})`

const sentRow = (table: string, columns: Columns) => `(
  select json_build_object('omitted', omitted, 'row', ${withoutNulls(columns)})
  from ${table} as sent where account_id = account.id)`

const postings = `coalesce((
  select json_agg(json_build_object('ledger', ledger_position, 'origin', origin, 'first', first,
    'count', count, 'effect', effect::text) order by first)
  from (
    select ledger_position, origin, min(sequence) as first, count(*) as count,
      sum(effect_on_balance) as effect
    from transactions where account_id = account.id group by ledger_position, origin
  ) as posted), '[]')`

const instructions = `coalesce((
  select json_agg(json_build_object('instruction', ${selected(itemTables.instructionColumns)},
    'details', details, 'endedAt', ended_at) order by sequence)
  from payment_instructions where account_id = account.id), '[]')`

/** An account of at most this many bytes is read whole. */
const smallBytes = 64 * 1024

/**
 * The accounts one after the other, each with its size, until they fill a page. A large account is
 * thus measured once, and not again with every page before it.
 */
const sized = (sql: Sql, numbers: ReadonlyArray<AccountNumber>) => sql`
  sized (place, id, counts, account_bytes, earlier_bytes) as (
      select 0, null::bigint, null::json, 0::bigint, 0::bigint
    union all
      select sized.place + 1, found.id, found.counts, coalesce(found.bytes, 0),
        sized.earlier_bytes + sized.account_bytes
      from sized left join lateral (
        select account.id, ${sql.literal(counts)} as counts, ${sql.literal(bytes)} as bytes
        from (
          select id, payload_notes from accounts
          where number = (${numbers}::text[])[sized.place + 1] limit 1) as account
        cross join lateral (
          select coalesce(sum(octet_length(structured_street_address::text)), 0)::bigint as bytes
          from billing_addresses where account_id = account.id) as address
        ${sql.literal(listNames.map(sizeOf).join("\n"))}
      ) as found on true
      where sized.place < ${numbers.length}
        and sized.earlier_bytes + sized.account_bytes < ${lists.pageBytes}
  )`

/**
 * The first accounts of these numbers: at least one, and as many as fill a page. `next` is the
 * position of the next number, from 1; null if there is none. Each account is a separate lookup;
 * see `firstTransactions`.
 */
export const readHeads = (sql: Sql, numbers: ReadonlyArray<AccountNumber>) =>
  headRows(sql`
    with recursive ${sized(sql, numbers)}
    select place, (select max(place) + 1 from sized having max(place) < ${numbers.length}) as next,
      account.id, number, supplier, external_account_number, created_at, reverted_at,
      operations_team,
      balance::text, omitted, ${sql.literal(withoutNulls(tables.accountColumns))} as fields,
      ${sql.literal(sentRow("billing_addresses", tables.billingAddressColumns))} as address,
      ${sql.literal(sentRow("billing_options", tables.billingOptionColumns))} as options,
      counts, ${sql.literal(postings)} as postings, ${sql.literal(instructions)} as instructions,
      case when account_bytes <= ${smallBytes} then ${sql.literal(wholeLists)} end as lists
    from sized
    cross join lateral (select * from accounts where id = sized.id limit 1) as account
    cross join lateral (
      select supplier, external_account_number from import_processes
      where id = account.import_id limit 1) as process
    order by place`)

const locatedRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, external_account_number: ExternalAccountNumber })
)

/** The import that created the account, which may have been reverted, unless it was erased. */
export const locate = (sql: Sql, number: AccountNumber) =>
  Effect.map(
    locatedRows(sql`
      select supplier, external_account_number
      from accounts join import_processes on import_processes.id = import_id
      where number = ${number} and import_processes.erased_at is null`),
    ([row]) =>
      Option.map(Option.fromUndefinedOr(row), ({ external_account_number, supplier }) => ({
        import_supplier: supplier,
        external_account_number
      }))
  )

/** The row as it was sent. The named field is null if it was sent and is not stored. */
const asSent = <A extends object, Name extends keyof A & string>(
  { omitted, row }: { readonly omitted: Omitted; readonly row: A },
  nullable: Name
): A => {
  const sent = withoutOmitted(row, omitted)
  return isSent(nullable, omitted) ? { [nullable]: null, ...sent } : sent
}

/** The fields of the payload that are not lists. */
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
