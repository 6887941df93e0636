/**
 * The bodies of the four post-import requests, with their validators. Each names its account by
 * supplier and external account number.
 * Source: docs/contract/post-import.md#post-import-requests.
 */
import { Schema } from "effect"
import { ExternalAccountNumber, SupplierCodeField } from "../accounts/Account.ts"
import { documentsAreFew } from "../schema/DocumentPath.ts"
import { list } from "../schema/Field.ts"
import { Note, noteRules } from "../accounts/Note.ts"
import {
  PaymentInstruction,
  vendorIsKnown,
  vendorOffersType
} from "../accounts/PaymentInstruction.ts"
import { type Rule, supplierExists } from "../schema/Rules.ts"
import {
  HistoricalStatement,
  statementIdsAreUnique,
  statementRules
} from "../accounts/Statement.ts"
import { Transaction, transactionRules } from "../accounts/Transaction.ts"
import { validator } from "../schema/Validator.ts"

const account = {
  import_supplier: SupplierCodeField,
  external_account_number: ExternalAccountNumber
}

export const NotesRequest = Schema.Struct({ ...account, notes: list(Note) })
export const TransactionsRequest = Schema.Struct({ ...account, transactions: list(Transaction) })
export const StatementsRequest = Schema.Struct({
  ...account,
  statements: list(HistoricalStatement)
})
export type StatementsRequest = typeof StatementsRequest.Type

export const InstructionRequest = Schema.Struct({ ...account, ...PaymentInstruction.fields })

const hasElements =
  <Field extends string>(field: Field): Rule<{ readonly [Key in Field]: ReadonlyArray<unknown> }> =>
  (request, _facts, report) => {
    if (request[field].length === 0) report("empty", "Send at least one element.", field)
  }

export const notesRequest = validator({
  schema: NotesRequest,
  rules: {
    rules: [supplierExists, hasElements("notes"), documentsAreFew],
    members: { notes: noteRules }
  },
  wrapper: null
})

export const transactionsRequest = validator({
  schema: TransactionsRequest,
  rules: {
    rules: [supplierExists, hasElements("transactions")],
    members: { transactions: transactionRules }
  },
  wrapper: null
})

export const statementsRequest = validator({
  schema: StatementsRequest,
  rules: {
    rules: [supplierExists, hasElements("statements"), documentsAreFew, statementIdsAreUnique],
    members: { statements: statementRules }
  },
  wrapper: null
})

export const instructionRequest = validator({
  schema: InstructionRequest,
  rules: { rules: [supplierExists, vendorIsKnown, vendorOffersType] },
  wrapper: null
})
