/**
 * The scheduled checks report exactly one difference if one row was altered by hand, against every
 * rule of the database, and none on a busy system without alterations.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { makeScheduledChecks } from "@data-import/domain/checks/ScheduledChecks"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { type CheckKind, Checks } from "@data-import/domain/checks/Checks"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { EventLog } from "@data-import/domain/events/EventLog"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { endOf, finish, started, taken } from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noonPlus } from "@data-import/domain/testing/freshNames"
import { importedFrom } from "@data-import/domain/testing/hashedAccounts"
import { adding, changeAccount, creditOf } from "@data-import/domain/testing/importedAccounts"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { layerPorts } from "../src/Storage.ts"
import { Database } from "../src/connection/Database.ts"
import { sealAll } from "../testing/auditLog.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(TestDatabase.layerTeam, hashing).pipe(
  Layer.provideMerge(layerPorts),
  Layer.provideMerge(TestDatabase.layer)
)

const scheduled = Effect.gen(function* () {
  return makeScheduledChecks({
    accounts: yield* Accounts,
    checks: yield* Checks,
    hashing: yield* Hashing,
    sealed: yield* SealedAuditLog
  })
})

const positions = Effect.flatMap(EventLog, (log) => log.assignPositions(10_000))

/** What the checks find, and the differences that are then stored. */
const found = Effect.gen(function* () {
  const { differences } = yield* (yield* scheduled).checkAll
  const standing = yield* (yield* Checks).differences({ walk: null, limit: Infinity })
  expect(standing.map(({ check, detail }) => `${check} ${detail}`).toSorted()).toEqual(
    differences.map(({ check, detail }) => `${check} ${detail}`).toSorted()
  )
  return differences.map(({ check, detail, supplier }) => ({ check, detail, supplier }))
})

/** An account with additions, a batch with ended lines, and the audit log of both. */
const arranged = Effect.gen(function* () {
  const owner = yield* freshSupplier
  const account = yield* importedFrom(domesticPayload(), owner)
  yield* changeAccount(account, adding(creditOf("added")))
  const batch = yield* started(["a", "b", "c"], { of: owner })
  yield* Effect.gen(function* () {
    const chunk = yield* taken()
    const [first, second] = chunk.lines
    if (!first || !second) throw new Error("A line is missing")
    yield* finish(chunk, [endOf("SUCCEEDED")(first), endOf("FAILED")(second)])
  }).pipe(Effect.scoped)
  yield* positions
  yield* sealAll
  return { account, batch, supplier: owner.supplier.code }
})

/** Alters rows as a superuser can, without any trigger. */
const alter = Effect.fnUntraced(function* (statement: string) {
  const { run, sql } = yield* Database
  const altering = Effect.andThen(
    sql.unsafe("set local session_replication_role = replica"),
    Effect.forEach(statement.split(";"), (each) => sql.unsafe(each))
  )
  yield* run(sql.withTransaction(altering))
})

interface Alteration {
  readonly alter: string
  readonly undo: string
  readonly finds: ReadonlyArray<readonly [check: CheckKind, detail: string | RegExp]>
  /** The row that could tell the supplier is not there, or is of all. */
  readonly ofNobody?: true
}

const account = "(select id from import_processes where payload_hash = decode('HASH', 'hex'))"
const addedRow = `account_id = ${account} and origin = 'post_import'`
const ofAccount = `account_id = ${account}`
const firstRow = `account_id = ${account} and sequence = 0`
const firstEntry =
  "id = (select min(audit_log.id) from audit_log where import_supplier = 'SUPPLIER')"
const anotherHash = /^payload [0-9a-f]{64}, account [0-9a-f]{64}$/
const differingBy = (rows: string) => new RegExp(`, account [0-9a-f]{64} by rows of ${rows}$`)

