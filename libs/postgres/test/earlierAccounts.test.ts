/** Accounts that a release created before accounts could be read back. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import { Account } from "@data-import/domain/account/Account"
import { accountText } from "@data-import/domain/import/AccountText"
import { Accounts } from "@data-import/domain/ports/Accounts"
import {
  accountWith,
  changeAccount,
  changedAt,
  imported
} from "@data-import/domain/testing/importedAccounts"
import { Database } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** Removes from every row what the earlier release did not store. */
const forgetOmissions = Effect.gen(function* () {
  const { run, sql } = yield* Database
  for (const table of ["customers", "billing_addresses", "billing_options", "ledgers", "notes"]) {
    yield* run(sql`update ${sql(table)} set omitted = null`)
  }
  yield* run(sql`update accounts set omitted = null, payload_notes = null`)
})

layer(TestDatabase.layerAccounts, { excludeTestServices: true })(
  "an account of an earlier release",
  (it) => {
    it.effect("is read with its defaults, and with all its notes, as a valid payload", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const created = yield* imported(
          accountWith({
            customers: [{ family_name: "Holm" }],
            unknown_occupier: false,
            billing_address: { country: "DK" },
            account_billing_options: { period_length: "MONTHLY", period_start_day: 1 },
            ledgers: [{ ledger_code: "A" }],
            notes: [{ body: "sent" }]
          })
        )
        yield* changeAccount(created, () => ({ notes: [{ body: "added", created_at: changedAt }] }))
        yield* forgetOmissions
        const read = Option.getOrThrow(yield* Stream.runHead(accounts.read([created.number])))
        const { account, added } = JSON.parse(yield* Stream.mkString(accountText(read))) as {
          readonly account: object
          readonly added: object
        }
        expect(account).toMatchObject({
          ...created.key,
          account_type: "DOMESTIC",
          sales_channel: "DIRECT",
          customers: [{ customer_preferences: { opted_into_recommended: true } }],
          billing_address: { country: "DK", structured_street_address: null },
          account_billing_options: { period_start_month: null, use_industry_billing: false },
          ledgers: [{ current_statement_transactions: [], historical_statement_transactions: [] }],
          notes: [
            { body: "sent", is_pinned: false, created_at: "2026-01-01T12:00:20Z" },
            { body: "added", created_at: "2026-01-01T12:01:00Z" }
          ],
          metadata: []
        })
        expect(added).toMatchObject({ notes: [] })
        expect(Option.isSome(Schema.decodeUnknownOption(Account)(account))).toBe(true)
      })
    )
  }
)
