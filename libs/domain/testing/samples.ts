/**
 * A full account payload as a supplier sends it, what validation makes of it, and the requests that
 * add further data to the account. Functions, so that a test that alters its copy alters no
 * other's.
 */
import { DateTime, Result } from "effect"
import type { Account } from "../src/account/Account.ts"
import { validateUnknownAccount } from "../src/validation/AccountValidation.ts"

/** The instant as of which the samples are valid. */
export const sampleTime = DateTime.makeUnsafe("2026-01-15T12:00:00Z")

const payload = {
  import_supplier: "DEMO_ENERGY",
  external_account_number: "NL-0004711",
  unknown_occupier: false,
  customers: [
    {
      given_name: "Astrid",
      family_name: "Vestergaard-Holm",
      email: "astrid.vestergaard@example.com",
      mobile: "+4520314579",
      landline: "+4533716420",
      date_of_birth: "1981-03-22",
      title: "Ms",
      salutation: "Hej Astrid",
      customer_preferences: {
        opted_into_sms: true,
        opted_into_recommended: true,
        opted_into_updates: false,
        opted_into_third_parties: false,
        opted_into_offers: false,
        is_user_psr_consent_obtained: false
      }
    },
    {
      given_name: "Jeppe",
      family_name: "Holm",
      email: "jeppe.holm@example.com",
      mobile: "+4528840916",
      date_of_birth: "1979-11-05",
      title: "Mr"
    }
  ],
  billing_email: "regning.holm@example.com",
  billing_name: "Astrid Vestergaard-Holm",
  billing_sub_name: "c/o Jeppe Holm",
  billing_customer_reference: "Household electricity",
  billing_address: {
    name: "Astrid Vestergaard-Holm",
    organization: "",
    street_address: "Pilevangen 14, 2. th",
    locality: "Aarhus C",
    postal_code: "8000",
    country: "DK",
    delivery_point_identifier: "DK80000142",
    structured_street_address: null
  },
  account_billing_options: {
    period_length: "MONTHLY",
    period_start_day: 20,
    period_start_month: null,
    use_industry_billing: false
  },
  account_type: "DOMESTIC",
  date_of_sale: "2019-06-14",
  sales_channel: "ACQUISITION",
  sales_subchannel: "Wave 3",
  communication_preference: "ONLINE",
  document_accessibility: "LARGE_PRINT",
  notes: [
    {
      created_at: "2024-11-02T09:15:00Z",
      body: "Customer asked for large print letters. Recorded by legacy CRM.",
      document_paths: [
        {
          document_path: "notes/NL-0004711/request-2024-11-02.pdf"
        }
      ]
    },
    {
      created_at: "2025-03-01T08:00:00Z",
      body: "Account migrated in wave 3; check first bill.",
      is_pinned: true,
      unpin_at: "2027-03-01T08:00:00Z"
    }
  ],
  ledgers: [
    {
      ledger_code: "ELECTRICITY_LEDGER",
      last_statement_balance: 25.0,
      last_statement_closing_date: "2025-02-28",
      ledger_balance: 50.0,
      current_statement_transactions: [
        {
          transaction_id: "NL-T-1004",
          transaction_date: "2025-03-05",
          amount: 400.0,
          type: "PAYMENT",
          reason: "ACCOUNT_CHARGE_PAYMENT",
          reference: "DD-2025-03-0004711",
          payment_type: "DD_REGULAR_COLLECTION",
          note: "Monthly collection."
        },
        {
          transaction_id: "NL-T-1005",
          transaction_date: "2025-03-31",
          amount: 337.5,
          type: "SUPPLY_CHARGE",
          display_note: "Electricity 1-31 March 2025",
          product_code: "NORD-VARIABEL-24",
          line_items: [
            {
              rate_band: "CONSUMPTION_STANDARD",
              start_date: "2025-03-01",
              end_date: "2025-03-31",
              number_of_units: 216.0,
              net_amount: 270.0,
              price_per_unit: 1.25,
              units: [10452.0, 10668.0]
            }
          ],
          tax_items: [
            {
              amount: 67.5,
              tax_type: "VAT",
              value_taxed: 270.0,
              rate: 0.25,
              unit_type: "PROPORTION"
            }
          ]
        },
        {
          transaction_id: "NL-T-1006",
          transaction_date: "2025-04-02",
          amount: 12.5,
          type: "CHARGE",
          reason: "IMPORTED_CHARGE",
          display_note: "Printed letter fee",
          note: "Legacy fee code P7."
        },
        {
          transaction_id: "NL-T-1007",
          transaction_date: "2025-04-03",
          amount: 25.0,
          type: "REPAYMENT",
          reason: "FULL_CREDIT_REFUND",
          reference: "RF-2025-04-0091",
          payment_type: "DIRECT_CREDIT",
          note: "Refund of previous credit balance."
        }
      ],
      historical_statement_transactions: [
        {
          transaction_id: "NL-T-1001",
          transaction_date: "2025-01-31",
          amount: 412.5,
          type: "CHARGE",
          reason: "IMPORTED_CHARGE",
          display_note: "January bill"
        },
        {
          transaction_id: "NL-T-1002",
          transaction_date: "2025-02-05",
          amount: 400.0,
          type: "PAYMENT",
          reason: "ACCOUNT_CHARGE_PAYMENT",
          reference: "DD-2025-02-0004711",
          payment_type: "DD_REGULAR_COLLECTION"
        },
        {
          transaction_id: "NL-T-1003",
          transaction_date: "2025-02-14",
          amount: 37.5,
          type: "CREDIT",
          reason: "IMPORTED_CREDIT",
          display_note: "Goodwill credit"
        }
      ]
    }
  ],
  transfer_balance: 50.0,
  statements: [
    {
      bill_period_from_date: "2025-01-01",
      bill_period_to_date: "2025-01-31",
      statement_path: "statements/NL-0004711/2025-01.pdf",
      statement_id: "NL-S-2025-01"
    },
    {
      bill_period_from_date: "2025-02-01",
      bill_period_to_date: "2025-02-28",
      statement_path: "statements/NL-0004711/2025-02.pdf",
      statement_id: "NL-S-2025-02"
    }
  ],
  metadata: [
    {
      key: "legacy.segment",
      value: {
        code: "R2",
        since: "2021-01-01"
      }
    },
    {
      key: "legacy.wave",
      value: {
        number: 3
      }
    }
  ],
  operations_team_name: "Migration Team",
  supply_addresses: [
    {
      primary_place_of_residence_since: "2019-07-01",
      customer_at_supply_address_from_date: "2019-07-01",
      supply_postcode: "8000",
      supply_address1: "Pilevangen 14, 2. th"
    }
  ]
}

