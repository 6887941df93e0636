/**
 * The whole content of an account as one value, with the defaults of what was not sent, and as JSON
 * with the names of the wire. It is for tests and tools that compare accounts; clients and the
 * operator read a `StoredAccount`.
 */
import type { FoundDocuments } from "./StoredDocument.ts"
import { type BigDecimal, type DateTime, Schema, Struct } from "effect"
import { Account, type AccountNumber, defaults } from "./Account.ts"
import type {
  AccountChange,
  AccountNote,
  AccountStatement,
  AddedTransaction
} from "./AccountChange.ts"
import { BillingAddress, BillingOptions } from "./Billing.ts"
import { type Customer, defaultPreferences } from "./Customer.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { relativePath } from "../schema/DocumentPath.ts"
import { formatInstant } from "../schema/Field.ts"
import { encoderOf } from "../schema/Encoder.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { Ledger } from "./Ledger.ts"
import { SupplyAddress } from "./SupplyAddress.ts"
import { encodeTransaction } from "./Transaction.ts"

/** The payload fields that a description has elsewhere: in its key, or as a separate list. */
const describedElsewhere = [
  "import_supplier",
  "external_account_number",
  "customers",
  "ledgers",
  "notes",
  "statements"
] as const

/** The payload fields that nothing changes after the import. */
export const OwnFields = Schema.Struct(Struct.omit(Account.fields, describedElsewhere))
export type OwnFields = typeof OwnFields.Type

/** The account's own fields, with defaults for those that were not sent. */
export const ownFieldsOf = (account: Account) => {
  const { account_billing_options: options, ...own } = Struct.omit(account, describedElsewhere)
  return {
    ...defaults,
    metadata: [],
    supply_addresses: [],
    ...own,
    ...(options && { account_billing_options: { use_industry_billing: false, ...options } })
  } satisfies OwnFields
}

/** A transaction with its ledger; null for one that was added after the import. */
export interface DescribedTransaction extends AddedTransaction {
  readonly ledgerCode: string | null
}

/** A payment instruction with the time of its end, or null while it is active. */
export type DescribedInstruction = NonNullable<AccountChange["instruction"]> & {
  readonly endedAt: DateTime.Utc | null
}

/** Lists are in the order in which their elements were added. */
export interface AccountDescription {
  readonly key: ImportKey
  readonly number: AccountNumber
  readonly createdAt: DateTime.Utc
  readonly operationsTeam: string
  readonly balance: BigDecimal.BigDecimal
  readonly fields: OwnFields
  readonly customers: ReadonlyArray<Customer>
  /** Without their transactions. */
  readonly ledgers: ReadonlyArray<Ledger>
  readonly transactions: ReadonlyArray<DescribedTransaction>
  readonly notes: ReadonlyArray<AccountNote>
  readonly statements: ReadonlyArray<AccountStatement>
  readonly instructions: ReadonlyArray<DescribedInstruction>
  /** The document store's findings for the documents of the notes and statements. */
  readonly documents: FoundDocuments
}

type JsonObject = { readonly [name: string]: Schema.Json }

const money = (value: BigDecimal.BigDecimal | undefined): string | null =>
  value === undefined ? null : twoDecimals(value)

const instant = (value: DateTime.Utc | undefined): string | null =>
  value === undefined ? null : formatInstant(value)

const encodeOwnFields = encoderOf(OwnFields)

/** An encoded struct with null for every field that it does not have. */
const withNulls = (
  { fields }: { readonly fields: object },
  encoded: Schema.Json | undefined
): JsonObject | null =>
  encoded === undefined
    ? null
    : Object.fromEntries(
        Object.keys(fields).map((name) => [name, (encoded as JsonObject)[name] ?? null])
      )

const ownFieldsJson = (fields: OwnFields): JsonObject => {
  const encoded = encodeOwnFields(fields) as JsonObject & {
    readonly supply_addresses: ReadonlyArray<Schema.Json>
  }
  return {
    ...withNulls(OwnFields, encoded),
    billing_address: withNulls(BillingAddress, encoded["billing_address"]),
    account_billing_options: withNulls(BillingOptions, encoded["account_billing_options"]),
    supply_addresses: encoded.supply_addresses.map((address) => withNulls(SupplyAddress, address)),
    transfer_balance: money(fields.transfer_balance)
  }
}

const document = (documents: FoundDocuments, path: string): JsonObject => {
  const { checksum = null, etag = null, size = null } = documents.get(relativePath(path)) ?? {}
  return { document_path: path, size, etag, checksum }
}

const customerJson = ({ customer_preferences, ...customer }: Customer): JsonObject => ({
  ...customer,
  customer_preferences: { ...defaultPreferences, ...customer_preferences }
})

const ledgerJson = (ledger: Ledger): JsonObject => ({
  ledger_code: ledger.ledger_code,
  ledger_balance: money(ledger.ledger_balance),
  last_statement_balance: money(ledger.last_statement_balance),
  last_statement_closing_date: ledger.last_statement_closing_date ?? null
})

const transactionJson = ({
  ledgerCode,
  movedFrom,
  transaction
}: DescribedTransaction): JsonObject => ({
  ...(encodeTransaction(transaction) as JsonObject),
  ledger_code: ledgerCode,
  moved_from_date: movedFrom
})

const noteJson =
  (documents: FoundDocuments) =>
  (note: AccountNote): JsonObject => ({
    body: note.body ?? null,
    documents: (note.document_paths ?? []).map((named) => document(documents, named.document_path)),
    created_at: formatInstant(note.created_at),
    is_pinned: note.is_pinned ?? false,
    unpin_at: instant(note.unpin_at)
  })

const statementJson =
  (documents: FoundDocuments) =>
  ({ origin, statement }: AccountStatement): JsonObject => ({
    statement_id: statement.statement_id,
    origin,
    bill_period_from_date: statement.bill_period_from_date,
    bill_period_to_date: statement.bill_period_to_date,
    issued_date: statement.issued_date ?? null,
    number: statement.number ?? null,
    gross_amount: money(statement.gross_amount),
    document:
      statement.statement_path === undefined ? null : document(documents, statement.statement_path)
  })

/** A payment instruction as JSON. */
export const instructionJson = ({
  details,
  endedAt,
  instruction
}: DescribedInstruction): JsonObject => ({
  ...instruction,
  details:
    details._tag === "Card"
      ? {
          brand: details.brand,
          last_four: details.lastFour,
          expiry_month: details.expiryMonth,
          expiry_year: details.expiryYear
        }
      : { bank_name: details.bankName, status: details.status },
  ended_at: instant(endedAt ?? undefined)
})

/** The account as JSON, with null for missing values. Money is text with two decimals. */
export const encodeDescription = (account: AccountDescription) => ({
  ...account.key,
  kraken_account_number: account.number,
  account_created_at: formatInstant(account.createdAt),
  operations_team_name: account.operationsTeam,
  balance: twoDecimals(account.balance),
  account: ownFieldsJson(account.fields),
  customers: account.customers.map(customerJson),
  ledgers: account.ledgers.map(ledgerJson),
  transactions: account.transactions.map(transactionJson),
  notes: account.notes.map(noteJson(account.documents)),
  statements: account.statements.map(statementJson(account.documents)),
  payment_instructions: account.instructions.map(instructionJson)
})
