/**
 * Account numbers that are erased from the audit log: they cannot be found any more, the leaves
 * stay valid, and there is no other way to change entries.
 */
import { expect, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { erasedNumber } from "../src/audit/EntryHash.ts"
import { Database } from "../src/connection/Database.ts"
import { StatementFailed } from "../src/connection/SqlFailure.ts"
import { auditFault, eraseNumber, sealAll, verified } from "../testing/auditLog.ts"
import { auditTables, rows } from "../testing/rows.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

const refuse = (key: ImportKey, caller: Caller) =>
  Effect.flatMap(AuditLog, (log) =>
    log.recordRefusal({ key, action: "stage", outcome: "permission_denied", caller, at: noon })
  )

const read = (key: ImportKey, caller: Caller) =>
  Effect.flatMap(AuditLog, (log) =>
    log.recordRead({ key, action: "read_import", caller, at: noon })
  )

const whole = Effect.map(auditFault, (fault) => expect(fault).toBeNull())

/** The content of all audit tables, as text. */
const stored = Effect.forEach(auditTables, (table) =>
  rows((sql) => sql<{ text: string }>`select held::text as text from ${sql(table)} held`)
).pipe(Effect.map((tables) => tables.flat().map(({ text }) => text)))

const numbersOf = ({ import_supplier }: ImportKey) =>
  rows(
    (sql) => sql<{ number: string | null; salted: boolean }>`
    select external_account_number as number, salt is not null as salted
    from audit_log where import_supplier = ${import_supplier} order by id`
  )

/** The SQLSTATE that refuses the statement, or "done". */
const outcomeOf = (statement: string) =>
  Effect.flatMap(Database, ({ run, sql }) =>
    Effect.catchDefect(Effect.as(run(sql.unsafe(statement)), "done"), (defect) =>
      Effect.succeed(defect instanceof StatementFailed ? String(defect.sqlState) : "none")
    )
  )

it("an erased number is not a valid number", () => {
  const decode = Schema.decodeUnknownOption(ExternalAccountNumber)
  expect(decode(erasedNumber(new Uint8Array(16), "a"))).toMatchObject({ _tag: "None" })
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true, timeout: "1 minute" })(
  "the audit log",
  (it) => {
    it.effect("computes the hash of a number as Node does", () =>
      Effect.gen(function* () {
        const text = fc.string({ unit: "binary", maxLength: 200 })
        const storable = text.filter((number) => !number.includes("\0") && number.isWellFormed())
        const salt = fc.uint8Array({ minLength: 16, maxLength: 16 })
        for (const [number, key] of fc.sample(fc.tuple(storable, salt), 200)) {
          const [row] = yield* rows(
            (sql) => sql<{ erased: string }>`
          select erased_number(${Buffer.from(key)}, ${number}) as erased`
          )
          expect(row).toStrictEqual({ erased: erasedNumber(key, number) })
        }
      })
    )

    it.effect.each([true, false])(
      "forgets an erased number, in every entry and window, and nothing else (sealed: %s)",
      (isSealed) =>
        Effect.gen(function* () {
          const log = yield* AuditLog
          const { caller, keyOf } = yield* freshSupplier
          const { caller: other } = yield* freshSupplier
          const { caller: stranger } = yield* freshSupplier
          const number = `number-${caller.apiKey}`
          const [key, kept] = [keyOf(number), keyOf("kept")]
          yield* Effect.all([refuse(key, caller), read(key, caller), read(key, other)])
          yield* Effect.all([refuse(kept, stranger), read(kept, caller)])
          if (isSealed) yield* sealAll
          const keptEntries = yield* log.audit(kept)
          const ofRequest = yield* log.ofRequest(caller.requestId)
          const windowsOfStranger = yield* windowsOf(stranger)
          expect((yield* stored).filter((text) => text.includes(number))).toHaveLength(3)

          expect(yield* eraseNumber(key)).toBe(3)
          expect((yield* stored).filter((text) => text.includes(number))).toEqual([])
          expect(yield* windowsOf(caller)).toMatchObject([{ digests: [] }])
          expect(windowsOfStranger).toMatchObject([{ digests: [expect.anything()] }])
          expect(yield* windowsOf(stranger)).toStrictEqual(windowsOfStranger)
          yield* whole
          const [first, second, third, ...rest] = yield* numbersOf(key)
          for (const entry of [first, second, third]) {
            const text = expect.stringMatching(/^ erased:[0-9a-f]{64}$/) as string
            expect(entry).toEqual({ number: text, salted: false })
          }
          expect(second?.number, "unlike in another entry").not.toBe(first?.number)
          expect(rest).toEqual([
            { number: "kept", salted: true },
            { number: "kept", salted: true }
          ])
          expect(yield* log.audit(key)).toEqual([])
          expect(yield* log.audit(kept)).toStrictEqual(keptEntries)
          expect(
            (yield* log.ofRequest(caller.requestId)).map(({ action }) => action)
          ).toStrictEqual(ofRequest.map(({ action }) => action))
          expect(yield* eraseNumber(key), "a second time").toBe(0)
          const again = { ...key, external_account_number: first?.number ?? "" } as ImportKey
          expect(yield* eraseNumber(again), "the erased one").toBe(0)
        })
    )

    it.effect.each([
      "outcome = outcome || 'x'",
      "external_account_number = 'known again'",
      "external_account_number = null",
      "external_account_number = erased_number(sha256('x'), 'x')",
      "salt = sha256('x')"
    ])("is found altered after an erasure: %s", (alteration) =>
      Effect.gen(function* () {
        const { caller, keyOf } = yield* freshSupplier
        const key = keyOf("a")
        yield* Effect.andThen(Effect.all([read(key, caller), read(key, caller)]), sealAll)
        yield* eraseNumber(key)
        const { sql } = yield* Database
        const altered = Effect.gen(function* () {
          yield* sql`set local session_replication_role = replica`
          yield* sql.unsafe(
            `update audit_log set ${alteration} where import_supplier = '${key.import_supplier}'`
          )
          return (yield* verified).fault
        })
        expect(yield* rolledBack(altered)).not.toBeNull()
      })
    )

    it.effect("lets others write and seal while numbers are erased", () =>
      Effect.gen(function* () {
        const processes = yield* ImportProcesses
        const log = yield* AuditLog
        const { caller, keyOf } = yield* freshSupplier
        const keys = Array.from({ length: 40 }, (_, index) => keyOf(`${index}-${caller.apiKey}`))
        const stage = (list: ReadonlyArray<ImportKey>) =>
          Effect.forEach(
            list,
            (key) => processes.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon }),
            { concurrency: "unbounded", discard: true }
          )
        yield* stage(keys)
        const erased = keys.slice(0, 10)
        yield* Effect.all(
          [
            stage(keys.toReversed()),
            stage(keys),
            Effect.forEach(keys, (key) => refuse(key, caller), { concurrency: 4 }),
            Effect.forEach(erased, eraseNumber, { concurrency: 2 }),
            Effect.repeat(sealAll, { times: 5 })
          ],
          { concurrency: "unbounded", discard: true }
        )
        yield* Effect.forEach(erased, eraseNumber)
        yield* whole
        expect(yield* Effect.forEach(erased, log.audit)).toEqual(erased.map(() => []))
        const entries = yield* numbersOf(keyOf("a"))
        expect(entries).toHaveLength(keys.length * 4)
        const salted = entries.filter(({ salted }) => salted).map(({ number }) => number)
        expect(new Set(salted)).toEqual(
          new Set(keys.slice(10).map((key) => key.external_account_number))
        )
      })
    )
  }
)

