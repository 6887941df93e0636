/** The requests to each vendor, and the meaning of its answers. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  bankAccount,
  byCard,
  byMandate,
  card,
  cardMethod,
  goCardlessKey,
  json,
  layerOf,
  mandate,
  status,
  stripeKey,
  verified,
  wellAnswer
} from "./scriptedVendors.ts"

const rejected = (reason: string) => ({ _tag: "VendorRejected", reason })
const unavailable = { _tag: "VendorUnavailable" }

const visa = {
  _tag: "Card",
  brand: "visa",
  lastFour: "4242",
  expiryMonth: 12,
  expiryYear: 2099
}

/** Verifies with vendors that answer only these paths; also returns the requests. */
const verifiedBy = (
  answers: Readonly<Record<string, unknown>>,
  instruction: typeof byCard
): Effect.Effect<{ readonly outcome: unknown; readonly asked: ReadonlyArray<string> }> => {
  const asked: Array<string> = []
  const layer = layerOf((url) => {
    asked.push(url.pathname)
    const answer = answers[url.pathname]
    return Effect.succeed(answer === undefined ? status(404) : json(answer))
  })
  return Effect.map(verified(instruction), (outcome) => ({ outcome, asked })).pipe(
    Effect.provide(layer),
    Effect.orDie
  )
}

describe("a vendor request", () => {
  const sent = Effect.fnUntraced(function* (instruction: typeof byCard) {
    const requests: Array<readonly [string, string, unknown]> = []
    const layer = layerOf((url, { headers, method }) => {
      requests.push([method, url.href, headers])
      return Effect.succeed(wellAnswer(url))
    })
    yield* Effect.provide(verified(instruction), layer)
    return requests
  })

  it.effect("to STRIPE has the key and the API version", () =>
    Effect.gen(function* () {
      const [request, ...more] = yield* sent(byCard)
      expect(more).toEqual([])
      expect(request?.slice(0, 2)).toEqual(["GET", "https://stripe.test/v1/payment_methods/pm_1"])
      expect(request?.[2]).toEqual(
        expect.objectContaining({
          accept: "application/json",
          authorization: `Bearer ${stripeKey}`,
          "stripe-version": "2024-06-20"
        })
      )
    })
  )

  it.effect("to GOCARDLESS has the key and the API version", () =>
    Effect.gen(function* () {
      const requests = yield* sent(byMandate)
      expect(requests.map(([, url]) => url)).toEqual([
        "https://gocardless.test/prefix/mandates/MD1",
        "https://gocardless.test/prefix/customer_bank_accounts/BA1"
      ])
      for (const [method, , headers] of requests) {
        expect(method).toBe("GET")
        expect(headers).toEqual(
          expect.objectContaining({
            authorization: `Bearer ${goCardlessKey}`,
            "gocardless-version": "2015-07-06"
          })
        )
      }
    })
  )

  it.effect("carries neither trace headers nor cookies", () =>
    Effect.gen(function* () {
      const [request] = yield* Effect.withSpan(sent(byCard), "ours")
      expect(Object.keys(request?.[2] as object).toSorted()).toEqual([
        "accept",
        "authorization",
        "stripe-version"
      ])
    })
  )

  it.effect.each([
    ["../../v1/customers", "..%2F..%2Fv1%2Fcustomers"],
    ["pm_1?expand[]=customer", "pm_1%3Fexpand%5B%5D%3Dcustomer"],
    ["pm_1#x", "pm_1%23x"],
    ["%2e%2e", "%252e%252e"],
    ["a b\\c", "a%20b%5Cc"],
    ["@evil.test", "%40evil.test"]
  ] as const)("encodes the reference %s as one path segment", ([reference, segment]) =>
    Effect.gen(function* () {
      const [request] = yield* sent({ ...byCard, reference })
      expect(request?.[1]).toBe(`https://stripe.test/v1/payment_methods/${segment}`)
    })
  )

  it.effect.each(["", ".", "..", "\ud800"])("is not sent for the reference %j", (reference) =>
    Effect.gen(function* () {
      for (const instruction of [byCard, byMandate]) {
        const { asked, outcome } = yield* verifiedBy({}, { ...instruction, reference })
        expect(outcome).toMatchObject(rejected("unknown"))
        expect(asked).toEqual([])
      }
    })
  )
})

