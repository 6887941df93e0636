/** Clients that disconnect in the middle of a request: it takes effect completely or not at all. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { tablesBut } from "@data-import/postgres/testing/rows"
import { transactions, whileAccountsStandStill } from "@data-import/postgres/testing/standstill"
import { beginPost, until, untilLogged } from "@data-import/server/testing/RunningService"
import {
  bodyOf,
  holdingsOf,
  importedAccount,
  names,
  paths,
  sendSample,
  service
} from "./postImportService.ts"

/** The distinct statuses of the lines of an answer. */
const statusesIn = (text: string) => new Set(text.match(/"status":"(NOTE|TRANSACTION)_\w+"/g))

layer(service, { excludeTestServices: true })("a client that disconnects", (it) => {
  it.effect.each(names)("before its request was complete changes nothing: %s", (name) =>
    Effect.gen(function* () {
      const account = yield* importedAccount()
      const before = yield* tablesBut()
      for (const part of [0, 0.5, 0.99]) {
        const id = `half-${name}-${part}`
        const connection = yield* beginPost(
          account.tenant,
          paths[name],
          id,
          bodyOf(name, account),
          part
        )
        connection.reset()
        expect(yield* untilLogged(id)).not.toContain(`"level":"ERROR"`)
      }
      expect(yield* tablesBut()).toEqual(before)
      expect((yield* sendSample(name, account)).status).toBe(201)
    })
  )

  describe("while its request is in progress", () => {
    it.effect.each(names)("finds it done completely or not at all, and once: %s", (name) =>
      Effect.gen(function* () {
        const untroubled = yield* importedAccount()
        yield* sendSample(name, untroubled)
        const account = yield* importedAccount()
        const before = yield* holdingsOf(account)
        const id = `gone-${name}`
        yield* whileAccountsStandStill(
          Effect.gen(function* () {
            const connection = yield* beginPost(
              account.tenant,
              paths[name],
              id,
              bodyOf(name, account)
            )
            yield* until(transactions, ({ waiting }) => waiting === 1)
            connection.reset()
            yield* untilLogged(id)
          })
        )
        yield* until(transactions, ({ open, waiting }) => open + waiting === 0)
        const whole = yield* holdingsOf(untroubled)
        expect([before, whole]).toContainEqual(yield* holdingsOf(account))
        const again = yield* sendSample(name, account)
        expect(again.status).toBe(201)
        expect(yield* holdingsOf(account)).toEqual(whole)
        const { events } = yield* recordOf(account.key)
        expect(events).toEqual((yield* recordOf(untroubled.key)).events)
      })
    )
  })

  it.effect.each(names)("right after it was sent finds the same: %s", (name) =>
    Effect.gen(function* () {
      const untroubled = yield* importedAccount()
      yield* sendSample(name, untroubled)
      const whole = yield* holdingsOf(untroubled)
      for (let round = 0; round < 5; round++) {
        const account = yield* importedAccount()
        const id = `sent-${name}-${round}`
        const connection = yield* beginPost(account.tenant, paths[name], id, bodyOf(name, account))
        connection.reset()
        yield* untilLogged(id)
        const again = yield* sendSample(name, account)
        expect(again.status).toBe(201)
        expect(statusesIn(again.text).size).toBeLessThan(2)
        expect(yield* holdingsOf(account)).toEqual(whole)
      }
    })
  )
})
