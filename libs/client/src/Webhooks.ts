/**
 * Verifies that a request to a webhook comes from the service, according to Standard Webhooks, and
 * returns its event. It needs only Web Crypto.
 * Source: docs/contract/webhooks.md#a-request.
 */
import { Clock, Data, Effect } from "effect"
import { isObject } from "@data-import/domain/schema/Json"
import { parseExactly } from "./Answers.ts"
import type { ImportEvent } from "./EventFeed.ts"

/**
 * The request does not come from the service, or its time is too far from now. Answer it with 400.
 */
export class WebhookRejected extends Data.TaggedError("WebhookRejected")<{
  readonly code: "missing_header" | "timestamp_too_old" | "invalid_signature" | "invalid_body"
}> {
  override get message(): string {
    return `${this.code}: the request to the webhook is not accepted.`
  }
}

export interface WebhookRequest {
  /** The raw body as it was received, not parsed. */
  readonly body: string | Uint8Array
  /** By names in lower case, or as `fetch` has them. */
  readonly headers:
    | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
    | { readonly get: (name: string) => string | null }
}

export interface WebhookOptions {
  /** How much older or newer than now a request may be, in seconds; 300 unless given. */
  readonly toleranceSeconds?: number
}

/** The message that the service sends. */
export interface WebhookMessage {
  /** The name of the event. Ignore those that you do not know. */
  readonly type: string
  readonly timestamp: string
  readonly data: ImportEvent
}

const encoder = new TextEncoder()

type Bytes = Uint8Array<ArrayBuffer>

const bytesOf = (body: string | Uint8Array): Bytes =>
  typeof body === "string" ? encoder.encode(body) : (body as Bytes)

const base64 = (text: string): Bytes | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const headerIn = ({ headers }: WebhookRequest, name: string): string | undefined => {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined
  const value = (headers as Readonly<Record<string, string | undefined>>)[name]
  return typeof value === "string" ? value : undefined
}

const rejected = (code: WebhookRejected["code"]) => Effect.fail(new WebhookRejected({ code }))

const keyOf = (secret: string) => {
  const bytes = base64(secret.replace(/^whsec_/, ""))
  if (bytes === undefined) throw new TypeError("The secret of a webhook is base64 after whsec_.")
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  return crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"])
}

/** Whether one of the signatures is that of this secret. The comparison takes constant time. */
const isSigned = async (secret: string, signatures: ReadonlyArray<Bytes>, content: Bytes) => {
  const key = await keyOf(secret)
  const results = await Promise.all(
    signatures.map((signature) => crypto.subtle.verify("HMAC", key, signature, content))
  )
  return results.includes(true)
}

const signaturesIn = (header: string): ReadonlyArray<Bytes> =>
  header.split(" ").flatMap((each) => {
    const signature = each.startsWith("v1,") ? base64(each.slice("v1,".length)) : undefined
    return signature === undefined ? [] : [signature]
  })

const signedContent = (id: string, timestamp: string, body: Bytes): Bytes => {
  const head = encoder.encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

const defaultTolerance = 300

/** The message of a request, or why it is not accepted. While a secret rotates, pass both. */
export const verify = (
  request: WebhookRequest,
  secrets: string | ReadonlyArray<string>,
  { toleranceSeconds = defaultTolerance }: WebhookOptions = {}
): Effect.Effect<WebhookMessage, WebhookRejected> =>
  Effect.gen(function* () {
    const [id, timestamp, header] = ["id", "timestamp", "signature"].map((name) =>
      headerIn(request, `webhook-${name}`)
    )
    if (id === undefined || timestamp === undefined || header === undefined) {
      return yield* rejected("missing_header")
    }
    const now = (yield* Clock.currentTimeMillis) / 1_000
    const isRecent =
      /^\d+$/.test(timestamp) && Math.abs(now - Number(timestamp)) <= toleranceSeconds
    if (!isRecent) return yield* rejected("timestamp_too_old")
    const body = bytesOf(request.body)
    const content = signedContent(id, timestamp, body)
    const signatures = signaturesIn(header)
    const verified = yield* Effect.promise(() =>
      Promise.all([secrets].flat().map((secret) => isSigned(secret, signatures, content)))
    )
    if (!verified.includes(true)) return yield* rejected("invalid_signature")
    const message = parseExactly(new TextDecoder().decode(body))
    if (!isObject(message) || !isObject(message["data"])) return yield* rejected("invalid_body")
    return message as unknown as WebhookMessage
  })

/** The message of a request. Rejects with `WebhookRejected`. */
export const verifyWebhook = (
  request: WebhookRequest,
  secrets: string | ReadonlyArray<string>,
  options?: WebhookOptions
): Promise<WebhookMessage> => Effect.runPromise(verify(request, secrets, options))
