/**
 * How many of the account's existing items are read for one request, and which requests are refused
 * for that.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { Database } from "@data-import/postgres/connection/Database"
import { addTransactions, bareAccountOf, importedAccount, service } from "./postImportService.ts"

const creditOf = (transaction_id: string) => ({
  transaction_id,
  transaction_date: "2025-05-05",
  amount: "10.00",
  type: "CREDIT"
})

/** Records this many line items for the transactions of this id, without storing any. */
const countItems = (id: string, count: number) =>
  Effect.flatMap(Database, ({ run, sql }) =>
    run(sql`update transactions set line_item_count = ${count} where transaction_id = ${id}`)
  )

layer(service, { excludeTestServices: true })("existing transactions with many items", (it) => {
  it.effect("are refused at the one that exceeds the limit, and nothing is stored", () =>
    Effect.gen(function* () {
      const account = yield* importedAccount(bareAccountOf)
      yield* addTransactions(account, ["a", "b", "c"].map(creditOf))
      // About 256 KiB, twice for the four transactions that are sent.
      yield* countItems("a", 3_270)
      yield* countItems("c", 20)
      const before = yield* descriptionOf(account.number)
      const reply = yield* addTransactions(account, ["new", "a", "b", "c"].map(creditOf))
      expect(reply.status).toBe(400)
      expect(reply.json).toEqual({
        status: "TRANSACTION_IMPORT_ERROR",
        code: "too_many_existing_items",
        error_detail:
          "The transactions up to this one were added before, and have many more line and tax " +
          "items than the request sends for them; send fewer transactions at once, or each as it " +
          "was added.",
        transaction_data: creditOf("c")
      })
      expect(yield* descriptionOf(account.number)).toEqual(before)
      const { audit } = yield* recordOf(account.key)
      expect(audit.at(-1)).toBe("create_transactions too_many_existing_items")

      const fewer = yield* addTransactions(account, ["new", "a", "b"].map(creditOf))
      expect(fewer.status).toBe(201)
      const again = ["a", "b", "c"].map(creditOf)
      const unchecked = yield* addTransactions(account, again, "?check_previously_added=false")
      expect(unchecked.status).toBe(201)
    })
  )
})
