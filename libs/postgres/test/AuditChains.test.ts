/**
 * The chains of the audit log as they are written: under any concurrency no chain forks and no
 * writers deadlock.
 */
import { expect, it, layer } from "@effect/vitest"
import { type Context, Duration, Effect, Layer } from "effect"
import fc from "fast-check"
import { randomBytes } from "node:crypto"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { ApiKeyId, type Caller } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { claim, stagedHash } from "@data-import/domain/testing/importStates"
import { verifyAudit } from "../src/audit/AuditChains.ts"
import { Database, layerWith } from "../src/connection/Database.ts"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as setup } from "../src/suppliers/Configuration.ts"
import { StatementFailed } from "../src/connection/SqlFailure.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const ports = Layer.mergeAll(importProcesses, auditLog, setup)
const storage = Layer.provideMerge(ports, TestDatabase.layer)
type Storage = Layer.Success<typeof storage>

const verified = Effect.flatMap(AuditLog, (log) => log.verifyAudit)

/** The number of entries in each chain of an organisation. */
const lengthsOf = ({ organisation }: Caller) =>
  rows(
    (sql) => sql<{ number: string | null; length: number }>`
    select external_account_number as number, length::integer from audit_chains
    where organisation = ${organisation} order by 1`
  )

interface Write {
  readonly kind: "stage" | "attempt" | "refusal" | "nothing usable" | "rolled back"
  readonly number: string
}

const refusalOf = (key: ImportKey | null, caller: Caller) => {
  const none = { import_supplier: null, external_account_number: null }
  return { key: key ?? none, action: "stage", outcome: "error", caller, at: noon } as const
}

/** A key that has had no refusal yet, so that the next one is recorded. */
const withFreshKey = (caller: Caller): Caller => ({
  ...caller,
  apiKey: ApiKeyId.make(`key_${randomBytes(8).toString("hex")}`)
})

/** Writes, and returns whether that must leave an entry. */
const carryOut = Effect.fnUntraced(function* (kind: Write["kind"], key: ImportKey, caller: Caller) {
  const processes = yield* ImportProcesses
  const log = yield* AuditLog
  switch (kind) {
    case "stage": {
      const { _tag } = yield* processes.stage({
        key,
        payload: "{}",
        hash: stagedHash,
        caller,
        at: noon
      })
      return _tag !== "Refused"
    }
    case "attempt": {
      const { attempt, claim: claimed } = yield* claim(key, caller, noon)
      if (claimed._tag !== "Claimed") return false
      const end = { outcome: "error", errors: [], dryRun: false } as const
      yield* processes.release({ key, attempt, caller, at: noon, ...end })
      return true
    }
    case "refusal":
      yield* log.recordRefusal(refusalOf(key, withFreshKey(caller)))
      return true
    case "nothing usable":
      yield* log.recordRefusal(refusalOf(null, withFreshKey(caller)))
      return true
    case "rolled back":
      yield* rolledBack(log.recordRefusal(refusalOf(key, withFreshKey(caller))))
      return false
  }
})

/** More at once would wait for a connection, and be refused if that takes too long. */
const connections = 10

const writes: fc.Arbitrary<ReadonlyArray<Write>> = fc.array(
  fc.record({
    kind: fc.constantFrom("stage", "attempt", "refusal", "nothing usable", "rolled back"),
    number: fc.constantFrom("a", "b", "c")
  }),
  { minLength: 2, maxLength: 40 }
)

layer(storage, { excludeTestServices: true, timeout: "1 minute" })("the audit chains", (it) => {
  it.effect("contain every entry once and in order under concurrent writes", () =>
    Effect.gen(function* () {
      const context: Context.Context<Storage> = yield* Effect.context<Storage>()
      const holds = Effect.fnUntraced(function* (list: ReadonlyArray<Write>) {
        const { caller, keyOf } = yield* freshSupplier
        const left = yield* Effect.forEach(
          list,
          ({ kind, number }) => carryOut(kind, keyOf(number), caller),
          { concurrency: connections }
        )
        const { fault } = yield* verified
        expect(fault).toBeNull()
        const lengths = yield* lengthsOf(caller)
        const sum = lengths.reduce((total, { length }) => total + length, 0)
        expect(sum).toBe(left.filter(Boolean).length)
      })
      const run = (list: ReadonlyArray<Write>) => Effect.runPromiseWith(context)(holds(list))
      yield* Effect.promise(() =>
        fc.assert(fc.asyncProperty(writes, run), { numRuns: 40, endOnFailure: true })
      )
    })
  )

  it.effect("are separate for each organisation that names an import", () =>
    Effect.gen(function* () {
      const log = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const stranger = yield* freshSupplier
      yield* log.recordRefusal(refusalOf(keyOf("a"), caller))
      yield* log.recordRefusal(refusalOf(keyOf("a"), stranger.caller))
      yield* log.recordRefusal(refusalOf(null, caller))
      expect(yield* lengthsOf(caller)).toStrictEqual([
        { number: "a", length: 1 },
        { number: null, length: 1 }
      ])
      expect(yield* lengthsOf(stranger.caller)).toStrictEqual([{ number: "a", length: 1 }])
      expect(yield* log.audit(keyOf("a"))).toHaveLength(2)
    })
  )

  it.effect.each([
    "update audit_chains set head = sha256('x')",
    "update audit_chains set length = length + 2",
    "update audit_chains set length = length + 1, organisation = 'another'",
    "delete from audit_chains",
    "truncate audit_chains"
  ])("can only grow: %s", (statement) =>
    Effect.gen(function* () {
      const log = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      yield* log.recordRefusal(refusalOf(keyOf("a"), caller))
      const { run, sql } = yield* Database
      const refused = yield* Effect.catchDefect(
        Effect.as(run(sql.unsafe(statement)), "accepted"),
        (defect) => Effect.succeed(defect)
      )
      expect(refused).toBeInstanceOf(StatementFailed)
      expect(refused).toMatchObject({ sqlState: "23001" })
    })
  )

  it.effect("ignore values sent by users that may only insert", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      const { caller, keyOf } = yield* freshSupplier
      const inserted = Effect.gen(function* () {
        const role = sql(`clerk_${randomBytes(8).toString("hex")}`)
        yield* sql`create role ${role}`
        yield* sql`grant usage on schema public to ${role}`
        yield* sql`grant insert on audit_log to ${role}`
        yield* sql`set local role ${role}`
        yield* sql`
          insert into audit_log ${sql.insert({
            ...keyOf("a"),
            organisation: caller.organisation,
            at: new Date(0),
            api_key: "k",
            request_id: "r",
            action: "stage",
            outcome: "created",
            chain: 1,
            position: 7,
            hash: Buffer.alloc(32)
          })}`
        yield* sql`reset role`
        return yield* Effect.all([verified, lengthsOf(caller)])
      })
      const [{ fault }, lengths] = yield* Effect.flip(
        sql.withTransaction(Effect.flatMap(inserted, Effect.fail))
      ).pipe(Effect.map((seen) => seen as Effect.Success<typeof inserted>))
      expect(fault).toBeNull()
      expect(lengths).toStrictEqual([{ number: "a", length: 1 }])
    })
  )
})

