/** Reads the whole content of an account as one value. */
import { Effect, Option, Schema } from "effect"
import { type AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { AccountNote } from "@data-import/domain/accounts/AccountChange"
import type { AccountDescription } from "@data-import/domain/accounts/AccountDescription"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
import { type Database, rowsOf } from "../connection/Database.ts"
import * as tables from "../tables/AccountTables.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import { rowDecoder, schemaOf, selected, withoutNulls } from "../tables/Table.ts"
import { allTransactions, readHeads, readTransactions } from "./AccountItemReading.ts"
import { allNotes, allStatements, readNotes, readStatements } from "./AccountLists.ts"

type Sql = Database["Service"]["sql"]

const accountRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    supplier: SupplierCode,
    external_account_number: ExternalAccountNumber,
    created_at: Schema.DateTimeUtcFromDate,
    operations_team: Schema.String,
    balance: Schema.BigDecimalFromString,
    fields: schemaOf(tables.accountColumns)
  })
)

const readMetadata = rowDecoder(tables.metadata, tables.metadataColumns)
const readSupplyAddresses = rowDecoder(tables.supplyAddresses, tables.supplyAddressColumns)
const readLedgers = rowDecoder(tables.ledgers, tables.ledgerColumns)
const readBillingAddresses = rowDecoder(tables.billingAddresses, tables.billingAddressColumns)
const readBillingOptions = rowDecoder(tables.billingOptions, tables.billingOptionColumns)

const customerRows = rowsOf(
  Schema.Struct({
    row: schemaOf(tables.customerColumns),
    customer_preferences: schemaOf(tables.preferenceColumns)
  })
)

const readCustomers = (sql: Sql, id: bigint) =>
  Effect.map(
    customerRows(sql`
      select ${sql.literal(withoutNulls(tables.customerColumns))} as row,
        ${sql.literal(selected(tables.preferenceColumns))} as customer_preferences
      from customers where account_id = ${id} order by position`),
    (rows) => rows.map(({ customer_preferences, row }) => ({ ...row, customer_preferences }))
  )

const instructionRows = rowsOf(
  Schema.Struct({
    instruction: schemaOf(itemTables.instructionColumns),
    details: itemTables.InstructionDetails,
    endedAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
  })
)

const readInstructions = (sql: Sql, id: bigint) =>
  instructionRows(sql`
    select ${sql.literal(selected(itemTables.instructionColumns))} as instruction, details,
      ended_at as "endedAt"
    from payment_instructions where account_id = ${id} order by sequence`)

type ReadNote = Effect.Success<ReturnType<typeof readNotes>>[number]

const noteOf = ({ documents, note }: ReadNote): AccountNote => ({
  ...note,
  ...(documents && { document_paths: documents.map(({ document_path }) => ({ document_path })) })
})

interface NamedDocument {
  readonly path: string | undefined
  readonly document_size?: number
  readonly document_etag?: string
  readonly document_checksum?: string
}

/** The document store's finding for each document that was looked up. */
const documentsOf = (named: ReadonlyArray<NamedDocument>) =>
  new Map(
    named.flatMap(
      ({ document_checksum: checksum = null, document_etag: etag = null, document_size, path }) =>
        path === undefined || document_size === undefined
          ? []
          : [[relativePath(path), { size: document_size, etag, checksum }] as const]
    )
  )

/** The account of this number with all its items; None if it does not exist. */
export const readDescription = Effect.fnUntraced(function* (sql: Sql, number: AccountNumber) {
  const [row] = yield* accountRows(sql`
    select accounts.id, supplier, external_account_number, created_at, operations_team,
      balance::text, ${sql.literal(withoutNulls(tables.accountColumns))} as fields
    from accounts join import_processes on import_processes.id = import_id
    where number = ${number}`)
  if (row === undefined) return Option.none<AccountDescription>()
  const { balance, created_at, external_account_number, fields, id, operations_team } = row
  const [billing_address] = yield* readBillingAddresses(sql, id)
  const [account_billing_options] = yield* readBillingOptions(sql, id)
  const heads = yield* readHeads(sql, allTransactions(sql, id))
  const notes = yield* readNotes(sql, allNotes(sql, id))
  const statements = yield* readStatements(sql, allStatements(sql, id))
  return Option.some<AccountDescription>({
    key: { import_supplier: row.supplier, external_account_number },
    number,
    createdAt: created_at,
    operationsTeam: operations_team,
    balance,
    fields: {
      ...fields,
      ...(billing_address && { billing_address }),
      ...(account_billing_options && { account_billing_options }),
      metadata: yield* readMetadata(sql, id),
      supply_addresses: yield* readSupplyAddresses(sql, id)
    },
    customers: yield* readCustomers(sql, id),
    ledgers: yield* readLedgers(sql, id),
    transactions: yield* readTransactions(sql, id, heads),
    notes: notes.map(noteOf),
    statements: statements.map(({ origin, statement }) => ({ origin, statement })),
    instructions: yield* readInstructions(sql, id),
    documents: documentsOf([
      ...notes.flatMap(({ documents = [] }) =>
        documents.map(({ document_path: path, ...document }) => ({ path, ...document }))
      ),
      ...statements.map(({ document, statement: { statement_path: path } }) => ({
        path,
        ...document
      }))
    ])
  })
})
