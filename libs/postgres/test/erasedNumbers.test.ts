/**
 * Account numbers that are erased from the audit log: they cannot be found any more, the chains
 * stay verifiable, and there is no other way to change entries.
 */
import { expect, it, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import fc from "fast-check"
import { createHmac } from "node:crypto"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { verifyAudit } from "../src/audit/AuditChains.ts"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { erasedNumber, hmacOf } from "../src/audit/ErasedNumbers.ts"
import { Database } from "../src/connection/Database.ts"
import { StatementFailed } from "../src/connection/SqlFailure.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as setup } from "../src/suppliers/Configuration.ts"
import { eraseNumber } from "../testing/auditChains.ts"
import { auditTables, rows } from "../testing/rows.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

const storage = Layer.provideMerge(
  Layer.mergeAll(auditLog, importProcesses, setup),
  TestDatabase.layer
)

const refuse = (key: ImportKey, caller: Caller) =>
  Effect.flatMap(AuditLog, (log) =>
    log.recordRefusal({ key, action: "stage", outcome: "permission_denied", caller, at: noon })
  )

const read = (key: ImportKey, caller: Caller) =>
  Effect.flatMap(AuditLog, (log) =>
    log.recordRead({ key, action: "read_import", caller, at: noon })
  )

const verified = Effect.flatMap(AuditLog, (log) => log.verifyAudit)

const whole = Effect.map(verified, ({ fault }) => expect(fault).toBeNull())

/** The content of all audit tables, as text. */
const stored = Effect.forEach(auditTables, (table) =>
  rows((sql) => sql<{ text: string }>`select held::text as text from ${sql(table)} held`)
).pipe(Effect.map((tables) => tables.flat().map(({ text }) => text)))

const numbersOf = ({ import_supplier }: ImportKey) =>
  rows(
    (sql) => sql<{ number: string | null; length: number; salted: boolean }>`
    select external_account_number as number, length::integer, salt is not null as salted
    from audit_chains where import_supplier = ${import_supplier} order by id`
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
  expect(decode(erasedNumber("0".repeat(64)))).toMatchObject({ _tag: "None" })
})

