/**
 * A change of an account that another one overtakes between its read and its write. Changes of one
 * process wait for each other, so each is made by a separate process.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import type { AccountView } from "@data-import/domain/accounts/AccountChange"
import { twoDecimals } from "@data-import/domain/schema/Decimal"
import { times } from "@data-import/domain/testing/freshNames"
import {
  adding,
  changeAccount,
  creditOf,
  descriptionOf,
  imported
} from "@data-import/domain/testing/importedAccounts"
import { layer as accounts } from "../src/accounts/Accounts.ts"
import { rows } from "../testing/rows.ts"
import { transactions, whileAccountsStandStill } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "a change of an account under concurrent modification",
  (it) => {
    it.effect("is decided again on the new state, and stored after the other change", () =>
      Effect.gen(function* () {
        const account = yield* imported()
        const seen = new Map<string, ReadonlyArray<string>>()
        const add = (id: string) =>
          changeAccount(account, (view: AccountView) => {
            seen.set(id, [...(seen.get(id) ?? []), twoDecimals(view.balance)])
            return adding(creditOf(id))(view)
          }).pipe(Effect.provide(Layer.fresh(accounts)))
        const changes = yield* whileAccountsStandStill(
          Effect.gen(function* () {
            const started = yield* Effect.forEach(["a", "b", "c"], (id) =>
              Effect.forkChild(add(id))
            )
            yield* Effect.repeat(transactions, { until: ({ waiting }) => waiting === 3 })
            return started
          })
        )
        yield* Effect.forEach(changes, Fiber.join)
        const balances = [...seen.values()]
        expect(
          balances.map(([first]) => first),
          "seen by all before one was stored"
        ).toEqual(times(3, "0.00"))
        expect(
          balances.map((each) => each.at(-1)).toSorted(),
          "seen by each when it was stored"
        ).toEqual(["0.00", "10.00", "20.00"])
        const described = yield* descriptionOf(account.number)
        expect([described.balance, described.transactions.length]).toEqual(["30.00", 3])
      })
    )

    it.effect("is decided again after any other change, since the database counts", () =>
      Effect.gen(function* () {
        const { number } = yield* imported()
        const changed = yield* rows(
          (sql) => sql`
          update accounts set balance = balance + 1 where number = ${number} returning revision`
        )
        expect(changed).toEqual([{ revision: 1 }])
      })
    )
  }
)
