/** Large reads of accounts take turns, and small ones do not wait for them. */
import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Option } from "effect"
import type { AccountView } from "@data-import/domain/accounts/AccountChange"
import {
  adding,
  changeAccount,
  creditOf,
  imported,
  viewOf,
  type Whose
} from "@data-import/domain/testing/importedAccounts"
import { Database } from "../src/connection/Database.ts"
import { whileLocked } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const [large, small] = [creditOf("large"), creditOf("small")]

/** An account with a transaction that is recorded as having very many line items. */
const accountWithItems = Effect.gen(function* () {
  const account = yield* imported()
  yield* changeAccount(account, adding(large, small))
  const { run, sql } = yield* Database
  yield* run(sql`
    update transactions set line_item_count = 190000 from accounts
    where accounts.id = account_id and number = ${account.number} and transaction_id = 'large'`)
  return account
})

/** Adds a transaction, which looks up another one. */
const addAfter = (account: Whose, { transaction_id: id }: typeof large, added: string) =>
  changeAccount(account, adding(creditOf(added)), { lookup: { transactionIds: [id] } })

layer(TestDatabase.layerAllPorts, { excludeTestServices: true, timeout: "30 seconds" })(
  "a large read",
  (it) => {
    it.effect("waits only for large reads of the same organisation", () =>
      Effect.gen(function* () {
        const [first, second, other] = [
          yield* accountWithItems,
          yield* accountWithItems,
          yield* accountWithItems
        ]
        const sameCaller = { key: second.key, caller: first.caller }
        // A change of the first account waits for its row, with all that was read in memory.
        const waiting = yield* whileLocked(
          (sql) => sql`select from accounts where number = ${first.number} for update`,
          Effect.gen(function* () {
            const isRead = yield* Latch.make()
            const addFirst = (account: AccountView) => {
              isRead.openUnsafe()
              return adding(creditOf("1"))(account)
            }
            const lookup = { transactionIds: [large.transaction_id] }
            const holding = yield* Effect.forkScoped(changeAccount(first, addFirst, { lookup }))
            yield* isRead.await
            yield* addAfter(other, large, "2")
            const queued = yield* Effect.forkScoped(addAfter(sameCaller, large, "3"))
            yield* addAfter(other, large, "4")
            yield* addAfter(other, small, "5")
            const ofSameCaller = { key: other.key, caller: first.caller }
            yield* addAfter(ofSameCaller, small, "6")
            yield* addAfter(ofSameCaller, small, "7")
            expect([holding.pollUnsafe(), queued.pollUnsafe()]).toEqual([undefined, undefined])
            return [holding, queued] as const
          })
        )
        for (const fiber of waiting) {
          const seen = Option.getOrThrow(yield* Fiber.join(fiber))
          expect(seen.transactions.has(large.transaction_id)).toBe(true)
        }
      }).pipe(Effect.scoped)
    )

    it.effect("releases its budget when it is interrupted or fails", () =>
      Effect.gen(function* () {
        const account = yield* accountWithItems
        yield* whileLocked(
          (sql) => sql`select from accounts where number = ${account.number} for update`,
          Effect.gen(function* () {
            const reading = yield* Effect.forkScoped(addAfter(account, large, "1"))
            yield* viewOf(account.key, { transactionIds: [large.transaction_id] })
            yield* Fiber.interrupt(reading)
          })
        )
        const broken = changeAccount(
          account,
          () => {
            throw new Error("broken")
          },
          { lookup: { transactionIds: [large.transaction_id] } }
        )
        expect(Exit.isFailure(yield* Effect.exit(broken))).toBe(true)
        expect(Option.isSome(yield* addAfter(account, large, "2"))).toBe(true)
      }).pipe(Effect.scoped)
    )
  }
)
