/** A supplier's whole migration in a short form; `npm run bench:journey` is the long one. */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as System from "@data-import/testbed/System"
import { journey } from "../journey/Journey.ts"

const limit = Duration.minutes(4)

layer(System.layer({ proxied: false, durable: false, seed: 1 }), {
  excludeTestServices: true,
  timeout: limit
})("a supplier's journey", (it) => {
  it.effect(
    "completes the ten commands of the README despite faults, kills and a lost network",
    () =>
      Effect.gen(function* () {
        const { checkedTenant, services } = yield* System.System
        const { faulty, steps } = yield* journey(services.gateway.url, yield* checkedTenant, 200)
        expect(faulty).toBe(20)
        expect(new Set(steps.map(({ command }) => command)).size).toBe(10)
      }),
    Duration.toMillis(limit)
  )
})
