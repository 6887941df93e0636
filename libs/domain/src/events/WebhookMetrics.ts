/**
 * The metrics of webhooks in the events service. Every instance reports the same states.
 */
import { Effect, Metric } from "effect"
import type { Sent } from "./WebhookSender.ts"
import type { Webhook, Webhooks } from "./Webhooks.ts"

const states = ["delivering", "failing", "disabled"] as const

const stateOf = ({ disabledBy, lastError }: Webhook): (typeof states)[number] => {
  if (disabledBy !== null) return "disabled"
  return lastError === null ? "delivering" : "failing"
}

const webhooksIn = (state: (typeof states)[number]) =>
  Metric.gauge("data_import_webhooks", {
    description: "Webhooks by how their last tries ended.",
    attributes: { state }
  })

const outcomes = { Delivered: "delivered", Gone: "gone", Failed: "failed" } as const

const deliveries = (outcome: (typeof outcomes)[Sent["_tag"]]) =>
  Metric.counter("data_import_webhook_deliveries_total", {
    description: "Events that this instance has sent to webhooks, by outcome.",
    incremental: true,
    attributes: { outcome }
  })

/** Counts the outcome of an event that was sent. */
export const countSent = ({ _tag }: Sent): Effect.Effect<void> =>
  Metric.update(deliveries(outcomes[_tag]), 1)

export const report = (webhooks: Webhooks["Service"]) =>
  Effect.flatMap(webhooks.list(null), (all) =>
    Effect.forEach(
      states,
      (state) =>
        Metric.update(
          webhooksIn(state),
          all.filter((webhook) => stateOf(webhook) === state).length
        ),
      { discard: true }
    )
  )