const alterations: Readonly<Record<string, Alteration>> = {
  "a balance that was altered": {
    alter: `update accounts set balance = balance + 0.01 where id = ${account}`,
    undo: `update accounts set balance = balance - 0.01 where id = ${account}`,
    finds: [["balance", /difference 0\.01$/]]
  },
  "an altered amount of a transaction that was added": {
    alter: `update transactions set amount = amount + 1 where ${addedRow}`,
    undo: `update transactions set amount = amount - 1 where ${addedRow}`,
    finds: [["balance", /difference -1\.00$/]]
  },
  "an altered amount of a transaction of the payload": {
    alter: `update transactions set amount = amount + 1 where ${firstRow}`,
    undo: `update transactions set amount = amount - 1 where ${firstRow}`,
    finds: [
      ["balance", /difference -?1\.00$/],
      ["payload_hash", differingBy("transactions")]
    ]
  },
  "an altered rate of a bill of the payload": {
    alter: `update transaction_line_items set rate_band = rate_band || 'x' where ${ofAccount}`,
    undo: `update transaction_line_items set rate_band = left(rate_band, -1) where ${ofAccount}`,
    finds: [["payload_hash", differingBy("transactions")]]
  },
  "a ledger that was altered": {
    alter: `update ledgers set ledger_code = ledger_code || 'x' where ${ofAccount}`,
    undo: `update ledgers set ledger_code = left(ledger_code, -1) where ${ofAccount}`,
    finds: [["payload_hash", differingBy("ledgers, transactions")]]
  },
  "an altered entry of an account": {
    alter: `update accounts set entry = '"added":"0"', entry_sums = '{}' where id = ${account}`,
    undo: `update accounts set entry = null, entry_sums = null where id = ${account}`,
    finds: [["entry", "the stored entry is not that of the account"]]
  },
  "a name that was altered": {
    alter: `update accounts
      set payload = replace(payload::text, '"family_name":"', '"family_name":"x')::json
      where id = ${account}`,
    undo: `update accounts
      set payload = replace(payload::text, '"family_name":"x', '"family_name":"')::json
      where id = ${account}`,
    finds: [["payload_hash", anotherHash]]
  },
  "a note that was removed": {
    alter: `update notes set account_id = -account_id where ${firstRow}`,
    undo: `update notes set account_id = -account_id where account_id = -${account}`,
    finds: [["payload_hash", differingBy("notes")]]
  },
  "a statement of another period": {
    alter: `update statements set bill_period_to_date = bill_period_to_date + 1
      where ${firstRow}`,
    undo: `update statements set bill_period_to_date = bill_period_to_date - 1
      where ${firstRow}`,
    finds: [["payload_hash", differingBy("statements")]]
  },
  "an account that cannot be read any more": {
    alter: `insert into payment_instructions
        (account_id, sequence, vendor, reference, type, details, created_at)
      values (${account}, 0, 'VENDOR', 'reference', 'CARD', '{}', now())`,
    undo: `delete from payment_instructions where account_id = ${account}`,
    finds: [["payload_hash", /^payload [0-9a-f]{64}, account unreadable$/]]
  },
  "a chunk that was removed": {
    alter: "update batch_chunks set batch = gen_random_uuid() where batch = 'BATCH'",
    undo: `update batch_chunks set batch = 'BATCH'
      where not exists (select from batches where id = batch)`,
    finds: [["batch_counts", /^received 3, lines 0; succeeded 1, lines 0; /]]
  },
  "counts of a batch that were altered": {
    alter: "update batches set failed = failed - 1, already = already + 1 where id = 'BATCH'",
    undo: "update batches set failed = failed + 1, already = already - 1 where id = 'BATCH'",
    finds: [["batch_counts", "already 1, lines 0; failed 0, lines 1"]]
  },
  "an outcome of a line that was altered": {
    alter: "update batch_chunks set outcomes[2] = 'SUCCEEDED' where batch = 'BATCH'",
    undo: "update batch_chunks set outcomes[2] = 'FAILED' where batch = 'BATCH'",
    finds: [["batch_counts", "succeeded 1, lines 2; failed 1, lines 0"]]
  },
  "an entry of the audit log that was altered": {
    alter: `update audit_log set request_id = request_id || 'x' where ${firstEntry}`,
    undo: `update audit_log set request_id = left(request_id, -1) where ${firstEntry}`,
    finds: [["audit_log", /^entry \d+: altered$/]]
  },
  "an entry of the audit log that was moved": {
    alter: `update audit_log set position = -position where ${firstEntry}`,
    undo: "update audit_log set position = -position where position < 0",
    finds: [["audit_log", /^entry \d+: missing$/]],
    ofNobody: true
  },
  "the last entry of the audit log that was moved": {
    alter: `update audit_log set position = -position
      where position = (select max(position) from audit_log)`,
    undo: "update audit_log set position = -position where position < 0",
    finds: [["audit_log", /^entry \d+: missing$/]],
    ofNobody: true
  },
  "an entry of the audit log that was altered with its leaf": {
    alter: `update audit_log set request_id = request_id || 'x' where ${firstEntry};
      update audit_log set leaf = audit_leaf(audit_log, salt) where ${firstEntry}`,
    undo: `update audit_log set request_id = left(request_id, -1) where ${firstEntry};
      update audit_log set leaf = audit_leaf(audit_log, salt) where ${firstEntry}`,
    finds: [["audit_log", /^entry \d+: head_differs$/]],
    ofNobody: true
  },
  "a head of the audit log that was set back": {
    alter: "update audit_head set size = size - 1",
    undo: "update audit_head set size = size + 1",
    finds: [["audit_log", /^entry \d+: beyond_head$/]],
    ofNobody: true
  }
}

