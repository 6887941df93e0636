/** The example of an account that is read back. The tests validate it against its schema. */
import { sampleKey, sampleNumber, validatedAccount } from "./Examples.ts"

export const storedAccount = {
  kraken_account_number: sampleNumber,
  ...sampleKey,
  account_created_at: "2025-04-17T21:04:11Z",
  reverted_at: null,
  operations_team_name: "Migration Team",
  balance: "62.50",
  ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", balance: "50.00" }],
  account: validatedAccount,
  added: {
    transactions: [
      {
        transaction_id: "NL-T-2001",
        transaction_date: "2025-04-18",
        amount: "12.50",
        type: "CREDIT",
        reason: "GENERAL_CREDIT"
      }
    ],
    notes: [],
    statements: [],
    payment_instructions: [
      {
        vendor: "STRIPE",
        reference: "pm_fake_7Qd31zNL0004711",
        type: "CARD",
        details: { brand: "visa", last_four: "4242", expiry_month: 2, expiry_year: 2031 },
        ended_at: null
      }
    ]
  },
  documents: [
    {
      document_path: "notes/NL-0004711/request-2024-11-02.pdf",
      size: 48_211,
      etag: '"6f5902ac237024bdd0c176cb93063dc4"',
      checksum: null
    }
  ]
}
