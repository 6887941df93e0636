/** Everything on an account, read for the operator. */
import type { StoredDocument } from "@data-import/domain/account/StoredDocument"
import { Effect, Option, Schema } from "effect"
import { type AccountNumber, ExternalAccountNumber } from "@data-import/domain/account/Account"
import type { AccountDescription } from "@data-import/domain/account/AccountDescription"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { Instruction, noteOf } from "./AccountReading.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import {
  allNotes,
  allStatements,
  allTransactions,
  Day,
  Decimal,
  readHeads,
  readNotes,
  readStatements,
  readTransactions
} from "./ItemReading.ts"

type Sql = Database["Service"]["sql"]

const optional = Schema.optionalKey

const accountRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    supplier: SupplierCode,
    external_account_number: ExternalAccountNumber,
    created_at: Schema.DateTimeUtcFromDate,
    operations_team: Schema.String,
    balance: Decimal
  })
)

const customerRows = rowsOf(
  Schema.Struct({
    row: Schema.Struct({
      given_name: optional(Schema.String),
      family_name: optional(Schema.String),
      email: optional(Schema.String),
      mobile: optional(Schema.String),
      landline: optional(Schema.String),
      date_of_birth: optional(Day),
      title: optional(Schema.String),
      salutation: optional(Schema.String)
    }),
    customer_preferences: Schema.Struct({
      opted_into_sms: Schema.Boolean,
      opted_into_recommended: Schema.Boolean,
      opted_into_updates: Schema.Boolean,
      opted_into_third_parties: Schema.Boolean,
      opted_into_offers: Schema.Boolean,
      is_user_psr_consent_obtained: Schema.NullOr(Schema.Boolean)
    })
  })
)

const customers = (sql: Sql, id: bigint) =>
  Effect.map(
    customerRows(sql`
      select json_strip_nulls(json_build_object('given_name', given_name,
          'family_name', family_name, 'email', email, 'mobile', mobile, 'landline', landline,
          'date_of_birth', date_of_birth, 'title', title, 'salutation', salutation)) as row,
        json_build_object('opted_into_sms', opted_into_sms,
          'opted_into_recommended', opted_into_recommended,
          'opted_into_updates', opted_into_updates,
          'opted_into_third_parties', opted_into_third_parties,
          'opted_into_offers', opted_into_offers,
          'is_user_psr_consent_obtained', is_user_psr_consent_obtained) as customer_preferences
      from customers where account_id = ${id} order by position`),
    (rows) => rows.map(({ customer_preferences, row }) => ({ ...row, customer_preferences }))
  )

const ledgerRows = rowsOf(
  Schema.Struct({
    row: Schema.Struct({
      ledger_code: Schema.String,
      last_statement_balance: optional(Decimal),
      last_statement_closing_date: optional(Day),
      ledger_balance: optional(Decimal)
    })
  })
)

const ledgers = (sql: Sql, id: bigint) =>
  Effect.map(
    ledgerRows(sql`
      select json_strip_nulls(json_build_object('ledger_code', ledger_code,
        'last_statement_balance', last_statement_balance::text,
        'last_statement_closing_date', last_statement_closing_date,
        'ledger_balance', ledger_balance::text)) as row
      from ledgers where account_id = ${id} order by position`),
    (rows) => rows.map(({ row }) => row)
  )

const instructionRows = rowsOf(
  Schema.Struct({
    instruction: Instruction,
    endedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
    details: Schema.Union([
      Schema.TaggedStruct("Card", {
        brand: Schema.String,
        lastFour: Schema.String,
        expiryMonth: Schema.Number,
        expiryYear: Schema.Number
      }),
      Schema.TaggedStruct("DirectDebit", {
        bankName: Schema.NullOr(Schema.String),
        status: Schema.String
      })
    ])
  })
)

const instructions = (sql: Sql, id: bigint) =>
  instructionRows(sql`
    select json_build_object('vendor', vendor, 'reference', reference, 'type', type)
      as instruction, details, ended_at as "endedAt"
    from payment_instructions where account_id = ${id} order by sequence`)

interface Filed extends Partial<Omit<StoredDocument, "size">> {
  readonly path: string | undefined
  readonly size?: number
}

/** What the store said of each document that it was asked for. */
const documentsOf = (filed: ReadonlyArray<Filed>) =>
  new Map(
    filed.flatMap(({ checksum = null, etag = null, path, size }) =>
      path === undefined || size === undefined
        ? []
        : [[relativePath(path), { size, etag, checksum }] as const]
    )
  )

/** The account of this number with everything on it, if there is one. */
export const readDescription = Effect.fnUntraced(function* (sql: Sql, number: AccountNumber) {
  const [row] = yield* accountRows(sql`
    select accounts.id, supplier, external_account_number, created_at, operations_team,
      balance::text
    from accounts join import_processes using (id) where number = ${number}`)
  if (row === undefined) return Option.none<AccountDescription>()
  const { balance, created_at, external_account_number, id, operations_team, supplier } = row
  const heads = yield* readHeads(sql, allTransactions(sql, id))
  const notes = yield* readNotes(sql, allNotes(sql, id))
  const statements = yield* readStatements(sql, allStatements(sql, id))
  return Option.some<AccountDescription>({
    key: { import_supplier: supplier, external_account_number },
    number,
    createdAt: created_at,
    operationsTeam: operations_team,
    balance,
    customers: yield* customers(sql, id),
    ledgers: yield* ledgers(sql, id),
    transactions: yield* readTransactions(sql, id, heads),
    notes: notes.map(noteOf),
    statements: statements.map(({ origin, statement }) => ({ origin, statement })),
    instructions: yield* instructions(sql, id),
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
