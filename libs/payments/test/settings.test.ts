/** The settings of the vendors: their defaults, and which values keep a service from starting. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  byCard,
  byMandate,
  layerOf,
  settings,
  stripeKey,
  verified,
  wellAnswer
} from "./scriptedVendors.ts"

const unconfigured = { _tag: "VendorUnreachable", cause: "not configured" }

const askedWith = (values: Readonly<Record<string, string>>) => {
  const asked: Array<string> = []
  const layer = layerOf((url) => {
    asked.push(url.origin)
    return Effect.succeed(wellAnswer(url))
  }, values)
  return { asked, layer }
}

describe("the vendor settings", () => {
  it.effect("are optional, and a vendor without them is unreachable", () => {
    const { asked, layer } = askedWith({})
    return Effect.gen(function* () {
      expect(yield* verified(byCard)).toMatchObject(unconfigured)
      expect(yield* verified(byMandate)).toMatchObject(unconfigured)
      expect(asked).toEqual([])
    }).pipe(Effect.provide(layer))
  })

  it.effect("treat an empty key as missing", () => {
    const { asked, layer } = askedWith({ ...settings, PAYMENT_STRIPE_KEY: "" })
    return Effect.gen(function* () {
      expect(yield* verified(byCard)).toMatchObject(unconfigured)
      expect(yield* verified(byMandate)).toMatchObject({ _tag: "DirectDebit" })
      expect(asked).not.toContain("https://stripe.test")
    }).pipe(Effect.provide(layer))
  })

  it.effect("have the vendors' URLs as defaults", () => {
    const keys = { PAYMENT_STRIPE_KEY: "one", PAYMENT_GOCARDLESS_KEY: "two" }
    const { asked, layer } = askedWith(keys)
    return Effect.gen(function* () {
      yield* verified(byCard)
      yield* verified(byMandate)
      expect(new Set(asked)).toEqual(
        new Set(["https://api.stripe.com", "https://api.gocardless.com"])
      )
    }).pipe(Effect.provide(layer))
  })

  const wrong: ReadonlyArray<Readonly<Record<string, string>>> = [
    { PAYMENT_STRIPE_URL: "stripe.test" },
    { PAYMENT_STRIPE_URL: "ftp://stripe.test" },
    { PAYMENT_STRIPE_URL: "https://user:secret@stripe.test" },
    { PAYMENT_STRIPE_URL: "https://stripe.test/?a=b" },
    { PAYMENT_STRIPE_URL: "https://stripe.test/#a" },
    { PAYMENT_STRIPE_TIMEOUT: "soon" },
    { PAYMENT_STRIPE_TIMEOUT: "0 seconds" },
    { PAYMENT_STRIPE_TIMEOUT: "-1 seconds" },
    { PAYMENT_STRIPE_TIMEOUT: "20001 millis" },
    { PAYMENT_STRIPE_TIMEOUT: "Infinity" },
    { PAYMENT_STRIPE_KEY: `${stripeKey}\n` },
    { PAYMENT_STRIPE_KEY: `${stripeKey}é` },
    { PAYMENT_GOCARDLESS_URL: "stripe.test" },
    { PAYMENT_GOCARDLESS_TIMEOUT: "1 hour" },
    { PAYMENT_GOCARDLESS_KEY: "a key" }
  ]

  it.effect.each(wrong)("prevent the start of a service if they are invalid: %j", (values) =>
    Effect.gen(function* () {
      const { layer } = askedWith({ ...settings, ...values })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      const [name] = Object.keys(values)
      expect(error._tag).toBe("ConfigError")
      expect(String(error), "names the setting").toContain(name)
      expect(String(error), "without the key").not.toContain(stripeKey)
      expect(JSON.stringify(error)).not.toContain(stripeKey)
    })
  )
})
