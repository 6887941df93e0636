/** Addresses that an account supplies. Source: docs/contract/account.md#supply-address. */
import { Schema } from "effect"
import { CalendarDate, nonBlankText } from "../schema/Field.ts"

export const SupplyAddress = Schema.Struct({
  primary_place_of_residence_since: Schema.optionalKey(CalendarDate),
  customer_at_supply_address_from_date: CalendarDate,
  supply_postcode: nonBlankText(10),
  supply_address1: nonBlankText(512)
})
export type SupplyAddress = typeof SupplyAddress.Type