const windowsOf = ({ apiKey }: Caller) =>
  rows(
    (sql) => sql<{ digests: ReadonlyArray<bigint> }>`
    select digests from refusal_windows where api_key = ${apiKey}`
  )

const statements: ReadonlyArray<readonly [what: string, statement: string]> = [
  ["an entry", "update audit_log set outcome = 'x'"],
  ["the number of an entry", "update audit_log set external_account_number = ' erased:1'"],
  ["the leaf of an entry", "update audit_log set leaf = sha256('x')"],
  ["the salt", "update audit_log set salt = sha256('x') where salt is not null"],
  ["the salt of an erased number", "update audit_log set salt = sha256('x') where salt is null"],
  [
    "a number, to another erased one than its own",
    `update audit_log set external_account_number = erased_number(sha256('x'), 'a'), salt = null
      where salt is not null`
  ],
  [
    "more than the number when it is erased",
    `update audit_log set external_account_number = erased_number(salt, external_account_number),
      salt = null, outcome = 'x' where salt is not null`
  ],
  ["an entry while it is sealed", "update audit_log set position = 9, leaf = '', outcome = 'x'"],
  ["nothing", "update audit_log set outcome = outcome"],
  ["the log, by deleting", "delete from audit_log"],
  ["the head, by deleting", "delete from audit_head"],
  ["the head, by emptying", "truncate audit_head"]
]

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("nobody can change", (it) => {
  it.effect.each(statements)("%s", ([, statement]) =>
    Effect.gen(function* () {
      const { caller, keyOf } = yield* freshSupplier
      yield* Effect.all([read(keyOf("a"), caller), read(keyOf("b"), caller)])
      yield* sealAll
      yield* eraseNumber(keyOf("a"))
      expect(yield* outcomeOf(statement)).toBe("23001")
      yield* whole
    })
  )
})
