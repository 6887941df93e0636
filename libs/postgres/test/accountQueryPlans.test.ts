/**
 * Reads of one account use indexes, however many accounts there are and whatever its statistics:
 * PostgreSQL itself counts the scans of whole tables.
 */
import { expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Schema, Stream } from "effect"
import type { Lookup } from "@data-import/domain/accounts/AccountChange"
import { accountText } from "@data-import/domain/accounts/AccountText"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import {
  accountWith,
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
import { Database, rowsOf } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { scansOf } from "./tableScans.ts"

const storage = TestDatabase.layerCountedPorts(Duration.seconds(4))

const size = 3_000

/** Many accounts, each with a ledger and one item of every kind. */
const manyAccounts = Effect.gen(function* () {
  const { run, sql } = yield* Database
  const { supplier } = yield* freshSupplier
  const at = DateTime.toDateUtc(noon)
  yield* run(sql`
    with staged as (
      insert into import_processes (supplier, external_account_number, payload, staged_at)
      select ${supplier.code}, 'n' || n, '{}', ${at} from generate_series(1, ${size}::integer) n
      returning id
    ), account as (
      insert into accounts (id, import_id, number, created_at, operations_team, balance, payload)
      select id, id, 'A-' || upper(lpad(to_hex(id), 8, '0')), ${at}, 'Migration Team', 0, '{}'
      from staged
    ), ledger as (
      insert into ledgers (account_id, position, ledger_code) select id, 0, 'L' from staged
    ), note as (
      insert into notes (account_id, sequence, created_at, is_pinned)
      select id, 0, ${at}, false from staged
    ), document as (
      insert into note_documents (account_id, note_sequence, position, document_path)
      select id, 0, 0, 'a.pdf' from staged
    ), statement as (
      insert into statements (account_id, sequence, origin, statement_id, bill_period_from_date,
        bill_period_to_date, recorded_at)
      select id, 0, 'account_payload', 's', ${at}, ${at}, ${at} from staged
    ), instruction as (
      insert into payment_instructions (account_id, sequence, vendor, reference, type, details,
        created_at)
      select id, 0, 'STRIPE', 'r', 'CARD', '{}', ${at} from staged
    ), line_item as (
      insert into transaction_line_items (account_id, transaction_sequence, position, start_date,
        end_date, number_of_units, net_amount)
      select id, 0, 0, ${at}, ${at}, 1, 1 from staged
    ), tax_item as (
      insert into transaction_tax_items (account_id, transaction_sequence, position, amount,
        tax_type, value_taxed, rate, unit_type)
      select id, 0, 0, 1, 'VAT', 1, 1, 'PROPORTION' from staged
    )
    insert into transactions (account_id, sequence, origin, transaction_id, transaction_date,
      amount, type, recorded_at, line_item_count, tax_item_count)
    select id, 0, 'post_import', 't', ${at}, 1, 'CREDIT', ${at}, 1, 1 from staged`)
  yield* run(sql`update import_processes set account_id = id where supplier = ${supplier.code}`)
  yield* run(sql`select setval('accounts_id_seq', max(id)) from accounts`)
  yield* run(sql`vacuum analyze`)
})

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

const lookUpsOfNotes = Effect.gen(function* () {
  const { run, sql } = yield* Database
  yield* run(sql`select pg_stat_force_next_flush()`)
  const [row] = yield* run(
    rowsOf(Schema.Struct({ scans: Schema.BigInt }))(sql`
      select seq_scan + idx_scan as scans from pg_stat_user_tables
      where relname = 'notes'`)
  )
  return row?.scans ?? 0n
})

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
      yield* manyAccounts
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

  it.effect("measure no account after the page that is read", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const metadata = [{ key: "long", value: { text: "x".repeat(1024 * 1024) } }]
      const large = yield* Effect.replicateEffect(imported(accountWith({ metadata })), 4)
      const numbers = large.map(({ number }) => number)
      const before = yield* lookUpsOfNotes
      yield* Stream.runHead(accounts.read(numbers.slice(0, 1)))
      const ofOne = yield* lookUpsOfNotes
      yield* Stream.runHead(accounts.read(numbers))
      expect((yield* lookUpsOfNotes) - ofOne).toBe(ofOne - before)
      const all = yield* Stream.runCollect(accounts.read(numbers))
      expect(all.map(({ number }) => number)).toEqual(numbers)
    })
  )
})
