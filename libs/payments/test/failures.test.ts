/** Every way in which a verification fails, and the failure of the port for it. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  bankAccount,
  byCard,
  byMandate,
  card,
  cardMethod,
  json,
  layerOf,
  mandate,
  settings,
  status,
  verified
} from "./scriptedVendors.ts"

const rejected = (reason: string) => ({ _tag: "VendorRejected", reason })
const unreachable = { _tag: "VendorUnreachable" }
const unavailable = { _tag: "VendorUnavailable" }

describe("an HTTP status", () => {
  const meanings: ReadonlyArray<readonly [number, object]> = [
    [201, unavailable],
    [204, unavailable],
    [206, unavailable],
    [301, unreachable],
    [302, unreachable],
    [303, unreachable],
    [304, unreachable],
    [307, unreachable],
    [308, unreachable],
    [400, rejected("refused")],
    [401, rejected("credentials")],
    [402, rejected("refused")],
    [403, rejected("credentials")],
    [404, rejected("unknown")],
    [405, rejected("refused")],
    [408, unavailable],
    [409, rejected("refused")],
    [410, rejected("refused")],
    [418, rejected("refused")],
    [422, rejected("refused")],
    [429, unavailable],
    [499, rejected("refused")],
    [500, unavailable],
    [501, unavailable],
    [502, unavailable],
    [503, unavailable],
    [504, unavailable],
    [599, unavailable]
  ]

  it.effect.each(meanings)("%i has the same meaning for every vendor", ([code, expected]) =>
    Effect.gen(function* () {
      for (const instruction of [byCard, byMandate]) {
        expect(yield* verified(instruction)).toMatchObject(expected)
      }
    }).pipe(Effect.provide(layerOf(() => Effect.succeed(status(code)))))
  )

  it.effect.each(meanings)("%i has the same meaning on a second request", ([code, expected]) =>
    Effect.gen(function* () {
      expect(yield* verified(byMandate)).toMatchObject(expected)
      expect(yield* verified({ ...byCard, reference: "seti_1" })).toMatchObject(expected)
    }).pipe(
      Effect.provide(
        layerOf(({ pathname }) => {
          if (pathname.includes("mandates")) return Effect.succeed(json({ mandates: mandate }))
          if (!pathname.includes("setup_intents")) return Effect.succeed(status(code))
          return Effect.succeed(json({ status: "succeeded", payment_method: "pm_1" }))
        })
      )
    )
  )
})

describe("a failed connection", () => {
  const lasting = [
    "ENOTFOUND",
    "EPROTO",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "CERT_REVOKED",
    "CERT_UNTRUSTED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "ERROR_IN_CERT_NOT_AFTER_FIELD",
    "CRL_HAS_EXPIRED",
    "INVALID_CA",
    "INVALID_PURPOSE",
    "PATH_LENGTH_EXCEEDED",
    "HOSTNAME_MISMATCH"
  ]
  const passing = [
    "ECONNREFUSED",
    "ECONNRESET",
    "ECONNABORTED",
    "EPIPE",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "EAI_AGAIN",
    "ERR_TLS_HANDSHAKE_TIMEOUT",
    "UND_ERR_SOCKET",
    "UND_ERR_CONNECT_TIMEOUT",
    "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
    "HPE_INVALID_CONSTANT"
  ]
  const cases = [
    ...lasting.map((code) => [code, "VendorUnreachable"] as const),
    ...passing.map((code) => [code, "VendorUnavailable"] as const)
  ]
  const failed = (cause: unknown) =>
    Effect.provide(
      verified(byCard),
      layerOf(() => Effect.fail(cause))
    )

  it.effect.each(cases)("with %s is reported as %s", ([code, _tag]) =>
    Effect.gen(function* () {
      const cause = Object.assign(new Error("by OpenSSL"), { code })
      expect(yield* failed(cause)).toMatchObject({ _tag, cause: code })
      const wrapped = new TypeError("fetch failed", { cause })
      expect(yield* failed(wrapped), "wrapped by fetch").toMatchObject({ _tag, cause: code })
    })
  )

  it.effect.each([new Error("bad port"), "text", null, { code: 7 }, { code: "no code" }])(
    "of unknown cause is reported as temporary: %o",
    (cause) =>
      Effect.gen(function* () {
        expect(yield* failed(cause)).toMatchObject({ ...unavailable, cause: "TransportError" })
      })
  )

  it.effect("is classified even if its causes form a circle", () => {
    const cause = new Error("a")
    cause.cause = cause
    return Effect.gen(function* () {
      expect(yield* failed(cause)).toMatchObject(unavailable)
    })
  })
})

describe("a response body", () => {
  const bytes = (...codes: ReadonlyArray<number>) => new Uint8Array(codes)
  const latin1 = (text: string) => bytes(...Array.from(text, (one) => one.charCodeAt(0)))
  const padded = (size: number) => {
    const text = JSON.stringify(cardMethod)
    return text + " ".repeat(size - text.length)
  }
  const bodies: ReadonlyArray<readonly [string, string | Uint8Array<ArrayBuffer>]> = [
    ["nothing", ""],
    ["half a document", JSON.stringify(cardMethod).slice(0, -1)],
    ["two documents", `${JSON.stringify(cardMethod)} {}`],
    ["a repeated key", `{"type":"x",${JSON.stringify(cardMethod).slice(1)}`],
    ["a deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    [
      "no UTF-8",
      latin1(JSON.stringify({ ...cardMethod, card: { ...card, brand: "carte dorée" } }))
    ],
    ["UTF-16", bytes(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
    ["a byte too many", padded(1024 * 1024 + 1)]
  ]

  it.effect.each(bodies)("with %s makes the vendor unavailable", ([, body]) =>
    Effect.gen(function* () {
      expect(yield* verified(byCard)).toMatchObject(unavailable)
    }).pipe(Effect.provide(layerOf(() => Effect.succeed(new Response(body)))))
  )

  it.effect("may have up to one mebibyte", () =>
    Effect.gen(function* () {
      expect(yield* verified(byCard)).toMatchObject({ _tag: "Card" })
    }).pipe(Effect.provide(layerOf(() => Effect.succeed(new Response(padded(1024 * 1024))))))
  )

  it.effect("is not read beyond the maximum size", () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x20)
    const read = { chunks: 0, cancelled: false }
    const endless = () =>
      new ReadableStream({
        pull: (controller) => {
          read.chunks++
          controller.enqueue(chunk)
        },
        cancel: () => {
          read.cancelled = true
        }
      })
    return Effect.gen(function* () {
      expect(yield* verified(byCard)).toMatchObject({ cause: "answer too long" })
      expect(read.chunks).toBeLessThan(32)
      expect(read.cancelled).toBe(true)
    }).pipe(Effect.provide(layerOf(() => Effect.succeed(new Response(endless())))))
  })
})

describe("the vendor time-out", () => {
  const slowly = (seconds: number) =>
    layerOf(({ pathname }) =>
      Effect.delay(
        Effect.succeed(
          pathname.includes("mandates")
            ? json({ mandates: mandate })
            : json({ customer_bank_accounts: bankAccount })
        ),
        seconds * 1000
      )
    )

  const running = Effect.forkChild(verified(byMandate), { startImmediately: true })

  it.effect("is five seconds for all requests of a verification", () =>
    Effect.gen(function* () {
      const fiber = yield* running
      yield* TestClock.adjust(4_999)
      expect(fiber.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(fiber)).toMatchObject({ ...unavailable, cause: "time-out" })
    }).pipe(Effect.provide(slowly(3)))
  )

  it.effect("allows two slow requests", () =>
    Effect.gen(function* () {
      const fiber = yield* running
      yield* TestClock.adjust(4_800)
      expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "DirectDebit" })
    }).pipe(Effect.provide(slowly(2.4)))
  )

  it.effect("can be configured for each vendor", () =>
    Effect.gen(function* () {
      const mandates = yield* running
      const cards = yield* Effect.forkChild(verified(byCard), { startImmediately: true })
      yield* TestClock.adjust(250)
      expect(yield* Fiber.join(mandates)).toMatchObject(unavailable)
      expect(cards.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("20 seconds")
      expect(yield* Fiber.join(cards)).toMatchObject(unavailable)
    }).pipe(
      Effect.provide(
        layerOf(() => Effect.never, {
          ...settings,
          PAYMENT_GOCARDLESS_TIMEOUT: "250 millis",
          PAYMENT_STRIPE_TIMEOUT: "20 seconds"
        })
      )
    )
  )

  it.effect("applies to a body that arrives slowly, and closes the connection", () => {
    const ended = { by: "nobody" }
    const trickle = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"type":"')),
      cancel: () => {
        ended.by = "us"
      }
    })
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(verified(byCard), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(fiber)).toMatchObject({ cause: "time-out" })
      expect(ended.by).toBe("us")
    }).pipe(Effect.provide(layerOf(() => Effect.succeed(new Response(trickle)))))
  })
})
