/**
 * The optional fields that a payload left out although a value is stored for them: a default, an
 * empty list or null. With their names, an account can be read back exactly as it was sent.
 */
import { type Account, defaults } from "./Account.ts"
import type { BillingAddress, BillingOptions } from "./Billing.ts"
import { type Customer, type CustomerPreferences, defaultPreferences } from "./Customer.ts"
import type { Ledger } from "./Ledger.ts"
import type { Note } from "./Note.ts"

/** Null or undefined if nothing is omitted. */
export type Omitted = ReadonlyArray<string> | null | undefined

const absentOf =
  <A extends object>(names: ReadonlyArray<keyof A & string>) =>
  (value: A): ReadonlyArray<string> | undefined => {
    const omitted = names.filter((name) => !(name in value))
    return omitted.length > 0 ? omitted : undefined
  }

const lists = [
  "customers",
  "notes",
  "ledgers",
  "statements",
  "metadata",
  "supply_addresses"
] as const satisfies ReadonlyArray<keyof Account>

const absentPreferences = absentOf<CustomerPreferences>(
  Object.keys(defaultPreferences) as ReadonlyArray<keyof CustomerPreferences>
)

/** Functions that name the fields that each object of a payload leaves out. */
export const omittedFrom = {
  account: absentOf<Account>([
    ...(Object.keys(defaults) as ReadonlyArray<keyof typeof defaults>),
    ...lists
  ]),
  customer: ({ customer_preferences: preferences }: Customer) =>
    preferences === undefined ? ["customer_preferences"] : absentPreferences(preferences),
  billingAddress: absentOf<BillingAddress>(["structured_street_address"]),
  billingOptions: absentOf<BillingOptions>(["period_start_month", "use_industry_billing"]),
  ledger: absentOf<Ledger>(["current_statement_transactions", "historical_statement_transactions"]),
  note: absentOf<Note>(["document_paths", "created_at", "is_pinned"])
}

/** Whether the field was sent. */
export const isSent = (name: string, omitted: Omitted): boolean => !(omitted ?? []).includes(name)

/** The stored value without the fields that were not sent. */
export const withoutOmitted = <A extends object>(stored: A, omitted: Omitted): A =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => isSent(name, omitted))) as A

/** The customer as sent, from a stored one with all preferences. */
export const sentCustomer = (
  { customer_preferences: stored, ...customer }: Customer,
  omitted: Omitted
): Customer =>
  stored === undefined || !isSent("customer_preferences", omitted)
    ? customer
    : { ...customer, customer_preferences: withoutOmitted(stored, omitted) }