layer(storage, { excludeTestServices: true })("the scheduled checks", (it) => {
  it.effect.each(Object.entries(alterations))("see %s", ([, each]) =>
    Effect.gen(function* () {
      const { account: made, batch, supplier } = yield* arranged
      const filled = (statement: string) =>
        statement
          .replaceAll("HASH", made.hash)
          .replaceAll("SUPPLIER", supplier)
          .replaceAll("BATCH", batch.id)
      expect(yield* found).toEqual([])
      yield* alter(filled(each.alter))
      expect(yield* found).toEqual(
        each.finds.map(([check, detail]) => ({
          check,
          detail: typeof detail === "string" ? detail : expect.stringMatching(detail),
          supplier: each.ofNobody === true ? null : supplier
        }))
      )
      yield* alter(filled(each.undo))
      expect(yield* found).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.effect("see an import that was removed, and the differences after it", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const [first, second] = yield* Effect.all([
        importedFrom(domesticPayload(), owner),
        importedFrom(domesticPayload(), owner)
      ])
      yield* positions
      yield* alter("create table removed as select * from import_processes with no data")
      yield* alter(`
        with removed_row as (
          delete from import_processes where payload_hash = decode('${first.hash}', 'hex')
          returning *
        )
        insert into removed select * from removed_row`)
      yield* alter(`update accounts set balance = balance + 1 where number = '${second.number}'`)
      expect(yield* found).toEqual([
        { check: "payload_hash", detail: "the import is missing", supplier: null },
        {
          check: "balance",
          detail: expect.stringMatching(/difference 1\.00$/),
          supplier: owner.supplier.code
        },
        {
          check: "entry",
          detail: "the stored entry is not that of the account",
          supplier: owner.supplier.code
        }
      ])
      yield* alter("insert into import_processes overriding system value select * from removed")
      yield* alter(`update accounts set balance = balance - 1 where number = '${second.number}'`)
      yield* alter("drop table removed")
      expect(yield* found).toEqual([])
    })
  )

  it.effect("see an event that has waited for its position for more than a minute", () =>
    Effect.gen(function* () {
      yield* arranged
      yield* alter("update outbox set position = null where id = (select max(id) from outbox)")
      expect(yield* found).toEqual([
        { check: "event_lag", detail: expect.stringMatching(/ \d+ s$/), supplier: null }
      ])
      yield* positions
      expect(yield* found).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.effect("see nothing while imports, additions, erasures and batches are written", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const write = Effect.fnUntraced(function* (index: number) {
        const made = yield* importedFrom(domesticPayload(), owner)
        for (const id of ["1", "2", "3"]) yield* changeAccount(made, adding(creditOf(id)))
        if (index % 3 === 0) {
          yield* (yield* Erasures).erase({ key: made.key, at: noonPlus(300) })
        }
      })
      const work = Effect.gen(function* () {
        yield* started(["a", "b"], { of: owner })
        const chunk = yield* taken()
        yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
      }).pipe(Effect.scoped)
      const indexes = Array.from({ length: 60 }, (_, index) => index)
      const writing = yield* Effect.forkChild(
        Effect.all(
          [
            Effect.forEach(indexes, write, { concurrency: 4 }),
            Effect.forEach(indexes.slice(0, 20), () => work)
          ],
          { concurrency: 2 }
        )
      )
      const { checkAll } = yield* scheduled
      let checks = 0
      while (writing.pollUnsafe() === undefined) {
        const { differences } = yield* checkAll
        // Everything written here is dated long ago, so its events seem to lag.
        expect(differences.filter(({ check }) => check !== "event_lag")).toEqual([])
        checks += 1
      }
      yield* Fiber.join(writing)
      expect(checks).toBeGreaterThan(1)
      yield* positions
      expect(yield* found).toEqual([])
    })
  )
})
