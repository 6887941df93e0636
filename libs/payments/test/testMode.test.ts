/** In test mode vendors are simulated, with or without settings, and no real vendor is called. */
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { paymentVendorContract } from "@data-import/domain/testing/PaymentVendorContract"
import { PaymentVendor } from "@data-import/domain/payments/PaymentVendor"
import { acme, byCard, byMandate, layerOf, settings } from "./scriptedVendors.ts"

const asked = () => Effect.die(new Error("a vendor was asked"))

paymentVendorContract("in test mode", layerOf(asked), "test")
paymentVendorContract("in test mode without a key", layerOf(asked, {}), "test")

const verified = (instruction: typeof byCard) =>
  Effect.flatMap(PaymentVendor, (vendor) => Effect.result(vendor.verify(instruction, acme, "test")))

it.effect.each([byCard, byMandate])("a slow vendor $vendor takes its time-out", (instruction) =>
  Effect.gen(function* () {
    const slow = { ...instruction, reference: "slow" }
    const running = yield* Effect.forkChild(verified(slow), { startImmediately: true })
    yield* TestClock.adjust("1900 millis")
    expect(running.pollUnsafe()).toBeUndefined()
    yield* TestClock.adjust("100 millis")
    expect(yield* Fiber.join(running)).toMatchObject({ failure: { _tag: "VendorUnavailable" } })
  }).pipe(
    Effect.provide(
      layerOf(asked, {
        ...settings,
        PAYMENT_STRIPE_TIMEOUT: "2 seconds",
        PAYMENT_GOCARDLESS_TIMEOUT: "2 seconds"
      })
    )
  )
)

it.effect("failures open no circuit breaker", () =>
  Effect.gen(function* () {
    const down = verified({ ...byCard, reference: "down" })
    yield* Effect.replicateEffect(down, 10)
    expect(yield* verified(byCard)).toMatchObject({ _tag: "Success" })
  }).pipe(Effect.provide(layerOf(asked)))
)
