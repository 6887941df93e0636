/**
 * Lookups stay cheap among any number of similar notes and transactions: PostgreSQL counts what it
 * reads of each index.
 */
import { expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Schema } from "effect"
import type { AccountNumber } from "@data-import/domain/accounts/Account"
import { expectSame, noon } from "@data-import/domain/testing/freshNames"
import {
  noteTimesOf,
  accountWith,
  adding,
  changeAccount,
  creditOf,
  imported,
  importedAt,
  noteOf,
  viewOf
} from "@data-import/domain/testing/importedAccounts"
import { Database, rowsOf } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = TestDatabase.layerCountedPorts(Duration.seconds(20))

const on = (...paths: ReadonlyArray<string>) => ({
  document_paths: paths.map((document_path) => ({ document_path }))
})

const many = 20_000

/** Repeats the first note of the account, each time at another second. */
const repeatFirstNote = (number: AccountNumber) =>
  Effect.flatMap(Database, ({ run, sql }) =>
    run(sql`
      with first as (
        select notes.* from notes join accounts on accounts.id = account_id
        where number = ${number} and sequence = 0
      ), added as (
        insert into notes (account_id, sequence, body, created_at, is_pinned, document_digest)
        select account_id, n, body, ${DateTime.toDateUtc(noon)}::timestamptz - n * interval '1 second',
          false, document_digest
        from first, generate_series(1, ${many}::integer) as n
      )
      insert into note_documents (account_id, note_sequence, position, document_path)
      select first.account_id, n, position, document_path
      from first join note_documents documents
        on documents.account_id = first.account_id and note_sequence = 0,
        generate_series(1, ${many}::integer) as n`)
  )

/** How many entries of the indexes of the table were read, and how often the whole table. */
const reads = (table: string) =>
  Effect.gen(function* () {
    const { run, sql } = yield* Database
    yield* run(sql`select pg_stat_force_next_flush()`)
    const [row] = yield* run(
      rowsOf(Schema.Struct({ entries: Schema.Int, scans: Schema.Int }))(sql`
        select seq_scan::integer as scans,
          (select sum(idx_tup_read)::integer from pg_stat_user_indexes
            where relname = ${table}) as entries
        from pg_stat_user_tables where relname = ${table}`)
    )
    return row ?? { entries: NaN, scans: NaN }
  })

const readsOf = <A, E, R>(table: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* reads(table)
    const answer = yield* effect
    const after = yield* reads(table)
    return { answer, entries: after.entries - before.entries, scans: after.scans - before.scans }
  })

layer(storage, { excludeTestServices: true, timeout: "1 minute" })(
  "with many equal items",
  (it) => {
    it.effect.each<[string, object]>([
      ["a body", { body: "same" }],
      ["documents", on("1.pdf", "2.pdf")]
    ])("a note is found by %s without reading the others", ([, content]) =>
      Effect.gen(function* () {
        const { key, number } = yield* imported(accountWith({ notes: [content] }))
        yield* repeatFirstNote(number)
        const known = DateTime.subtractDuration(noon, Duration.seconds(many / 2))
        const looks: ReadonlyArray<[object, DateTime.Utc | null]> = [
          [{}, importedAt],
          [{ created_at: DateTime.formatIso(known) }, known],
          [{ created_at: "1999-12-31T00:00:00Z" }, null]
        ]
        for (const [time, expected] of looks) {
          // More often than PostgreSQL replans a statement before it keeps a plan.
          for (let round = 0; round < 8; round += 1) {
            const notes = [noteOf({ ...content, ...time })]
            const { answer, entries, scans } = yield* readsOf("notes", viewOf(key, { notes }))
            expectSame(noteTimesOf(answer), [expected])
            expect(entries).toBeLessThan(10)
            expect(scans).toBe(0)
          }
        }
      })
    )

    it.effect("a transaction is added again without reading those of the same id", () =>
      Effect.gen(function* () {
        const account = yield* imported()
        yield* changeAccount(account, adding(creditOf("a")))
        const { run, sql } = yield* Database
        yield* run(sql`
        insert into transactions (account_id, sequence, occurrence, origin, transaction_id,
          transaction_date, amount, type, recorded_at)
        select account_id, n, n + 1, origin, transaction_id, transaction_date, amount, type,
          recorded_at
        from transactions join accounts on accounts.id = account_id,
          generate_series(1, ${many}::integer) as n
        where number = ${account.number}`)
        const { entries, scans } = yield* readsOf(
          "transactions",
          changeAccount(account, adding(creditOf("a"), creditOf("b")))
        )
        expect(entries).toBeLessThan(20)
        expect(scans).toBe(0)
        const last = yield* run(sql<{ last: number }>`
        select max(occurrence) as last from transactions join accounts on accounts.id = account_id
        where number = ${account.number}`)
        expect(last).toEqual([{ last: many + 2 }])
      })
    )
  }
)
