/** What the metrics of the events service say of webhooks; every instance reports the same. */
import { Effect, Metric } from "effect"
import type { Webhook, Webhooks } from "../ports/Webhooks.ts"

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
