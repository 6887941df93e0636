/** A database that goes away and comes back, seen through the service. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { away, DatabaseProxy, proxyTo } from "@data-import/postgres/testing/DatabaseProxy"
import { tablesBut } from "@data-import/postgres/testing/rows"
import { transactions, whileAccountsStandStill } from "@data-import/postgres/testing/standstill"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { ask, persistently, until } from "@data-import/server/testing/RunningService"
import {
  holdingsOf,
  importedAccount,
  databaseUserUrl,
  names,
  sendSample,
  serviceOn
} from "./postImportService.ts"

const serviceBehindProxy = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* freshUrl
    const service = Effect.map(DatabaseProxy, (proxy) =>
      serviceOn(url, { DATABASE_URL: databaseUserUrl(proxy.url) })
    )
    return Layer.provideMerge(Layer.unwrap(service), proxyTo(url))
  })
)

/** Far more than a refusal takes, and less than any wait for a connection or a lock. */
const quickly = "4 seconds"

const isAway = { code: "service_unavailable", detail: expect.any(String) as string }

layer(serviceBehindProxy, { excludeTestServices: true })("without its database", (it) => {
  it.effect.each(names)("a request is refused at once and stores nothing: %s", (name) =>
    Effect.gen(function* () {
      const account = yield* importedAccount()
      const before = yield* tablesBut()
      const refused = yield* away(Effect.timeout(sendSample(name, account), quickly))
      expect(refused.status).toBe(503)
      expect(refused.headers["retry-after"]).toBe("1")
      expect(refused.json).toStrictEqual(isAway)
      expect(yield* tablesBut()).toEqual(before)
      expect((yield* persistently(sendSample(name, account))).status).toBe(201)
    })
  )

  it.effect.each(names)("a request it was in the middle of is done once in the end: %s", (name) =>
    Effect.gen(function* () {
      const { cut, mend } = yield* DatabaseProxy
      const untroubled = yield* importedAccount()
      yield* sendSample(name, untroubled)
      const account = yield* importedAccount()
      const interrupted = yield* whileAccountsStandStill(
        Effect.gen(function* () {
          const asking = yield* Effect.forkChild(sendSample(name, account))
          yield* until(transactions, ({ waiting }) => waiting === 1)
          yield* cut
          return yield* Fiber.join(asking).pipe(Effect.timeout(quickly), Effect.ensuring(mend))
        })
      )
      expect([interrupted.status, interrupted.json]).toStrictEqual([503, isAway])
      yield* until(transactions, ({ open, waiting }) => open + waiting === 0)
      expect((yield* persistently(sendSample(name, account))).status).toBe(201)
      expect(yield* holdingsOf(account)).toEqual(yield* holdingsOf(untroubled))
      const { events } = yield* recordOf(account.key)
      expect(events).toEqual((yield* recordOf(untroubled.key)).events)
    })
  )

  describe("the service", () => {
    it.effect("is alive and ready", () =>
      Effect.gen(function* () {
        const statuses = Effect.forEach(["/health/live", "/health/ready"], (path) =>
          Effect.map(ask({ path }), ({ status }) => status)
        )
        expect(yield* away(Effect.timeout(statuses, quickly))).toEqual([200, 200])
      })
    )
  })
})
