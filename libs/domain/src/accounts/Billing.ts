/**
 * Where bills go and how often: the billing address and the billing options of an account.
 * Source: docs/contract/account.md#billing-address,
 * docs/contract/account.md#account-billing-options.
 */
import { Schema, SchemaGetter } from "effect"
import { isCountryCode } from "../schema/Country.ts"
import { choice, fieldCheck, formed, integer, isStorable, text, trimmed } from "../schema/Field.ts"
import { JsonObject } from "../schema/JsonObject.ts"
import type { Rule, RuleSet } from "../schema/Rules.ts"

/** ASCII only, because upper-casing other letters can turn a text into a country code. */
const isCountry = (code: string): boolean =>
  /^[A-Za-z]{2}$/.test(code) && isCountryCode(code.toUpperCase())

/** ISO 3166-1 alpha-2, converted to capitals. */
const Country = formed(isCountry, {
  code: "invalid_country_code",
  detail: "Must be an ISO 3166-1 alpha-2 country code."
}).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((code: string) => code.toUpperCase()),
    encode: SchemaGetter.passthrough()
  })
)

const DeliveryPointIdentifier = trimmed(
  Schema.String.check(
    isStorable,
    fieldCheck<string>((value) => /^[A-Z0-9]{0,11}$/.test(value.trim()), {
      code: "invalid_delivery_point_identifier",
      detail: "Must be at most 11 capitals and digits."
    })
  )
)

export const BillingAddress = Schema.Struct({
  name: Schema.optionalKey(text(256)),
  organization: Schema.optionalKey(text(256)),
  street_address: Schema.optionalKey(text(512)),
  locality: Schema.optionalKey(text(512)),
  postal_code: Schema.optionalKey(text(32)),
  country: Country,
  delivery_point_identifier: Schema.optionalKey(DeliveryPointIdentifier),
  structured_street_address: Schema.optionalKey(Schema.NullOr(JsonObject))
})
export type BillingAddress = typeof BillingAddress.Type

const streetIsSentOnce: Rule<BillingAddress> = (address, _facts, report) => {
  const { street_address, structured_street_address } = address
  if (street_address === undefined || structured_street_address === undefined) return
  if (structured_street_address !== null) {
    report(
      "fields_are_mutually_exclusive",
      "Send street_address or structured_street_address, not both."
    )
  }
}

export const billingAddressRules: RuleSet<BillingAddress> = { rules: [streetIsSentOnce] }

export const BillingOptions = Schema.Struct({
  period_length: Schema.optionalKey(choice(["MONTHLY", "QUARTERLY"])),
  period_start_day: Schema.optionalKey(integer(1, 28)),
  period_start_month: Schema.optionalKey(Schema.NullOr(integer(1, 12))),
  use_industry_billing: Schema.optionalKey(Schema.Boolean)
})
export type BillingOptions = typeof BillingOptions.Type

const periodFitsBilling: Rule<BillingOptions> = (options, _facts, report) => {
  const month = options.period_start_month ?? null
  if (options.use_industry_billing === true) {
    if (options.period_length !== undefined || options.period_start_day !== undefined || month) {
      report(
        "account_billing_options_industry_billing_with_period_data",
        "Industry billing has no period fields."
      )
    }
  } else if (options.period_length === undefined || options.period_start_day === undefined) {
    report(
      "account_billing_options_period_data_required",
      "period_length and period_start_day are required without industry billing."
    )
  }
}

const quarterHasMonth: Rule<BillingOptions> = (options, _facts, report) => {
  if (options.use_industry_billing === true || options.period_length !== "QUARTERLY") return
  if ((options.period_start_month ?? null) === null) {
    report(
      "account_billing_options_period_start_month_required",
      "Quarterly billing needs period_start_month."
    )
  }
}

export const billingOptionsRules: RuleSet<BillingOptions> = {
  rules: [periodFitsBilling, quarterHasMonth]
}
