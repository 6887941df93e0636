/** Alerts while several instances raise and send them, and among many old ones. */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { Alerts } from "@data-import/domain/alerts/Alerts"
import { noAlerts } from "@data-import/domain/alerts/AlertSettings"
import { freshHash, freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** A user who is told by e-mail that a migration fails, and that one is stuck. */
const userOf = Effect.fnUntraced(function* () {
  const { save } = yield* Alerts
  const subject = freshHash()
  const user = {
    subject,
    name: subject,
    role: "viewer",
    organisations: null,
    suppliers: null
  } as const
  const settings = { ...noAlerts, kinds: ["stuck"], email: "mia@example.com" } as const
  yield* save({ user, signedInAt: noon, settings, at: noon })
  return subject
})

const together = { concurrency: "unbounded" } as const

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "alerts of several instances",
  (it) => {
    it.effect("are raised once, and each is sent by one of them", () =>
      Effect.gen(function* () {
        const { begin, claim, raise, told } = yield* Alerts
        const { supplier } = yield* freshSupplier
        const subject = yield* userOf()
        const found = Array.from({ length: 60 }, (_, index) => ({
          kind: "stuck" as const,
          supplier: supplier.code,
          what: String(index),
          reason: "x",
          happenedAt: null
        }))
        const four = Array.from({ length: 4 }, (_, index) => noonPlus(index))
        const turns = four.map((at) => begin({ at, pause: Duration.seconds(50) }))
        expect((yield* Effect.all(turns, together)).filter((begun) => begun)).toHaveLength(1)
        yield* Effect.forEach(four, (at) => raise({ found, at }), together)
        const claims = four.map(() => claim(noonPlus(9)))
        const sent = (yield* Effect.all(claims, together)).flatMap(Option.toArray)
        const ids = sent.flatMap((delivery) => delivery.alerts.map(({ id }) => id))
        const left = Option.toArray(yield* claim(noonPlus(9)))
        ids.push(...left.flatMap((delivery) => delivery.alerts.map(({ id }) => id)))
        expect([ids.length, new Set(ids).size]).toEqual([60, 60])
        expect(yield* claim(noonPlus(9_999))).toEqual(Option.none())
        const states = (yield* told(subject, 99)).map(({ state }) => state)
        expect(new Set(states)).toEqual(new Set(["UNKNOWN"]))
      })
    )
  }
)
