/**
 * The example requests and responses of the document, for one supplier and one account. The tests
 * validate each against its schema.
 */
import { exampleAccount } from "@data-import/domain/accounts/ExampleAccount"
import { exampleKey, transactionsRequest } from "@data-import/domain/additions/ExampleRequests"

export const sampleKey = exampleKey

/** The platform's number of the account. */
export const sampleNumber = "A-7F3C19E2"

export const createdEntry = {
  external_account_number: sampleKey.external_account_number,
  kraken_account_number: sampleNumber,
  account_created_at: "2025-04-17T21:04:11Z"
}

export const pendingEntry = {
  external_account_number: "NL-0004712",
  kraken_account_number: null,
  account_created_at: null
}

export const processRequest = {
  payload: { ...sampleKey, operations_team_name: "Migration Team" },
  task_params: {}
}

export const dryRunRequest = {
  payload: { ...processRequest.payload, dry_run: true },
  task_params: {}
}

export const uploadRequest = {
  payload: {
    import_supplier: sampleKey.import_supplier,
    document_path: "statements/NL-0004711/2024-03.pdf",
    size: 48_213,
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  }
}

export const uploadAnswer = {
  document_path: uploadRequest.payload.document_path,
  url: "https://documents.example/nordlys/statements/NL-0004711/2024-03.pdf?X-Amz-Expires=900",
  headers: {
    "content-length": "48213",
    "if-none-match": "*",
    "x-amz-checksum-sha256": "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="
  },
  expires_at: "2025-04-17T21:19:11Z"
}

export const notesAnswer = [
  {
    created_at: "2025-04-18T10:42:00Z",
    body: "Called about the smart meter. Prefers morning visits.",
    status: "NOTE_CREATION_SUCCESS"
  },
  { created_at: "2025-04-20T13:05:30Z", body: "", status: "NOTE_CREATION_SUCCESS" },
  {
    created_at: "2025-04-20T13:07:02Z",
    body: "No time of creation is known for this one.",
    status: "NOTE_ALREADY_EXISTS"
  }
]

const withAmountText = <Sample extends { readonly amount: number }>(transaction: Sample) => ({
  ...transaction,
  amount: transaction.amount.toFixed(2)
})

/** The example account as validate returns it, with the amounts of transactions as text. */
export const validatedAccount = {
  ...exampleAccount,
  ledgers: exampleAccount.ledgers.map((ledger) => ({
    ...ledger,
    current_statement_transactions: ledger.current_statement_transactions.map(withAmountText),
    historical_statement_transactions: ledger.historical_statement_transactions.map(withAmountText)
  }))
}

const [added, existing] = transactionsRequest.transactions.map(withAmountText)

export const transactionsAnswer = {
  results: [
    { status: "TRANSACTION_ADDED_TO_ACCOUNT", transaction_data: added },
    {
      status: "TRANSACTION_ALREADY_EXISTS",
      differs: true,
      transaction_data: { ...existing, status: "TRANSACTION_IMPORT_SUCCESS" }
    }
  ]
}

export const duplicateRefusal = {
  status: "TRANSACTION_IMPORT_ERROR",
  code: "duplicate_transaction_ids",
  error_detail: "The transaction id NL-T-2002 stands twice in the request.",
  transaction_data: existing
}

export const differenceRefusal = {
  status: "TRANSACTION_IMPORT_ERROR",
  code: "transaction_differs",
  error_detail: "The account has another transaction with the id NL-T-2002.",
  transaction_data: existing
}

export const itemsRefusal = {
  status: "TRANSACTION_IMPORT_ERROR",
  code: "too_many_existing_items",
  error_detail:
    "The transactions up to this one were added before, and have many more line and tax items than " +
    "the request sends for them; send fewer transactions at once, or each as it was added.",
  transaction_data: existing
}

export const periodRefusal = {
  status: "TRANSACTION_IMPORT_ERROR",
  code: "transaction_outside_open_period",
  error_detail: "2025-07-01 is not within the open statement period (2025-03-01 to 2025-06-30).",
  parameters: { limit: "2025-06-30", business_day: "2025-06-30" },
  transaction_data: { ...added, transaction_date: "2025-07-01" }
}
