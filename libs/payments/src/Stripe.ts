/**
 * Stripe: a card, by its payment method (`pm_…`) or by the setup intent that saved it (`seti_…`).
 * Source: Stripe's API reference, "PaymentMethods" and "SetupIntents", of the version that the
 * header names.
 */
import { DateTime, Effect, Schema } from "effect"
import { type Read, rejected, unavailable, type VendorDefinition } from "./VendorDefinition.ts"

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Four digits only, so that a complete card number is never kept. */
const Card = Schema.Struct({
  brand: Schema.String.check(Schema.isBetweenLength(1, 64)),
  last4: Schema.String.check(Schema.isPattern(/^\d{4}$/)),
  exp_month: between(1, 12),
  exp_year: between(2000, 9999)
})

const PaymentMethod = Schema.Struct({
  type: Schema.String,
  customer: Schema.NullOr(Schema.String),
  card: Schema.optionalKey(Card)
})

const SetupIntent = Schema.Struct({
  status: Schema.String,
  payment_method: Schema.NullOr(Schema.String)
})

/** A card is valid until the end of its last month. */
const isExpired = (card: typeof Card.Type, { month, year }: DateTime.DateTime.PartsWithWeekday) =>
  card.exp_year * 12 + card.exp_month < year * 12 + month

/** Verifies a payment method. One that is not attached to a customer cannot be charged again. */
const verifyMethod = Effect.fnUntraced(function* (read: Read, id: string) {
  const { card, customer, type } = yield* read(["v1", "payment_methods", id], PaymentMethod)
  if (type !== "card") return yield* rejected("wrong_type")
  if (card === undefined) return yield* unavailable("card without details")
  const today = DateTime.toPartsUtc(yield* DateTime.now)
  if (customer === null || isExpired(card, today)) return yield* rejected("inactive")
  return {
    _tag: "Card" as const,
    brand: card.brand,
    lastFour: card.last4,
    expiryMonth: card.exp_month,
    expiryYear: card.exp_year
  }
})

const verifyIntent = Effect.fnUntraced(function* (read: Read, id: string) {
  const intent = yield* read(["v1", "setup_intents", id], SetupIntent)
  if (intent.status !== "succeeded" || intent.payment_method === null) {
    return yield* rejected("inactive")
  }
  return yield* verifyMethod(read, intent.payment_method)
})

export const stripe: VendorDefinition = {
  code: "STRIPE",
  url: "https://api.stripe.com",
  type: "CARD",
  headers: { "stripe-version": "2024-06-20" },
  verify: (read, reference) =>
    reference.startsWith("seti_") ? verifyIntent(read, reference) : verifyMethod(read, reference)
}
