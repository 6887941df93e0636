/**
 * The account payload and its parts as the document describes them. The rules come from the domain;
 * this module adds the descriptions.
 * Source: docs/contract/account.md#the-account.
 */
import { Account, defaults, Metadata, salesChannels } from "@data-import/domain/accounts/Account"
import { BillingAddress, BillingOptions } from "@data-import/domain/accounts/Billing"
import {
  Customer,
  CustomerPreferences,
  defaultPreferences
} from "@data-import/domain/accounts/Customer"
import { Ledger } from "@data-import/domain/accounts/Ledger"
import { Note, NoteDocument } from "@data-import/domain/accounts/Note"
import { HistoricalStatement, Statement } from "@data-import/domain/accounts/Statement"
import { SupplyAddress } from "@data-import/domain/accounts/SupplyAddress"
import {
  LineItem,
  paymentTypes,
  TaxItem,
  Transaction
} from "@data-import/domain/accounts/Transaction"
import { documented } from "./Documented.ts"
import { AnyObject, LineAmount, Money, TaxDecimal, Units, UnitPrice } from "./DecimalSchema.ts"

const path =
  "Relative to the supplier's root in the object storage; a leading slash is ignored. The file must " +
  "be there, unless the operator turned the check off for the supplier."

/** The descriptions of the fields that identify an account. */
export const keyWords = {
  import_supplier: {
    description: "The code of the import supplier, which must exist and be the caller's.",
    examples: ["DEMO_ENERGY"]
  },
  external_account_number: {
    description:
      "The supplier's own number of the account, compared exactly. No blank around it, no control " +
      "character, and not `.` or `..` itself.",
    examples: ["NL-0004711"]
  }
}

const NoteDocumentBody = documented("NoteDocument", "A document of a note.", NoteDocument, {
  document_path: { description: path, examples: ["notes/NL-0004711/id-check.pdf"] }
})

/** A note, in the account payload and in the notes import. */
export const NoteBody = documented(
  "Note",
  "A note on an account. It has a body, document paths, or both.",
  Note,
  {
    body: "The text of the note.",
    document_paths: "Documents that belong to the note.",
    created_at: "When the note was written; the time of the import where it is omitted.",
    is_pinned: "Whether the note is pinned to the top of the account's support page.",
    unpin_at: "When a pinned note is no longer pinned; not before `created_at`."
  },
  { document_paths: NoteDocumentBody }
)

const LineItemBody = documented("LineItem", "One line of a supply charge.", LineItem, {
  rate_band: { description: "The band of the tariff.", examples: ["CONSUMPTION_STANDARD"] },
  start_date: "First day, inclusive.",
  end_date: "Last day, inclusive; not before `start_date`.",
  number_of_units: { description: "How many units were supplied.", wire: Units },
  net_amount: {
    description:
      "The amount before tax: `price_per_unit` × `number_of_units` where the price is sent, rounded " +
      "half-up to the decimals of this amount, but at least 2.",
    wire: LineAmount
  },
  price_per_unit: { description: "The price of one unit.", wire: UnitPrice },
  units: {
    description: "Exactly two register readings: at the start and at the end.",
    wire: Units,
    minItems: 2,
    maxItems: 2
  }
})

const TaxItemBody = documented("TaxItem", "One tax of a charge.", TaxItem, {
  amount: { description: "The tax.", wire: LineAmount },
  tax_type: { description: "Which tax.", examples: ["VAT"] },
  value_taxed: { description: "The amount or quantity that is taxed.", wire: TaxDecimal },
  rate: { description: "The rate, as `unit_type` says.", wire: TaxDecimal },
  unit_type: "Whether the rate is a share of the amount or a price per kWh."
})

const paymentTypeWords = Object.entries(paymentTypes)
  .map(([type, known]) => `on a ${type}: ${known.join(", ")}`)
  .join("; ")

