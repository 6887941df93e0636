/** Requests that add to the example account, for the API's document and for the tests. */
import { exampleAccount } from "../accounts/ExampleAccount.ts"

export const exampleKey = {
  import_supplier: exampleAccount.import_supplier,
  external_account_number: exampleAccount.external_account_number
}

/** Notes with a text, with documents, and without a time. */
export const notesRequest = {
  ...exampleKey,
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

/**
 * One transaction of every type, all in the account's open statement period. Together they raise
 * its balance by 75.00.
 */
export const transactionsRequest = {
  ...exampleKey,
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

/** Statements older than those with which the account was imported. */
export const statementsRequest = {
  ...exampleKey,
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
  ...exampleKey,
  vendor: "STRIPE",
  reference: "pm_fake_7Qd31zNL0004711",
  type: "CARD"
}
