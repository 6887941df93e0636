/** Under which outcome a verification is counted. */
import { expect, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import {
  byCard,
  cardMethod,
  json,
  layerOf,
  type Script,
  status,
  verified
} from "./scriptedVendors.ts"

const answering =
  (answer: () => Response): Script =>
  () =>
    Effect.sync(answer)

const outcomes: ReadonlyArray<readonly [outcome: string, script: Script]> = [
  ["verified", answering(() => json(cardMethod))],
  ["rejected", answering(() => status(404))],
  ["credentials", answering(() => status(401))],
  ["credentials", answering(() => status(403))],
  ["unavailable", answering(() => status(503))],
  ["unreachable", () => Effect.fail({ code: "CERT_HAS_EXPIRED" })]
]

it.effect.each(outcomes)("a verification counts as %s", ([outcome, script]) =>
  Effect.gen(function* () {
    yield* verified(byCard)
    const counted = (yield* Metric.snapshot).flatMap((metric) =>
      metric.id === "data_import_vendor_request_duration_seconds" && metric.type === "Histogram"
        ? [{ ...metric.attributes, count: metric.state.count }]
        : []
    )
    expect(counted).toEqual([{ vendor: "STRIPE", outcome, count: 1 }])
  }).pipe(Effect.provide(layerOf(script)), Effect.provideService(Metric.MetricRegistry, new Map()))
)
