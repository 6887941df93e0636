/** Sends an event to a webhook, signed by the Standard Webhooks specification. */
import { Context, type DateTime, type Effect, type Redacted } from "effect"

export interface WebhookMessage {
  readonly url: string
  readonly allowsPrivate: boolean
  /** The same for each try. */
  readonly id: string
  readonly at: DateTime.Utc
  readonly body: string
  /** The message is signed with each of them; with none it is unsigned. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** `error` is short. Of the receiver's answer it has only the status. */
export type Sent =
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Gone" }
  | { readonly _tag: "Failed"; readonly error: string }

export class WebhookSender extends Context.Service<
  WebhookSender,
  { readonly send: (message: WebhookMessage) => Effect.Effect<Sent> }
>()("@data-import/domain/ports/WebhookSender") {}
