/** Alerts while several instances raise and send them, and among many old ones. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option } from "effect"
import { Alerts } from "@data-import/domain/alerts/Alerts"
import { noAlerts } from "@data-import/domain/alerts/AlertSettings"
import { WavePlans } from "@data-import/domain/migrations/WavePlans"
import { freshHash, freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { layer as alerts } from "../src/alerts/Alerts.ts"
import { Database } from "../src/connection/Database.ts"
import { layer as plans } from "../src/migrations/WavePlans.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { scansOf } from "./tableScans.ts"

const ports = Layer.mergeAll(alerts, configuration, plans)
const counted = TestDatabase.layerCounted(Duration.seconds(20))

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

layer(Layer.provideMerge(ports, TestDatabase.layer), { excludeTestServices: true })(
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

const size = 20_000

/** Many ended batches, certificates and alerts, and differences of another supplier. */
const history = Effect.gen(function* () {
  const { run, sql } = yield* Database
  const { supplier } = yield* freshSupplier
  const { code, organisation } = supplier
  const subject = yield* userOf()
  const start = DateTime.toDateUtc(DateTime.subtract(noon, { minutes: size }))
  const each = sql`generate_series(1, ${size}::integer) as n`
  const at = sql`${start}::timestamptz + n * interval '1 minute'`
  yield* run(sql`
    insert into batches (id, organisation, supplier, operation, cohort, dry_run, parameters,
      created_at, started_at, api_key, finished_at, received, succeeded)
    select gen_random_uuid(), ${organisation}, ${code}, 'IMPORT', 'w', false, '{}', now(), now(),
      'k', ${at}, 1, 1 from ${each}`)
  yield* run(sql`
    insert into certificates (id, organisation, supplier, issued_by, requested_at, status,
      ended_at, content, jws)
    select gen_random_uuid(), ${organisation}, ${code}, '{}', now(), 'ISSUED', ${at},
      '{"tree_size":1,"control_totals":{"matches":false}}', 'x' from ${each}`)
  yield* run(sql`
    insert into check_differences (walk, subject, kind, supplier, detail, found_at)
    select 'accounts', n, 'entry', 'OTHER', 'x', now() from ${each}`)
  yield* run(sql`
    insert into alerts (kind, supplier, what, reason, raised_at, ended_at)
    select 'stuck', ${code}, n, 'x', ${at}, ${at} from ${each}`)
  yield* run(sql`
    insert into alert_deliveries (alert, subject, way, due_at, ended_at)
    select id, ${subject}, 'email', raised_at, raised_at from alerts`)
  yield* run(sql`vacuum analyze`)
  return { supplier, subject }
})

layer(Layer.provideMerge(ports, counted), { excludeTestServices: true })("old alerts", (it) => {
  it.effect("are not read to find and to send new ones", () =>
    Effect.gen(function* () {
      const { subject, supplier } = yield* history
      const { code } = supplier
      const port = yield* Alerts
      const { ended } = yield* WavePlans
      const scans = scansOf([
        "alert_deliveries",
        "alerts",
        "batches",
        "certificates",
        "check_differences"
      ])
      const before = yield* scans
      const since = DateTime.subtract(noon, { minutes: 10 })
      const found = [
        { kind: "stuck", supplier: code, what: "", reason: "x", happenedAt: null }
      ] as const
      // More often than PostgreSQL replans a statement before it keeps a plan.
      for (let index = 1; index <= 8; index++) {
        yield* ended({ suppliers: [code], since })
        yield* port.differingCertificates({ suppliers: [supplier], since })
        yield* port.alteredAccounts({ suppliers: [code], limit: 1_000 })
        yield* port.raise({ found, at: noonPlus(index * 60) })
        yield* port.claim(noonPlus(index * 60))
        yield* port.told(subject, 20)
      }
      expect(yield* scans).toStrictEqual(before)
    })
  )
})
