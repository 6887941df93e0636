/**
 * Data that must not leak: keys, references (which can be card numbers) and data from the vendor.
 */
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, References, Tracer } from "effect"
import { PaymentVendor } from "@data-import/domain/payments/PaymentVendor"
import {
  acme,
  byCard,
  byMandate,
  cardMethod,
  goCardlessKey,
  json,
  layerOf,
  type Script,
  status,
  stripeKey
} from "./scriptedVendors.ts"

const cardNumber = "4000056655665556"
const holder = "Ada Lovelace"
const canaries = [cardNumber, holder, stripeKey, goCardlessKey]

const outputs = (body: object): Response => json({ ...body, [cardNumber]: holder })

const scripts: ReadonlyArray<readonly [string, Script]> = [
  [
    "an active card",
    () => Effect.succeed(outputs({ ...cardMethod, metadata: { number: cardNumber } }))
  ],
  ["another type", () => Effect.succeed(outputs({ ...cardMethod, type: cardNumber }))],
  [
    "an unexpected answer",
    () => Effect.succeed(outputs({ type: "card", card: { last4: cardNumber } }))
  ],
  ["no JSON", () => Effect.succeed(new Response(`{"${cardNumber}":"${holder}`))],
  ["no UTF-8", () => Effect.succeed(new Response(new Uint8Array([0xff])))],
  ["refused credentials", () => Effect.succeed(json({ error: stripeKey }, 401))],
  ["a refusal", () => Effect.succeed(json({ error: cardNumber }, 422))],
  ["unavailability", () => Effect.succeed(status(503))],
  [
    "a redirect",
    () => Effect.succeed(new Response(null, { status: 302, headers: { location: cardNumber } }))
  ],
  [
    "a failed connection",
    () => Effect.fail(Object.assign(new Error(cardNumber), { code: stripeKey }))
  ],
  ["a failed certificate", () => Effect.fail({ code: "CERT_HAS_EXPIRED", issuer: holder })]
]

/** Everything that a verification leaves behind: its outcome, its log and its spans. */
const traces = Effect.fnUntraced(function* (script: Script) {
  const kept: Array<unknown> = []
  const logger = Logger.make<unknown, void>(({ cause, fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    kept.push({ annotations, level: logLevel, message, cause: Cause.pretty(cause) })
  })
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      kept.push(span)
      return span
    }
  })
  const verify = Effect.gen(function* () {
    const vendor = yield* PaymentVendor
    for (const instruction of [byCard, byMandate]) {
      const exit = yield* Effect.exit(
        vendor.verify({ ...instruction, reference: cardNumber }, acme, "live")
      )
      kept.push(exit)
      if (Exit.isFailure(exit)) kept.push(Cause.pretty(exit.cause))
    }
  })
  yield* verify.pipe(
    Effect.provide([layerOf(script), Logger.layer([logger])]),
    Effect.provideService(References.MinimumLogLevel, "All"),
    Effect.withTracer(tracer)
  )
  return kept
})

describe("the log of vendor requests", () => {
  it.effect.each(scripts)("contains no secret after %s", ([, script]) =>
    Effect.gen(function* () {
      const kept = yield* traces(script)
      const text = inspect(kept, { depth: 30, showHidden: false }) + JSON.stringify(kept, plain)
      expect(text, "there are spans at all").toContain("PaymentVendor.verify")
      for (const canary of canaries) expect(text).not.toContain(canary)
    })
  )

  it.effect("names the failed vendor and the reason", () =>
    Effect.gen(function* () {
      const kept = yield* traces(() => Effect.succeed(status(503)))
      expect(kept).toContainEqual({
        annotations: { vendor: "STRIPE", failure: "VendorUnavailable", why: "status 503" },
        level: "Warn",
        message: ["payment vendor failed"],
        cause: ""
      })
    })
  )

  it.effect("states that a vendor refuses the credentials", () =>
    Effect.gen(function* () {
      const kept = yield* traces(() => Effect.succeed(status(403)))
      expect(kept).toContainEqual(
        expect.objectContaining({
          annotations: { vendor: "GOCARDLESS", failure: "VendorRejected", why: "credentials" }
        })
      )
    })
  )

  it.effect("has no entry for a client's mistake", () =>
    Effect.gen(function* () {
      const kept = yield* traces(() => Effect.succeed(status(404)))
      expect(kept).not.toContainEqual(expect.objectContaining({ level: "Warn" }))
    })
  )
})

/** Spans contain bigints, maps and sets, which JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value)
  if (value instanceof Map || value instanceof Set) return [...value]
  return value
}
