/**
 * The contract of `PaymentVendor`, as tests that every adapter runs against a vendor who answers by
 * words in the reference. Each test builds a new layer, so that no test sees a circuit breaker that
 * another one opened, and runs under the test clock.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { PaymentVendor } from "../src/payments/PaymentVendor.ts"
import { type Mode, OrganisationName } from "../src/suppliers/Organisation.ts"
import type { PaymentInstruction } from "../src/accounts/PaymentInstruction.ts"

/** Prefixes of references, as real vendors have them; the simulator ignores them. */
const kinds: ReadonlyArray<Omit<PaymentInstruction, "reference"> & { readonly prefix: string }> = [
  { vendor: "STRIPE", type: "CARD", prefix: "pm_" },
  { vendor: "STRIPE", type: "CARD", prefix: "seti_" },
  { vendor: "GOCARDLESS", type: "DIRECT_DEBIT", prefix: "MD" }
]

const cardDetails = {
  _tag: "Card",
  brand: expect.stringMatching(/^.{1,64}$/) as string,
  lastFour: expect.stringMatching(/^\d{4}$/) as string,
  expiryMonth: expect.toSatisfy((month) => Number.isInteger(month)) as number,
  expiryYear: expect.toSatisfy((year) => Number.isInteger(year)) as number
}

const directDebitDetails = {
  _tag: "DirectDebit",
  bankName: expect.stringMatching(/^.{1,256}$/) as string,
  status: expect.stringMatching(/^.{1,64}$/) as string
}

/** The details that may be stored, and nothing else. */
const detailsOf = { CARD: cardDetails, DIRECT_DEBIT: directDebitDetails }

const rejected = (reason: string) => ({ _tag: "VendorRejected", reason })
const unreachable = { _tag: "VendorUnreachable" }
const unavailable = { _tag: "VendorUnavailable" }

const failures: ReadonlyArray<readonly [word: string, failure: object]> = [
  ["missing", rejected("unknown")],
  ["inactive", rejected("inactive")],
  ["down", unavailable],
  ["slow", unavailable],
  ["fault_wrongtype", rejected("wrong_type")],
  ["fault_unauthorized", rejected("credentials")],
  ["fault_forbidden", rejected("credentials")],
  ["fault_refused", rejected("refused")],
  ["fault_redirect", unreachable],
  ["fault_429", unavailable],
  ["fault_500", unavailable],
  ["fault_reset", unavailable],
  ["fault_garbage", unavailable],
  ["fault_unexpected", unavailable],
  ["fault_cut", unavailable],
  ["fault_truncated", unavailable],
  ["fault_huge", unavailable]
]

const organisation = OrganisationName.make("acme")

/** In which mode the vendors are asked. */
const Asked = Context.Reference<Mode>("test/Asked", { defaultValue: () => "live" })

/** The details, or the failure. */
const verified = Effect.fnUntraced(function* (instruction: PaymentInstruction) {
  const vendor = yield* PaymentVendor
  const verifying = vendor.verify(instruction, organisation, yield* Asked)
  return Result.merge(yield* Effect.result(verifying))
})

/** The result after more time than a caller of the system waits. */
const verifiedInTime = Effect.fnUntraced(function* (instruction: PaymentInstruction) {
  const running = yield* Effect.forkChild(verified(instruction), { startImmediately: true })
  yield* TestClock.adjust("29 seconds")
  return yield* Fiber.join(running)
})

const active = (layer: Layer.Layer<PaymentVendor, unknown>): void => {
  it.effect.each(kinds)(
    "returns only the details that may be stored from $vendor: $prefix",
    ({ prefix, ...kind }) =>
      Effect.gen(function* () {
        const first = yield* verified({ ...kind, reference: `${prefix}0001` })
        expect(first).toStrictEqual(detailsOf[kind.type])
        const second = yield* verified({ ...kind, reference: `${prefix}0001` })
        expect(second, "the same again").toStrictEqual(first)
      }).pipe(Effect.provide(layer))
  )

  const odd = [
    "a/b",
    "../a",
    "a?b=c&d",
    "a#b",
    "100%",
    "a%2Fb",
    " a b ",
    "ü€😀",
    "\u0001",
    "...",
    "🌍"
  ]

  it.effect.each(kinds)(
    "escapes any character in a reference for $vendor: $prefix",
    ({ prefix, ...kind }) =>
      Effect.gen(function* () {
        for (const text of [...odd, "x".repeat(500)]) {
          const found = yield* verified({ ...kind, reference: prefix + text })
          expect(found, text).toStrictEqual(detailsOf[kind.type])
          const lost = yield* verified({ ...kind, reference: `${prefix}${text}missing` })
          expect(lost, text).toMatchObject(rejected("unknown"))
        }
      }).pipe(Effect.provide(layer))
  )
}

const failing = (layer: Layer.Layer<PaymentVendor, unknown>): void => {
  const cases = kinds.flatMap((kind) =>
    failures.map(([word, failure]) => ({ ...kind, word, failure }))
  )

  it.effect.each(cases)("reports the failure at $vendor: $prefix $word", (each) =>
    Effect.gen(function* () {
      const { failure, prefix, type, vendor, word } = each
      const instruction = { vendor, type, reference: `${prefix}1_${word}_2` }
      const verify = word === "slow" ? verifiedInTime : verified
      expect(yield* verify(instruction)).toMatchObject(failure)
    }).pipe(Effect.provide(layer))
  )

  it.effect("refuses a type that the vendor does not offer", () =>
    Effect.gen(function* () {
      const card = { vendor: "GOCARDLESS", type: "CARD", reference: "MD0001" } as const
      expect(yield* verified(card)).toMatchObject(rejected("wrong_type"))
      const debit = { vendor: "STRIPE", type: "DIRECT_DEBIT", reference: "pm_0001" } as const
      expect(yield* verified(debit)).toMatchObject(rejected("wrong_type"))
    }).pipe(Effect.provide(layer))
  )

  it.effect.each(["ACME", "stripe", "", "constructor"])("fails as unreachable for %j", (vendor) =>
    Effect.gen(function* () {
      const result = yield* verified({ vendor, type: "CARD", reference: "pm_0001" })
      expect(result).toMatchObject(unreachable)
    }).pipe(Effect.provide(layer))
  )
}

/** Declares the suite under `name`, for this mode. */
export const paymentVendorContract = <E>(
  name: string,
  live: Layer.Layer<PaymentVendor, E>,
  mode: Mode = "live"
): void => {
  const layer = Layer.merge(live, Layer.succeed(Asked, mode))
  describe(`PaymentVendor, ${name}`, () => {
    active(layer)
    failing(layer)
  })
}