layer(storage, { excludeTestServices: true, timeout: "1 minute" })("the audit log", (it) => {
  it.effect("computes the HMAC of a number as Node does", () =>
    Effect.gen(function* () {
      const text = fc.string({ unit: "binary", maxLength: 200 })
      const storable = text.filter((number) => !number.includes("\0") && number.isWellFormed())
      const salt = fc.uint8Array({ minLength: 32, maxLength: 32 })
      for (const [number, key] of fc.sample(fc.tuple(storable, salt), 200)) {
        const [row] = yield* rows(
          (sql) => sql<{ hmac: string }>`
          select encode(audit_hmac(${Buffer.from(key)}, ${number}), 'hex') as hmac`
        )
        const hmac = createHmac("sha256", key).update(number).digest("hex")
        expect(row).toStrictEqual({ hmac })
        expect(hmacOf(Buffer.from(key).toString("hex"), number)).toBe(hmac)
      }
    })
  )

  it.effect("forgets an erased number, in every chain and window, and nothing else", () =>
    Effect.gen(function* () {
      const log = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const { caller: other } = yield* freshSupplier
      const { caller: stranger } = yield* freshSupplier
      const number = `number-${caller.apiKey}`
      const [key, kept] = [keyOf(number), keyOf("kept")]
      yield* Effect.all([refuse(key, caller), read(key, caller), read(key, other)])
      yield* Effect.all([refuse(kept, stranger), read(kept, caller)])
      const keptEntries = yield* log.audit(kept)
      const ofRequest = yield* log.ofRequest(caller.requestId)
      const windowsOfStranger = yield* windowsOf(stranger)
      expect((yield* stored).filter((text) => text.includes(number))).toHaveLength(5)

      expect(yield* eraseNumber(key)).toBe(3)
      expect((yield* stored).filter((text) => text.includes(number))).toEqual([])
      expect(yield* windowsOf(caller)).toMatchObject([{ digests: [] }])
      expect(windowsOfStranger).toMatchObject([{ digests: [expect.anything()] }])
      expect(yield* windowsOf(stranger)).toStrictEqual(windowsOfStranger)
      const [first, second, ...rest] = yield* numbersOf(key)
      const erased = { length: 2, salted: false }
      expect(first).toEqual({ ...erased, number: expect.stringMatching(/^ erased:[0-9a-f]{64}$/) })
      expect(second).toMatchObject({ ...erased, length: 1 })
      expect(second?.number, "unlike in another chain").not.toBe(first?.number)
      expect(rest.map(({ number, salted }) => [number, salted])).toEqual([
        ["kept", true],
        ["kept", true]
      ])
      expect(yield* log.audit(key)).toEqual([])
      expect(yield* log.audit(kept)).toStrictEqual(keptEntries)
      expect((yield* log.ofRequest(caller.requestId)).map(({ action }) => action)).toStrictEqual(
        ofRequest.map(({ action }) => action)
      )
      yield* whole
      expect(yield* eraseNumber(key), "a second time").toBe(0)
      const again = { ...key, external_account_number: first?.number ?? "" } as ImportKey
      expect(yield* eraseNumber(again), "the erased one").toBe(0)
    })
  )

  it.effect("begins a new chain if the number is written again", () =>
    Effect.gen(function* () {
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("again")
      yield* read(key, caller)
      yield* eraseNumber(key)
      yield* read(key, caller)
      expect(yield* numbersOf(key)).toMatchObject([{ salted: false }, { number: "again" }])
      expect(yield* eraseNumber(key)).toBe(1)
      yield* whole
    })
  )

  it.effect.each([
    "audit_log set outcome = outcome || 'x'",
    "audit_log set external_account_number = 'known again'",
    "audit_log set external_account_number = erased_number(sha256('x'))",
    "audit_chains set external_account_number = erased_number(sha256('x'))",
    "audit_chains set salt = sha256('x')",
    "audit_chains set hmac = sha256('x')",
    "audit_chains set head = sha256(head)"
  ])("is found altered after an erasure: %s", (alteration) =>
    Effect.gen(function* () {
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("a")
      yield* Effect.all([read(key, caller), read(key, caller)])
      yield* eraseNumber(key)
      const { sql } = yield* Database
      const altered = Effect.gen(function* () {
        yield* sql`set local session_replication_role = replica`
        yield* sql.unsafe(`update ${alteration} where import_supplier = '${key.import_supplier}'`)
        return (yield* verified).fault
      })
      expect(yield* rolledBack(altered)).not.toBeNull()
    })
  )

  it.effect("is verified while chains are erased", () =>
    Effect.gen(function* () {
      const database = yield* Database
      for (let followed = 1; followed <= 6; followed++) {
        const { caller, keyOf } = yield* freshSupplier
        const keys = ["x", "y"].map((name) => keyOf(`${name}-${caller.apiKey}`))
        for (const key of keys) yield* Effect.all([1, 2, 3].map(() => read(key, caller)))
        const erase = Effect.provideService(Effect.forEach(keys, eraseNumber), Database, database)
        const { entries } = yield* verified
        let pages = 0
        const run: typeof database.run = (effect) =>
          Effect.tap(database.run(effect), () => {
            pages += 1
            return Number(entries) - 6 + followed === pages ? erase : Effect.void
          })
        const found = yield* verifyAudit({ ...database, run }, 1)
        expect(found, `${followed} followed`).toMatchObject({ entries, fault: null })
        expect(yield* erase).toEqual([0, 0])
      }
    })
  )

  it.effect("lets others write while numbers are erased", () =>
    Effect.gen(function* () {
      const processes = yield* ImportProcesses
      const log = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const keys = Array.from({ length: 40 }, (_, index) => keyOf(`${index}-${caller.apiKey}`))
      const stage = (list: ReadonlyArray<ImportKey>) =>
        Effect.forEach(
          list,
          (key) => processes.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon }),
          {
            concurrency: "unbounded",
            discard: true
          }
        )
      yield* stage(keys)
      const erased = keys.slice(0, 10)
      yield* Effect.all(
        [
          stage(keys.toReversed()),
          stage(keys),
          Effect.forEach(keys, (key) => refuse(key, caller), { concurrency: 4 }),
          Effect.forEach(erased, eraseNumber, { concurrency: 2 })
        ],
        { concurrency: "unbounded", discard: true }
      )
      yield* Effect.forEach(erased, eraseNumber)
      yield* whole
      expect(yield* Effect.forEach(erased, log.audit)).toEqual(erased.map(() => []))
      const heads = yield* numbersOf(keyOf("a"))
      const lengths = heads.reduce((sum, { length }) => sum + length, 0)
      expect(lengths).toBe(keys.length * 4)
      const salted = heads.filter(({ salted }) => salted)
      expect(salted.map(({ number }) => number).toSorted()).toEqual(
        keys
          .slice(10)
          .map((key) => key.external_account_number)
          .toSorted()
      )
    })
  )
})

const windowsOf = ({ apiKey }: Caller) =>
  rows(
    (sql) => sql<{ digests: ReadonlyArray<bigint> }>`
    select digests from refusal_windows where api_key = ${apiKey}`
  )

const statements: ReadonlyArray<readonly [what: string, statement: string]> = [
  ["an entry", "update audit_log set outcome = 'x'"],
  ["the number of an entry", "update audit_log set external_account_number = ' erased:1'"],
  ["the hash of an entry", "update audit_log set hash = sha256('x')"],
  ["a number, to an erased one", "update audit_chains set external_account_number = ' erased:1'"],
  [
    "a number, to another erased one than its own",
    `update audit_chains set external_account_number = erased_number(sha256('x')), salt = null,
      hmac = null where salt is not null`
  ],
  [
    "more than the number when it is erased",
    `update audit_chains set external_account_number = erased_number(hmac), salt = null,
      hmac = null, head = sha256('x') where salt is not null`
  ],
  ["the salt", "update audit_chains set salt = sha256('x') where salt is not null"],
  ["the HMAC", "update audit_chains set hmac = sha256('x') where salt is not null"],
  [
    "the salt of an erased number",
    `update audit_chains set salt = sha256('x'), hmac = audit_hmac(sha256('x'),
      external_account_number) where salt is null`
  ],
  ["a chain while it grows", "update audit_chains set length = length + 1, salt = sha256('x')"],
  ["nothing", "update audit_log set outcome = outcome"]
]

layer(storage, { excludeTestServices: true })("nobody can change", (it) => {
  it.effect.each(statements)("%s", ([, statement]) =>
    Effect.gen(function* () {
      const { caller, keyOf } = yield* freshSupplier
      yield* Effect.all([read(keyOf("a"), caller), read(keyOf("b"), caller)])
      yield* eraseNumber(keyOf("a"))
      expect(yield* outcomeOf(statement)).toBe("23001")
      yield* whole
    })
  )
})
