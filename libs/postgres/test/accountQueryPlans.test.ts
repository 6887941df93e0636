/**
 * Reads of one account use indexes, however many accounts there are and whatever its statistics:
 * PostgreSQL itself counts the scans of whole tables.
 */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Option, Stream } from "effect"
import type { Lookup } from "@data-import/domain/accounts/AccountChange"
import { accountText } from "@data-import/domain/accounts/AccountText"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import {
  adding,
  card,
  changeAccount,
  changedAt,
  creditOf,
  idsOf,
  imported,
  mayStatement,
  noteOf,
  viewOf
} from "@data-import/domain/testing/importedAccounts"
import { domesticAccount } from "@data-import/domain/testing/samples"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { scansOf } from "./tableScans.ts"

const storage = TestDatabase.layerCountedPorts(Duration.seconds(4))

const scans = scansOf([
  "import_processes",
  "accounts",
  "ledgers",
  "transactions",
  "transaction_line_items",
  "transaction_tax_items",
  "notes",
  "note_documents",
  "statements",
  "payment_instructions"
])

const lookup: Lookup = {
  notes: [
    { body: "a" },
    { body: "a", created_at: changedAt },
    noteOf({ document_paths: [{ document_path: "a.pdf" }] })
  ],
  transactionIds: idsOf([creditOf("NL-T-1005"), creditOf("t")]),
  statementIds: [mayStatement("s").statement_id]
}

layer(storage, { excludeTestServices: true })("account queries", (it) => {
  it.effect("scan no whole table to view, change, describe or read an account", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const account = yield* imported(domesticAccount)
      const before = yield* scans
      // More often than PostgreSQL replans a statement before it keeps a plan.
      for (const round of Array.from({ length: 8 }, (_, index) => index)) {
        yield* viewOf(account.key, lookup)
        yield* changeAccount(
          account,
          (view) => ({
            ...adding(creditOf(`t${round}`))(view),
            notes: [{ body: "a", created_at: changedAt }],
            statements: [mayStatement(`s${round}`)],
            instruction: round === 0 ? card : null
          }),
          { lookup }
        )
        yield* changeAccount(account, () => ({}))
        yield* Stream.runDrain(accounts.describe([account.number]))
        const read = Option.getOrThrow(yield* Stream.runHead(accounts.read([account.number])))
        yield* Stream.runDrain(accountText(read))
        yield* accounts.locate(account.number)
      }
      expect(yield* scans).toStrictEqual(before)
    })
  )

  it.effect("use the indexes for the maximum number of ids, even right after an insert", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const many = Array.from({ length: 10_000 }, (_, index) => creditOf(`many ${index}`))
      const statements = many.map((each) => mayStatement(each.transaction_id))
      const notes = many.map((each) => ({ body: each.transaction_id, created_at: changedAt }))
      yield* changeAccount(account, (view) => ({ ...adding(...many)(view), statements, notes }))
      const view = yield* viewOf(account.key, {
        transactionIds: idsOf(many),
        statementIds: statements.map(({ statement_id }) => statement_id),
        notes
      })
      expect([view.transactions.size, view.statements.size]).toEqual([10_000, 10_000])
      expect(view.knownNotes.filter((note) => note !== null)).toHaveLength(10_000)
    })
  )
})
