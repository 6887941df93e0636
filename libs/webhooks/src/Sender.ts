/**
 * Sends an event or an alert to a webhook by POST. Redirects are not followed, proxies of the
 * environment are not used, and only the status of the answer is used.
 * Source: docs/contract/webhooks.md#a-request.
 */
import { request as requestHttp, type RequestOptions } from "node:http"
import { request as requestHttps } from "node:https"
import { DateTime, Duration, Effect, Layer, Redacted } from "effect"
import {
  type Sent,
  type WebhookMessage,
  WebhookSender
} from "@data-import/domain/events/WebhookSender"
import { Webhook } from "standardwebhooks"
import { addressIn, isPublic, PrivateAddress, publicLookup } from "./Addresses.ts"

/** Within this time the whole answer has to be there. Source: Standard Webhooks. */
const answerWithin = Duration.seconds(15)

const failed = (error: string): Sent => ({ _tag: "Failed", error })

const privateAddress = failed("private address")

const headersOf = ({ at, body, id, secrets }: WebhookMessage): Record<string, string> => {
  const signatures = secrets.map((secret) =>
    new Webhook(Redacted.value(secret)).sign(id, DateTime.toDateUtc(at), body)
  )
  return {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": "data-import",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.epochMilliseconds / 1_000)),
    ...(signatures.length > 0 && { "webhook-signature": signatures.join(" ") })
  }
}

/** Why a request must not be sent, as far as its URL shows; null if it may be. */
const refusalOf = ({ allowsPrivate, url }: WebhookMessage): Sent | null => {
  const target = URL.parse(url)
  if (target === null || !/^https?:$/.test(target.protocol)) return failed("no URL")
  if (allowsPrivate) return null
  if (target.protocol !== "https:") return failed("not https")
  const address = addressIn(target)
  return address === undefined || isPublic(address) ? null : privateAddress
}

const statusOf = (status: number): Sent => {
  if (status >= 200 && status < 300) return { _tag: "Delivered" }
  return status === 410 ? { _tag: "Gone" } : failed(String(status))
}

/** A code of Node or OpenSSL; it names neither the address nor what was sent. */
const errorOf = (error: unknown): Sent => {
  if (error instanceof PrivateAddress) return privateAddress
  const { code } = error as { readonly code?: unknown }
  return failed(typeof code === "string" && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : "error")
}

const exchange = (message: WebhookMessage) =>
  Effect.callback<Sent>((resume) => {
    const options: RequestOptions = {
      method: "POST",
      headers: headersOf(message),
      agent: false,
      ...(!message.allowsPrivate && { lookup: publicLookup })
    }
    const url = new URL(message.url)
    const send = url.protocol === "https:" ? requestHttps : requestHttp
    const request = send(url, options, (response) => {
      const status = response.statusCode ?? 0
      // The body of the answer is discarded without being read.
      response.destroy()
      resume(Effect.succeed(statusOf(status)))
    })
    request.on("error", (error) => resume(Effect.succeed(errorOf(error))))
    request.end(message.body)
    return Effect.sync(() => request.destroy())
  })

const send = (message: WebhookMessage): Effect.Effect<Sent> => {
  const refusal = refusalOf(message)
  if (refusal !== null) return Effect.succeed(refusal)
  return exchange(message).pipe(
    Effect.timeoutOrElse({
      duration: answerWithin,
      orElse: () => Effect.succeed(failed("no answer in time"))
    })
  )
}

export const layer: Layer.Layer<WebhookSender> = Layer.succeed(WebhookSender, { send })
