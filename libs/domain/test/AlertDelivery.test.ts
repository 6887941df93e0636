/** What is known after an attempt. Source: docs/contract/board.md#once-for-each-thing. */
import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { sendMessage } from "../src/alerts/AlertDelivery.ts"
import { testMessage } from "../src/alerts/AlertMessages.ts"
import type { Sent } from "../src/events/WebhookSender.ts"

const outcomeOf = (sent: Sent) => {
  const webhooks = { send: () => Effect.succeed(sent) }
  const deps = { webhooks, mailer: { send: null }, allowsPrivate: false, publicUrl: null }
  const url = Redacted.make("https://chat.example/")
  return sendMessage(deps, "webhook", url, testMessage(null))
}

const failed = (error: string): Sent => ({ _tag: "Failed", error })

it.effect.each([
  ...["302", "404", "429", "503", "private address", "ECONNREFUSED", "ENOTFOUND"].map(failed),
  ...["CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT"].map(failed),
  { _tag: "Gone" } as const
])("nothing was sent after %j", (sent) =>
  Effect.gen(function* () {
    expect(yield* outcomeOf(sent)).toMatchObject({ _tag: "Refused" })
  })
)

it.effect.each([
  ["404", "The server answered 404."],
  ["ENOTFOUND", "No server of this name was found."],
  ["CERT_HAS_EXPIRED", "The certificate of the server is not trusted (CERT_HAS_EXPIRED)."],
  ["EPIPE", "The connection failed (EPIPE)."]
])("%s is said in words", ([error = "", answer]) =>
  Effect.gen(function* () {
    expect(yield* outcomeOf(failed(error))).toMatchObject({ error, answer })
  })
)

it.effect.each(["500", "502", "504", "ECONNRESET", "EPIPE", "no answer in time", "error"])(
  "it is not known after %s",
  (error) =>
    Effect.gen(function* () {
      expect(yield* outcomeOf(failed(error))).toMatchObject({ _tag: "Unknown", error })
    })
)