/** The payload on the wire, not wrapped in `payload`. */
export const domesticPayload = () => structuredClone(payload)

/** The decoded account of `domesticPayload`, under another number or supplier if given. */
export const domesticAccount = (
  key: { readonly import_supplier?: string; readonly external_account_number?: string } = {}
): Account =>
  Result.getOrThrow(validateUnknownAccount({ ...domesticPayload(), ...key }, sampleTime))

const key = {
  import_supplier: payload.import_supplier,
  external_account_number: payload.external_account_number
}

const notesRequest = {
  ...key,
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
        { document_path: "notes/NL-0004711/power-of-attorney.pdf" },
        { document_path: "notes/NL-0004711/id-check.pdf" }
      ]
    },
    { body: "No time of creation is known for this one." }
  ]
}

/** Notes for the account of `domesticPayload`: with a text, with documents, without a time. */
export const notesPayload = () => structuredClone(notesRequest)

const transactionsRequest = {
  ...key,
  transactions: [
    {
      transaction_id: "NL-T-2001",
      transaction_date: "2025-05-05",
      amount: 400.0,
      type: "PAYMENT",
      reason: "ACCOUNT_CHARGE_PAYMENT",
      reference: "DD-2025-05-0004711",
      payment_type: "DD_REGULAR_COLLECTION",
      note: "Collected by the old system after cut-over."
    },
    {
      transaction_id: "NL-T-2002",
      transaction_date: "2025-05-06",
      amount: 60.0,
      type: "CREDIT",
      reason: "IMPORTED_CREDIT",
      display_note: "Compensation for late meter visit",
      note: "Case 5521."
    },
    {
      transaction_id: "NL-T-2003",
      transaction_date: "2025-05-31",
      amount: 325.0,
      type: "SUPPLY_CHARGE",
      display_note: "Electricity 1-31 May 2025",
      product_code: "NORD-VARIABEL-24",
      line_items: [
        {
          rate_band: "CONSUMPTION_STANDARD",
          start_date: "2025-05-01",
          end_date: "2025-05-31",
          number_of_units: 208.0,
          net_amount: 260.0,
          price_per_unit: 1.25,
          units: [10876.0, 11084.0]
        }
      ],
      tax_items: [
        {
          amount: 65.0,
          tax_type: "VAT",
          value_taxed: 260.0,
          rate: 0.25,
          unit_type: "PROPORTION"
        }
      ]
    },
    {
      transaction_id: "NL-T-2004",
      transaction_date: "2025-06-02",
      amount: 15.0,
      type: "CHARGE",
      reason: "IMPORTED_CHARGE",
      display_note: "Reminder fee",
      note: "Legacy fee code R1."
    },
    {
      transaction_id: "NL-T-2005",
      transaction_date: "2025-06-03",
      amount: 45.0,
      type: "REPAYMENT",
      reason: "FULL_CREDIT_REFUND",
      reference: "RF-2025-06-0107",
      payment_type: "DIRECT_CREDIT"
    }
  ]
}

/**
 * Transactions for the account of `domesticPayload`, one of every type and all in its open
 * statement period. Together they raise its balance by 75.00.
 */
export const transactionsPayload = () => structuredClone(transactionsRequest)

const statementsRequest = {
  ...key,
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

/** Statements for the account of `domesticPayload`, older than those it was imported with. */
export const statementsPayload = () => structuredClone(statementsRequest)

/** A card for the account of `domesticPayload`. */
export const instructionPayload = () => ({
  ...key,
  vendor: "STRIPE",
  reference: "pm_fake_7Qd31zNL0004711",
  type: "CARD"
})
