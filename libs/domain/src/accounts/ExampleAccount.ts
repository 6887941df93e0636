/**
 * The example account of the API's document and of the tests: a domestic customer with a ledger
 * whose sums agree, as a supplier sends it.
 */
export const exampleAccount = {
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
      last_statement_balance: 25,
      last_statement_closing_date: "2025-02-28",
      ledger_balance: 50,
      current_statement_transactions: [
        {
          transaction_id: "NL-T-1004",
          transaction_date: "2025-03-05",
          amount: 400,
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
              number_of_units: 216,
              net_amount: 270,
              price_per_unit: 1.25,
              units: [10452, 10668]
            }
          ],
          tax_items: [
            {
              amount: 67.5,
              tax_type: "VAT",
              value_taxed: 270,
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
          amount: 25,
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
          amount: 400,
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
  transfer_balance: 50,
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