/** The descriptions of the fields of a transaction, in every list. */
export const transactionWords = {
  transaction_id: "The supplier's id of the transaction, unique on the account.",
  transaction_date: "The day of the transaction; in an account payload not in the future.",
  amount: {
    description:
      "The amount. Positive on PAYMENT and REPAYMENT; negative on another type is a reversal. On a " +
      "SUPPLY_CHARGE with line items: the sum of their net amounts and the tax amounts, rounded " +
      "half-up to 2 decimals.",
    wire: Money
  },
  type: "PAYMENT and CREDIT raise the balance; CHARGE, SUPPLY_CHARGE and REPAYMENT lower it.",
  reason: {
    description:
      "Why there is the transaction. Not on SUPPLY_CHARGE. Any text, until the operator names the " +
      "allowed ones.",
    examples: ["IMPORTED_CHARGE", "ACCOUNT_CHARGE_PAYMENT"]
  },
  display_note: "A note that the customer sees.",
  note: "An internal note.",
  reference: "The reference of the payment. On PAYMENT and REPAYMENT only.",
  payment_type: {
    description:
      `How it was paid. On PAYMENT and REPAYMENT only; ${paymentTypeWords}. The operator can add ` +
      "others.",
    examples: ["DD_REGULAR_COLLECTION"]
  },
  product_code: {
    description:
      "The product supplied. On SUPPLY_CHARGE only, and required there. Any text, until the " +
      "operator names the allowed ones.",
    examples: ["NORD-VARIABEL-24"]
  },
  line_items: "What was supplied. On SUPPLY_CHARGE only.",
  tax_items: "The taxes. On SUPPLY_CHARGE and CHARGE only."
}

/** The lists inside a transaction. */
export const transactionParts = { line_items: LineItemBody, tax_items: TaxItemBody }

/** A transaction, in a ledger of the account payload and in the transactions import. */
export const TransactionBody = documented(
  "Transaction",
  "A financial transaction.",
  Transaction,
  transactionWords,
  transactionParts
)

const LedgerBody = documented(
  "Ledger",
  "A ledger of the account. Its sums must agree, exactly.",
  Ledger,
  {
    ledger_code: {
      description:
        "The ledger, once in an account. Any text, until the operator names the allowed ones.",
      examples: ["ELECTRICITY_LEDGER"]
    },
    last_statement_balance: {
      description:
        "The balance on the last statement, credit positive; 0 where it is omitted. Equal to the sum " +
        "of the historical transactions, where there are any.",
      wire: Money
    },
    last_statement_closing_date:
      "The last day of the last statement, not in the future; required with historical transactions.",
    ledger_balance: {
      description:
        "The balance now, credit positive: `last_statement_balance` and the sum of the current " +
        "transactions.",
      wire: Money
    },
    current_statement_transactions: "The transactions after the closing date; none if omitted.",
    historical_statement_transactions:
      "The transactions up to and including the closing date; none if omitted."
  },
  {
    current_statement_transactions: TransactionBody,
    historical_statement_transactions: TransactionBody
  }
)

const StatementBody = documented("Statement", "A statement of the past.", Statement, {
  bill_period_from_date: "First day of the period.",
  bill_period_to_date: "Last day of the period; not before the first.",
  statement_path: { description: path, examples: ["statements/NL-0004711/2025-01.pdf"] },
  statement_id: "The supplier's id of the statement, unique on the account."
})

/** A statement of the historical statements import. */
export const HistoricalStatementBody = documented(
  "HistoricalStatement",
  "A statement of the past, with what is printed on it.",
  HistoricalStatement,
  {
    bill_period_from_date: "First day of the period.",
    bill_period_to_date: "Last day of the period; not before the first.",
    statement_id: "The supplier's id of the statement, unique on the account.",
    issued_date: "When it was issued.",
    number: "The number printed on it.",
    gross_amount: { description: "The amount with tax.", wire: Money },
    statement_path: { description: path, examples: ["statements/NL-0004711/2024-11.pdf"] }
  }
)

const preference = (name: keyof typeof defaultPreferences, what: string) => ({
  description: what,
  default: defaultPreferences[name]
})

const CustomerPreferencesBody = documented(
  "CustomerPreferences",
  "What a customer consented to.",
  CustomerPreferences,
  {
    opted_into_sms: preference("opted_into_sms", "Text messages."),
    opted_into_recommended: preference("opted_into_recommended", "Recommended messages."),
    opted_into_updates: preference("opted_into_updates", "Updates."),
    opted_into_third_parties: preference("opted_into_third_parties", "Third parties' messages."),
    opted_into_offers: preference("opted_into_offers", "Offers."),
    is_user_psr_consent_obtained: preference(
      "is_user_psr_consent_obtained",
      "Consent to the priority services register."
    )
  }
)

const phone = {
  description: "In international format, with a leading +; any possible number is taken.",
  pattern: "^\\s*[+]",
  examples: ["+4520314579"]
}