/** Two processes on one database, each of which batches its own stagings. */
const twoProcesses = Effect.gen(function* () {
  const url = yield* TestDatabase.freshUrl
  const database = layerWith({ url, poolSize: 10, statementTimeout: Duration.seconds(20) })
  const process = Layer.build(Layer.fresh(Layer.provideMerge(ports, database)))
  return yield* Effect.all([process, process])
})

it.live("concurrent batches of stagings and refusals of the same imports do not deadlock", () =>
  Effect.gen(function* () {
    const [one, other] = yield* twoProcesses
    const { caller, keyOf } = yield* Effect.provideContext(freshSupplier, one)
    const keys = Array.from({ length: 64 }, (_, index) => keyOf(`n${index}`))
    const round = (list: ReadonlyArray<ImportKey>) =>
      Effect.gen(function* () {
        const processes = yield* ImportProcesses
        const log = yield* AuditLog
        const staged = list.map((key) =>
          processes.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
        )
        const refused = list.map((key) => log.recordRefusal(refusalOf(key, caller)))
        yield* Effect.all([...staged, ...refused], { concurrency: "unbounded", discard: true })
      })
    const rounds = (list: ReadonlyArray<ImportKey>, context: Context.Context<Storage>) =>
      Effect.provideContext(
        Effect.all([round(list), round(list), round(list)], { concurrency: 3 }),
        context
      )
    yield* Effect.all([rounds(keys, one), rounds(keys.toReversed(), other)], {
      concurrency: "unbounded"
    })
    const { chains, entries, fault } = yield* Effect.provideContext(verified, other)
    expect({ chains, entries, fault }).toStrictEqual({ chains: 64, entries: 448, fault: null })
  }).pipe(Effect.scoped)
)

it.live("64 concurrent stagings of one import form one chain", () =>
  Effect.gen(function* () {
    const [one, other] = yield* twoProcesses
    const { caller, keyOf } = yield* Effect.provideContext(freshSupplier, one)
    const key = keyOf("a")
    const staging = Effect.flatMap(ImportProcesses, (processes) =>
      processes.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
    )
    yield* Effect.forEach(
      Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? one : other)),
      (context) => Effect.provideContext(staging, context),
      { concurrency: "unbounded" }
    )
    const answer = yield* Effect.provideContext(verified, one)
    expect(answer).toStrictEqual({ chains: 1, entries: 64, fault: null })
  }).pipe(Effect.scoped)
)

/** Adds this many entries to the chain of each number. */
const fill = (lengths: Readonly<Record<string, number>>) =>
  Effect.forEach(Object.entries(lengths), ([number, length]) =>
    rows(
      (sql) => sql`
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select now(), 'o', 'k', n::text, 'stage', 'created', 'S', ${number}
      from generate_series(1, ${length}::integer) n`
    )
  )

/** The fault that verification finds after the first chain was cut at `length`. */
const faultWhenCut = Effect.fnUntraced(function* (length: number, pageSize: number) {
  const database = yield* Database
  const { sql } = database
  const cut = Effect.gen(function* () {
    yield* sql`set local session_replication_role = replica`
    yield* sql`delete from audit_log where position > ${length} and external_account_number = 'a'`
    return yield* verifyAudit(database, pageSize)
  })
  return yield* rolledBack(cut)
})

it.live.each([{ a: 4 }, { a: 1, b: 1, c: 1 }, { a: 4, b: 1, c: 3 }, { a: 2, b: 6 }])(
  "verification follows a chain across pages of any size: %o",
  (lengths) =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* fill(lengths)
      const whole = {
        chains: Object.keys(lengths).length,
        entries: Object.values(lengths).reduce((total, length) => total + length, 0),
        fault: null
      }
      for (let pageSize = 1; pageSize <= whole.entries + 1; pageSize++) {
        const message = `pages of ${pageSize}`
        expect(yield* verifyAudit(database, pageSize), message).toStrictEqual(whole)
        for (let length = 0; length < lengths.a; length++) {
          const { fault } = yield* faultWhenCut(length, pageSize)
          const expected = { external_account_number: "a", position: BigInt(length + 1) }
          expect(fault, message).toMatchObject({ ...expected, why: "missing" })
        }
      }
    }).pipe(Effect.provide(storage))
)
