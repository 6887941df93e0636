/**
 * The tables of an account that only its import fills: the account, customers, addresses, ledgers.
 */
import type { OwnFields } from "@data-import/domain/accounts/AccountDescription"
import { Account, AccountNumber, type Metadata } from "@data-import/domain/accounts/Account"
import { type BillingAddress, BillingOptions } from "@data-import/domain/accounts/Billing"
import type { Customer, CustomerPreferences } from "@data-import/domain/accounts/Customer"
import type { Ledger } from "@data-import/domain/accounts/Ledger"
import type { SupplyAddress } from "@data-import/domain/accounts/SupplyAddress"
import {
  boolean,
  type ColumnsFor,
  date,
  instant,
  integer,
  json,
  nullable,
  numeric,
  optional,
  text,
  textOf,
  texts
} from "./Column.ts"
import * as Table from "./Table.ts"

/** The names of the fields that were not sent, where a default is stored for them. */
export const omissionColumns = { omitted: optional(texts) }

const { account_type, communication_preference, document_accessibility } = Account.fields

/** The payload fields in the table of accounts. The other own fields have separate tables. */
export const accountColumns = {
  unknown_occupier: boolean,
  billing_email: optional(text),
  billing_name: optional(text),
  billing_sub_name: optional(text),
  billing_customer_reference: optional(text),
  account_type: textOf(account_type.schema),
  date_of_sale: optional(date),
  sales_channel: text,
  sales_subchannel: optional(text),
  communication_preference: textOf(communication_preference.schema),
  document_accessibility: optional(textOf(document_accessibility.schema)),
  transfer_balance: optional(numeric),
  operations_team_name: optional(text)
} satisfies ColumnsFor<
  Omit<OwnFields, "billing_address" | "account_billing_options" | "metadata" | "supply_addresses">
>

export const accounts = Table.make(
  "accounts",
  {
    number: textOf(AccountNumber),
    created_at: instant,
    operations_team: text,
    balance: numeric,
    ...accountColumns,
    ...omissionColumns,
    payload_notes: integer,
    entry: text,
    entry_sums: text
  },
  { key: "id", computed: { import_id: "target.import_id" } }
)

export const metadataColumns = { key: text, value: json } satisfies ColumnsFor<typeof Metadata.Type>
export const metadata = Table.make("account_metadata", { position: integer, ...metadataColumns })

export const customerColumns = {
  given_name: optional(text),
  family_name: optional(text),
  email: optional(text),
  mobile: optional(text),
  landline: optional(text),
  date_of_birth: optional(date),
  title: optional(text),
  salutation: optional(text)
} satisfies ColumnsFor<Omit<Customer, "customer_preferences">>

export const preferenceColumns = {
  opted_into_sms: boolean,
  opted_into_recommended: boolean,
  opted_into_updates: boolean,
  opted_into_third_parties: boolean,
  opted_into_offers: boolean,
  is_user_psr_consent_obtained: nullable(boolean)
} satisfies ColumnsFor<CustomerPreferences>

export const customers = Table.make("customers", {
  position: integer,
  ...customerColumns,
  ...preferenceColumns,
  ...omissionColumns
})

export const billingAddressColumns = {
  name: optional(text),
  organization: optional(text),
  street_address: optional(text),
  locality: optional(text),
  postal_code: optional(text),
  country: text,
  delivery_point_identifier: optional(text),
  structured_street_address: optional(nullable(json))
} satisfies ColumnsFor<BillingAddress>

export const billingAddresses = Table.make("billing_addresses", {
  ...billingAddressColumns,
  ...omissionColumns
})

export const billingOptionColumns = {
  period_length: optional(textOf(BillingOptions.fields.period_length.schema)),
  period_start_day: optional(integer),
  period_start_month: optional(nullable(integer)),
  use_industry_billing: boolean
} satisfies ColumnsFor<BillingOptions>

export const billingOptions = Table.make("billing_options", {
  ...billingOptionColumns,
  ...omissionColumns
})

export const supplyAddressColumns = {
  supply_address1: text,
  supply_postcode: text,
  customer_at_supply_address_from_date: date,
  primary_place_of_residence_since: optional(date)
} satisfies ColumnsFor<SupplyAddress>

export const supplyAddresses = Table.make("supply_addresses", {
  position: integer,
  ...supplyAddressColumns
})

export const ledgerColumns = {
  ledger_code: text,
  last_statement_balance: optional(numeric),
  last_statement_closing_date: optional(date),
  ledger_balance: optional(numeric)
} satisfies ColumnsFor<
  Omit<Ledger, "current_statement_transactions" | "historical_statement_transactions">
>

export const ledgers = Table.make("ledgers", {
  position: integer,
  ...ledgerColumns,
  ...omissionColumns
})
