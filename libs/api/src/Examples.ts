/**
 * The example requests and responses of the document, for one supplier and one account. The tests
 * validate each against its schema.
 */
import { exampleAccount } from "./ExampleAccount.ts"

export const sampleKey = {
  import_supplier: "DEMO_ENERGY",
  external_account_number: "NL-0004711"
}

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

export const notesRequest = {
  ...sampleKey,
  notes: [
    {
      created_at: "2025-04-18T10:42:00Z",
      body: "Called about the smart meter. Prefers morning visits.",
      is_pinned: true,
      unpin_at: "2027-01-01T00:00:00Z"
    },
    {
      created_at: "2025-04-20T13:05:30Z",
      document_paths: [
        {
          document_path: "notes/NL-0004711/power-of-attorney.pdf"
        },
        {
          document_path: "notes/NL-0004711/id-check.pdf"
        }
      ]
    },
    {
      body: "No time of creation is known for this one."
    }
  ]
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

export const transactionsRequest = {
  ...sampleKey,
  transactions: [
    {
      transaction_id: "NL-T-2001",
      transaction_date: "2025-05-05",
      amount: 400,
      type: "PAYMENT",
      reason: "ACCOUNT_CHARGE_PAYMENT",
      reference: "DD-2025-05-0004711",
      payment_type: "DD_REGULAR_COLLECTION",
      note: "Collected by the old system after cut-over."
    },
    {
      transaction_id: "NL-T-2002",
      transaction_date: "2025-05-06",
      amount: 60,
      type: "CREDIT",
      reason: "IMPORTED_CREDIT",
      display_note: "Compensation for late meter visit",
      note: "Case 5521."
    },
    {
      transaction_id: "NL-T-2003",
      transaction_date: "2025-05-31",
      amount: 325,
      type: "SUPPLY_CHARGE",
      display_note: "Electricity 1-31 May 2025",
      product_code: "NORD-VARIABEL-24",
      line_items: [
        {
          rate_band: "CONSUMPTION_STANDARD",
          start_date: "2025-05-01",
          end_date: "2025-05-31",
          number_of_units: 208,
          net_amount: 260,
          price_per_unit: 1.25,
          units: [10876, 11084]
        }
      ],
      tax_items: [
        {
          amount: 65,
          tax_type: "VAT",
          value_taxed: 260,
          rate: 0.25,
          unit_type: "PROPORTION"
        }
      ]
    },
    {
      transaction_id: "NL-T-2004",
      transaction_date: "2025-06-02",
      amount: 15,
      type: "CHARGE",
      reason: "IMPORTED_CHARGE",
      display_note: "Reminder fee",
      note: "Legacy fee code R1."
    },
    {
      transaction_id: "NL-T-2005",
      transaction_date: "2025-06-03",
      amount: 45,
      type: "REPAYMENT",
      reason: "FULL_CREDIT_REFUND",
      reference: "RF-2025-06-0107",
      payment_type: "DIRECT_CREDIT"
    }
  ]
}

export const statementsRequest = {
  ...sampleKey,
  statements: [
    {
      bill_period_from_date: "2024-11-01",
      bill_period_to_date: "2024-11-30",
      statement_id: "NL-S-2024-11",
      issued_date: "2024-12-03",
      number: "2024-0008812",
      gross_amount: 389.6,
      statement_path: "statements/NL-0004711/2024-11.pdf"
    },
    {
      bill_period_from_date: "2024-12-01",
      bill_period_to_date: "2024-12-31",
      statement_id: "NL-S-2024-12",
      issued_date: "2025-01-03",
      number: "2024-0009745",
      gross_amount: 412.5,
      statement_path: "statements/NL-0004711/2024-12.pdf"
    }
  ]
}

export const instructionRequest = {
  ...sampleKey,
  vendor: "STRIPE",
  reference: "pm_fake_7Qd31zNL0004711",
  type: "CARD"
}

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
  error_detail: "2024-12-31 is not within the open statement period, which starts 2025-03-01.",
  transaction_data: { ...added, transaction_date: "2024-12-31" }
}