describe("STRIPE", () => {
  const method = "/v1/payment_methods/pm_1"
  const intent = "/v1/setup_intents/seti_1"
  const byIntent = { ...byCard, reference: "seti_1" }

  it.effect("finds the card of a setup intent", () =>
    Effect.gen(function* () {
      const answers = {
        [intent]: { status: "succeeded", payment_method: "pm_1" },
        [method]: cardMethod
      }
      const { asked, outcome } = yield* verifiedBy(answers, byIntent)
      expect(outcome).toEqual(visa)
      expect(asked).toEqual([intent, method])
    })
  )

  const intents: ReadonlyArray<readonly [unknown, object]> = [
    [{ status: "requires_payment_method", payment_method: null }, rejected("inactive")],
    [{ status: "requires_confirmation", payment_method: "pm_1" }, rejected("inactive")],
    [{ status: "processing", payment_method: "pm_1" }, rejected("inactive")],
    [{ status: "canceled", payment_method: "pm_1" }, rejected("inactive")],
    [{ status: "succeeded", payment_method: null }, rejected("inactive")],
    [{ status: "succeeded", payment_method: "pm_2" }, rejected("unknown")],
    [{ status: "succeeded", payment_method: ".." }, unavailable],
    [{ status: "succeeded", payment_method: {} }, unavailable],
    [{ status: "succeeded" }, unavailable]
  ]

  it.effect.each(intents)("classifies the setup intent %j", ([answer, expected]) =>
    Effect.gen(function* () {
      const { outcome } = yield* verifiedBy({ [intent]: answer, [method]: cardMethod }, byIntent)
      expect(outcome).toMatchObject(expected)
    })
  )

  const methods: ReadonlyArray<readonly [unknown, object]> = [
    [{ ...cardMethod, customer: null }, rejected("inactive")],
    [{ ...cardMethod, type: "sepa_debit", card: undefined }, rejected("wrong_type")],
    [{ ...cardMethod, type: "link" }, rejected("wrong_type")],
    [{ ...cardMethod, card: undefined }, unavailable],
    [{ ...cardMethod, customer: undefined }, unavailable],
    [{ ...cardMethod, card: { ...card, last4: "4242424242424242" } }, unavailable],
    [{ ...cardMethod, card: { ...card, last4: "" } }, unavailable],
    [{ ...cardMethod, card: { ...card, brand: "v".repeat(65) } }, unavailable],
    [{ ...cardMethod, card: { ...card, exp_month: 13 } }, unavailable],
    [{ ...cardMethod, card: { ...card, exp_year: "2099" } }, unavailable],
    [{ ...cardMethod, card: { ...card, exp_year: 1e300 } }, unavailable],
    [[cardMethod], unavailable],
    [null, unavailable],
    ["pm_1", unavailable]
  ]

  it.effect.each(methods)("classifies the payment method %j", ([answer, expected]) =>
    Effect.gen(function* () {
      const { outcome } = yield* verifiedBy({ [method]: answer }, byCard)
      expect(outcome).toMatchObject(expected)
    })
  )

  it.effect("accepts a card until the end of its last month", () =>
    Effect.gen(function* () {
      const expiring = { ...cardMethod, card: { ...card, exp_month: 2, exp_year: 2028 } }
      const outcomeAt = (time: string) =>
        Effect.andThen(
          TestClock.setTime(Date.parse(time)),
          Effect.map(verifiedBy({ [method]: expiring }, byCard), ({ outcome }) => outcome)
        )
      const last = yield* outcomeAt("2028-02-29T23:59:59Z")
      expect(last).toMatchObject({ expiryMonth: 2, expiryYear: 2028 })
      expect(yield* outcomeAt("2028-03-01T00:00:00Z")).toMatchObject(rejected("inactive"))
      expect(yield* outcomeAt("2029-01-01T00:00:00Z")).toMatchObject(rejected("inactive"))
    })
  )
})

describe("GOCARDLESS", () => {
  const mandates = "/prefix/mandates/MD1"
  const accounts = "/prefix/customer_bank_accounts/BA1"
  const verifiedMandate = (answer: object, account: unknown = bankAccount) =>
    Effect.map(
      verifiedBy(
        { [mandates]: { mandates: answer }, [accounts]: { customer_bank_accounts: account } },
        byMandate
      ),
      ({ outcome }) => outcome
    )

  it.effect.each(["pending_submission", "submitted", "active"])(
    "accepts a mandate that is %s",
    (state) =>
      Effect.gen(function* () {
        const outcome = yield* verifiedMandate({ ...mandate, status: state })
        expect(outcome).toEqual({
          _tag: "DirectDebit",
          bankName: "EXAMPLE BANK PLC",
          status: state
        })
      })
  )

  it.effect.each([
    "pending_customer_approval",
    "suspended_by_payer",
    "failed",
    "cancelled",
    "expired",
    "consumed",
    "blocked",
    "something_new"
  ])("rejects a mandate that is %s", (state) =>
    Effect.gen(function* () {
      const outcome = yield* verifiedMandate({ ...mandate, status: state })
      expect(outcome).toMatchObject(rejected("inactive"))
    })
  )

  it.effect("accepts a bank without a name", () =>
    Effect.gen(function* () {
      const outcome = yield* verifiedMandate(mandate, { ...bankAccount, bank_name: null })
      expect(outcome).toMatchObject({ bankName: null })
    })
  )

  const mandatesOf: ReadonlyArray<readonly [object, object]> = [
    [{ ...mandate, scheme: "faster_payments" }, rejected("wrong_type")],
    [{ ...mandate, scheme: "pay_to" }, rejected("wrong_type")],
    [{ ...mandate, links: {} }, unavailable],
    [{ ...mandate, links: { customer_bank_account: "../mandates/MD1" } }, rejected("unknown")],
    [{ ...mandate, links: { customer_bank_account: "" } }, unavailable],
    [{ ...mandate, status: "a".repeat(65) }, unavailable],
    [{ ...mandate, status: 1 }, unavailable],
    [[], unavailable]
  ]

  it.effect.each(mandatesOf)("classifies the mandate %j", ([answer, expected]) =>
    Effect.gen(function* () {
      expect(yield* verifiedMandate(answer)).toMatchObject(expected)
    })
  )

  it.effect.each([{}, { bank_name: 1 }, { bank_name: "b".repeat(257) }, null])(
    "rejects the bank account %j",
    (account) =>
      Effect.gen(function* () {
        expect(yield* verifiedMandate(mandate, account)).toMatchObject(unavailable)
      })
  )
})