const CustomerBody = documented(
  "Customer",
  "A person to whom the account belongs.",
  Customer,
  {
    given_name: "The given name.",
    family_name: "The family name; required on a DOMESTIC account.",
    email: "The e-mail address.",
    mobile: phone,
    landline: phone,
    date_of_birth: "Not before 1900-01-01 and not in the future.",
    title: "The form of address.",
    salutation: "How letters begin.",
    customer_preferences: "What the customer consented to."
  },
  { customer_preferences: CustomerPreferencesBody }
)

const BillingAddressBody = documented(
  "BillingAddress",
  "Where bills go. Either `street_address` or `structured_street_address`, not both.",
  BillingAddress,
  {
    name: "Who lives there.",
    organization: "Which organization is there.",
    street_address: "Street and house.",
    locality: "Town.",
    postal_code: "Postal code.",
    country: {
      description: "ISO 3166-1 alpha-2, kept in capitals.",
      pattern: "^\\s*[A-Za-z]{2}\\s*$",
      examples: ["DK"]
    },
    delivery_point_identifier: {
      description: "Up to 11 capitals and digits.",
      pattern: "^\\s*[A-Z0-9]{0,11}\\s*$"
    },
    structured_street_address: {
      description: "The street address in parts, of any shape, or null.",
      wire: AnyObject
    }
  }
)

const BillingOptionsBody = documented(
  "AccountBillingOptions",
  "How often bills are made: by the industry's calendar, or with a length and a start day.",
  BillingOptions,
  {
    period_length: "The length of a period.",
    period_start_day: "The day of the month on which a period starts.",
    period_start_month: "The month in which a period starts; required with QUARTERLY.",
    use_industry_billing: {
      description: "Whether the industry's calendar holds; then no other field may be sent.",
      default: false
    }
  }
)

const SupplyAddressBody = documented(
  "SupplyAddress",
  "An address that the account supplies.",
  SupplyAddress,
  {
    primary_place_of_residence_since: "Since when it is the customer's main residence.",
    customer_at_supply_address_from_date: "Since when the customer is there.",
    supply_postcode: "Postal code.",
    supply_address1: "Street and house."
  }
)

const MetadataBody = documented("Metadata", "Further data of the supplier.", Metadata, {
  key: "Its name, once in an account.",
  value: { description: "A JSON object of any shape, kept as it was sent.", wire: AnyObject }
})

export const AccountBody = documented(
  "Account",
  "One customer account as the supplier has it.",
  Account,
  {
    ...keyWords,
    unknown_occupier: {
      description: "Whether nobody knows who lives there; then there is no customer.",
      default: defaults.unknown_occupier
    },
    customers:
      "At least one, but for an unknown occupier and the account types SYSTEM, *_VACANT and *_OCCUPIER.",
    billing_email: "Where bills are mailed to.",
    billing_name: "The name on bills.",
    billing_sub_name: "The second line of the name on bills.",
    billing_customer_reference: "The customer's own reference, printed on bills.",
    billing_address: "Where bills go.",
    account_billing_options: "How often bills are made.",
    account_type: { description: "What kind of account it is.", default: defaults.account_type },
    date_of_sale: "When the account was sold.",
    sales_channel: {
      description: `How it was sold: ${salesChannels.join(", ")}. The operator can add others.`,
      default: defaults.sales_channel
    },
    sales_subchannel: "How it was sold, in the supplier's words.",
    communication_preference: {
      description: "How the customer wants to hear from us.",
      default: defaults.communication_preference
    },
    document_accessibility: "The form in which the customer can read documents.",
    notes: "Notes to put on the account.",
    ledgers: "The ledgers with their transactions.",
    transfer_balance: {
      description:
        "The balance that moves, credit positive: the sum of the ledger balances, where all are sent.",
      wire: Money
    },
    statements: "Statements of the past.",
    metadata: "Further data of the supplier.",
    operations_team_name: "Kept, and without effect; the process request names the team.",
    supply_addresses: "The addresses that the account supplies."
  },
  {
    customers: CustomerBody,
    billing_address: BillingAddressBody,
    account_billing_options: BillingOptionsBody,
    notes: NoteBody,
    ledgers: LedgerBody,
    statements: StatementBody,
    metadata: MetadataBody,
    supply_addresses: SupplyAddressBody
  }
)
