/**
 * Random histories of the audit log: chains that are written to and erased in any order. They are
 * verified at every step, and any single altered column is detected.
 */
import { expect, layer } from "@effect/vitest"
import { type Context, Effect, Layer } from "effect"
import fc from "fast-check"
import { type AuditFault, AuditLog } from "@data-import/domain/ports/AuditLog"
import type { Configuration } from "@data-import/domain/ports/Configuration"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { verifyAudit } from "../src/audit/AuditChains.ts"
import { Database } from "../src/connection/Database.ts"
import { layer as setup } from "../src/setup/Configuration.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import { eraseNumber } from "../testing/auditChains.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.provideMerge(Layer.mergeAll(auditLog, setup), TestDatabase.layer)

const numbers = ["a", "b", "c"] as const
type Number = (typeof numbers)[number]

type Step =
  | { readonly kind: "write"; readonly number: Number; readonly writer: number }
  | { readonly kind: "erase"; readonly number: Number }

const number = fc.constantFrom(...numbers)
const write = fc.record({
  kind: fc.constant("write" as const),
  number,
  writer: fc.nat({ max: 1 })
})
const erase = fc.record({ kind: fc.constant("erase" as const), number })

/** One altered column, of the entry or chain at this index, modulo their number. */
const alterations = [
  "audit_log set at = at + interval '1 second'",
  "audit_log set organisation = organisation || 'x'",
  "audit_log set api_key = api_key || 'x'",
  "audit_log set request_id = request_id || 'x'",
  "audit_log set action = 'process'",
  "audit_log set outcome = outcome || 'x'",
  "audit_log set import_supplier = import_supplier || 'x'",
  "audit_log set external_account_number = external_account_number || 'x'",
  "audit_log set external_account_number = erased_number(sha256('x'))",
  "audit_log set hash = sha256(hash)",
  "audit_log set position = position + 1000",
  "audit_chains set organisation = organisation || 'x'",
  "audit_chains set import_supplier = import_supplier || 'x'",
  "audit_chains set external_account_number = external_account_number || 'x'",
  "audit_chains set external_account_number = erased_number(sha256('x'))",
  "audit_chains set length = length + 1",
  "audit_chains set length = length - 1",
  "audit_chains set head = sha256(head)",
  "audit_chains set salt = sha256(coalesce(salt, 'x'))",
  "audit_chains set salt = case when salt is null then sha256('x') end",
  "audit_chains set hmac = sha256(coalesce(hmac, 'x'))",
  "audit_chains set hmac = case when hmac is null then sha256('x') end"
] as const

const histories = fc.record({
  first: fc.array(write, { minLength: 1, maxLength: 8 }),
  steps: fc.array(fc.oneof({ arbitrary: write, weight: 3 }, erase), { maxLength: 12 }),
  alteration: fc.constantFrom(...alterations),
  turn: fc.nat({ max: 50 }),
  pageSize: fc.integer({ min: 1, max: 7 })
})
type History = typeof histories extends fc.Arbitrary<infer A> ? A : never

const ofSupplier = (supplier: string) => `where import_supplier = '${supplier}'`

/** What is found after the alteration, which is then undone. */
const faultAfter = Effect.fnUntraced(function* (supplier: string, history: History) {
  const database = yield* Database
  const { sql } = database
  const { alteration, pageSize, turn } = history
  const table = alteration.startsWith("audit_log") ? "audit_log" : "audit_chains"
  const where = ofSupplier(supplier)
  const altered = Effect.gen(function* () {
    yield* sql`set local session_replication_role = replica`
    const rows = yield* sql.unsafe<{ id: bigint }>(`
      update ${alteration} where id = (select id from ${table} ${where} order by id
        offset ${turn} % greatest(1, (select count(*) from ${table} ${where})) limit 1)
      returning id`)
    const { fault } = yield* verifyAudit(database, pageSize)
    return rows.length === 0 ? nothingAltered : fault
  })
  return yield* rolledBack(altered)
})

const nothingAltered: AuditFault = {
  organisation: "",
  import_supplier: null,
  external_account_number: null,
  position: 0n,
  id: null,
  why: "altered"
}

const read = (key: ImportKey, caller: Caller) =>
  Effect.flatMap(AuditLog, (log) =>
    log.recordRead({ key, action: "read_import", caller, at: noon })
  )

const holds = Effect.fnUntraced(function* (history: History) {
  const { caller, keyOf, supplier } = yield* freshSupplier
  const { caller: other } = yield* freshSupplier
  const keys = new Map(numbers.map((name) => [name, keyOf(`${name}-${caller.apiKey}`)]))
  const keyFor = (name: Number) => keys.get(name) ?? keyOf(name)
  const entries = new Map<Number, number>()
  const carryOut = Effect.fnUntraced(function* (step: Step) {
    if (step.kind === "write") {
      entries.set(step.number, (entries.get(step.number) ?? 0) + 1)
      return yield* read(keyFor(step.number), [caller, other][step.writer] ?? caller)
    }
    expect(yield* eraseNumber(keyFor(step.number))).toBe(entries.get(step.number) ?? 0)
    entries.set(step.number, 0)
  })
  for (const step of history.first) yield* carryOut(step)
  yield* verifiedWhole(history.pageSize)
  for (const step of history.steps) {
    yield* carryOut(step)
    yield* verifiedWhole(history.pageSize)
  }
  expect(yield* faultAfter(supplier.code, history)).not.toBeNull()
})

const verifiedWhole = Effect.fnUntraced(function* (pageSize: number) {
  const { fault } = yield* verifyAudit(yield* Database, pageSize)
  expect(fault).toBeNull()
})

layer(storage, { excludeTestServices: true, timeout: "2 minutes" })("the audit log", (it) => {
  it.effect("is verified after any history, and any altered column is detected", () =>
    Effect.gen(function* () {
      const context: Context.Context<AuditLog | Configuration | Database> = yield* Effect.context<
        AuditLog | Configuration | Database
      >()
      const cleared = Effect.flatMap(Database, ({ run, sql }) =>
        run(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`set local session_replication_role = replica`
              yield* sql`delete from audit_log`
              yield* sql`delete from audit_chains`
            })
          )
        )
      )
      const run = (history: History) =>
        Effect.runPromiseWith(context)(Effect.andThen(cleared, holds(history)))
      yield* Effect.promise(() =>
        fc.assert(fc.asyncProperty(histories, run), { numRuns: 150, endOnFailure: true })
      )
    })
  )
})
