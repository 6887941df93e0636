/** Requests to webhooks, signed by the library of Standard Webhooks that the service uses. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Webhook } from "standardwebhooks"
import { verify, verifyWebhook, WebhookRejected } from "../src/Webhooks.ts"

const secretOf = (letter: string): string => `whsec_${btoa(letter.repeat(32))}`
const secret = secretOf("a")
const at = new Date("2026-11-23T09:14:07Z")
const id = "0b7e1a4c-9d0f-4c58-8f0e-2a51f7c3d6b9"
const body = JSON.stringify({
  type: "data_import.import_process.complete-v1",
  timestamp: "2026-11-23T09:14:07Z",
  data: { event_id: id, position: 48_212, external_account_number: "Ä-1" }
})

const headersBy = (...secrets: ReadonlyArray<string>) => ({
  "webhook-id": id,
  "webhook-timestamp": String(at.getTime() / 1_000),
  "webhook-signature": secrets.map((each) => new Webhook(each).sign(id, at, body)).join(" ")
})

const verified = (
  request: Parameters<typeof verify>[0],
  secrets: Parameters<typeof verify>[1] = secret
) => Effect.andThen(TestClock.setTime(at.getTime()), verify(request, secrets))

const codeOf = (...given: Parameters<typeof verified>) =>
  Effect.map(Effect.flip(verified(...given)), ({ code }) => code)

describe("a request to a webhook", () => {
  it.effect("returns its message if any of the secrets has signed it", () =>
    Effect.gen(function* () {
      const headers = headersBy(secretOf("b"), secret)
      for (const secrets of [secret, [secretOf("c"), secret], [secretOf("b"), secret]]) {
        expect(yield* verified({ body, headers }, secrets)).toEqual(JSON.parse(body))
      }
      const bytes = new TextEncoder().encode(body)
      const asFetch = new Headers(headers)
      expect(yield* verified({ body: bytes, headers: asFetch })).toEqual(JSON.parse(body))
    })
  )

  it.effect("is rejected if any signed part is altered", () =>
    Effect.gen(function* () {
      const headers = headersBy(secret)
      const later = String(at.getTime() / 1_000 + 1)
      const cases = [
        { body: body.replace("48212", "48213"), headers },
        { body, headers: { ...headers, "webhook-id": "another" } },
        { body, headers: { ...headers, "webhook-timestamp": later } },
        { body, headers: { ...headers, "webhook-signature": "v1,AAAA v2,!" } },
        { body, headers: headersBy(secretOf("b")) }
      ]
      for (const request of cases) expect(yield* codeOf(request)).toBe("invalid_signature")
    })
  )

  it.effect("is rejected if it is too old, or newer than now", () =>
    Effect.gen(function* () {
      const request = { body, headers: headersBy(secret) }
      for (const [seconds, outcome] of [
        [300, "accepted"],
        [301, "timestamp_too_old"],
        [-301, "timestamp_too_old"]
      ] as const) {
        yield* TestClock.setTime(at.getTime() + seconds * 1_000)
        const result = yield* Effect.match(verify(request, secret), {
          onSuccess: () => "accepted",
          onFailure: ({ code }) => code
        })
        expect(result).toBe(outcome)
      }
    })
  )

  it.effect("is rejected without its headers", () =>
    Effect.gen(function* () {
      expect(yield* codeOf({ body, headers: {} })).toBe("missing_header")
      const { "webhook-signature": _, ...others } = headersBy(secret)
      expect(yield* codeOf({ body, headers: others })).toBe("missing_header")
    })
  )

  it("is rejected by the promise, which uses the present time", async () => {
    const rejection = verifyWebhook({ body, headers: headersBy(secret) }, secret)
    await expect(rejection).rejects.toBeInstanceOf(WebhookRejected)
  })
})
