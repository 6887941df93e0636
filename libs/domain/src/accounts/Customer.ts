/** The people an account belongs to. Source: docs/contract/account.md#customer. */
import { Schema } from "effect"
import { Email } from "../schema/Email.ts"
import { CalendarDate, PhoneNumber, text } from "../schema/Field.ts"
import type { Rule, RuleSet } from "../schema/Rules.ts"

/** What the customer consented to. `defaultPreferences` applies to those that were not sent. */
export const CustomerPreferences = Schema.Struct({
  opted_into_sms: Schema.optionalKey(Schema.Boolean),
  opted_into_recommended: Schema.optionalKey(Schema.Boolean),
  opted_into_updates: Schema.optionalKey(Schema.Boolean),
  opted_into_third_parties: Schema.optionalKey(Schema.Boolean),
  opted_into_offers: Schema.optionalKey(Schema.Boolean),
  is_user_psr_consent_obtained: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})
export type CustomerPreferences = typeof CustomerPreferences.Type

export const defaultPreferences: Required<CustomerPreferences> = {
  opted_into_sms: false,
  opted_into_recommended: true,
  opted_into_updates: false,
  opted_into_third_parties: false,
  opted_into_offers: false,
  is_user_psr_consent_obtained: false
}

export const Customer = Schema.Struct({
  given_name: Schema.optionalKey(text(255)),
  family_name: Schema.optionalKey(text(255)),
  email: Schema.optionalKey(Email),
  mobile: Schema.optionalKey(PhoneNumber),
  landline: Schema.optionalKey(PhoneNumber),
  date_of_birth: Schema.optionalKey(CalendarDate),
  title: Schema.optionalKey(text(20)),
  salutation: Schema.optionalKey(text(128)),
  customer_preferences: Schema.optionalKey(CustomerPreferences)
})
export type Customer = typeof Customer.Type

const earliestBirth = "1900-01-01"

const isBornInLivingMemory: Rule<Customer> = ({ date_of_birth: birth }, facts, report) => {
  if (birth === undefined) return
  if (birth < earliestBirth) {
    const detail = `Must not be before ${earliestBirth}.`
    report("min_value", { detail, parameters: { limit: earliestBirth } }, "date_of_birth")
  }
  if (birth > facts.today) {
    const detail = `Must not be after ${facts.today}.`
    report("max_value", { detail, parameters: { limit: facts.today } }, "date_of_birth")
  }
}

export const customerRules: RuleSet<Customer> = { rules: [isBornInLivingMemory] }
