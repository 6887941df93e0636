/**
 * A superuser who knows the format of the audit log can rewrite a chain with all its hashes and its
 * head. Nothing in the database reveals that, but heads that were kept elsewhere do.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import {
  makeAuditHeadExport,
  parseExport,
  verifyExport
} from "@data-import/domain/audit/AuditHeads"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { layerMemory as auditHeads } from "@data-import/domain/testing/memory/AuditHeadStore"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { Database } from "../src/connection/Database.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import { eraseNumber } from "../testing/auditChains.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

const storage = Layer.mergeAll(auditLog, importProcesses, configuration).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.merge(auditHeads)
)

/** An import that was staged three times; its heads were kept after the second. */
const arranged = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const { caller, keyOf } = yield* freshSupplier
  const key = keyOf("a")
  const stage = imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
  yield* stage
  yield* stage
  const exported = yield* keepHeads
  yield* stage
  return { caller, key, exported }
})

const keepHeads = Effect.gen(function* () {
  const store = yield* Effect.provide(AuditHeadStore, Layer.fresh(auditHeads))
  yield* makeAuditHeadExport(yield* AuditLog, store).exportDay
  return yield* parseExport(Option.getOrThrow(yield* store.latest).text)
})

const verified = Effect.gen(function* () {
  return (yield* (yield* AuditLog).verifyAudit).fault
})

/** All hashes of the chain and its head, as the trigger would have computed them. */
const rehashed = `
  with recursive anew as (
    select id, chain, position, audit_hash(null, 1, audit_fields(audit_log) || netstring(
      (select erased_number(hmac) from audit_chains where id = chain))) as hash
    from audit_log where position = 1 and chain = wanted
    union all
    select audit_log.id, audit_log.chain, audit_log.position, audit_hash(anew.hash,
      audit_log.position, audit_fields(audit_log) || netstring(
        (select erased_number(hmac) from audit_chains where id = audit_log.chain)))
    from anew join audit_log
      on audit_log.chain = anew.chain and audit_log.position = anew.position + 1
  )
  update audit_log set hash = anew.hash from anew where anew.id = audit_log.id;
  update audit_chains set
    length = (select max(position) from audit_log where chain = wanted),
    head = (select hash from audit_log where chain = wanted order by position desc limit 1)
  where id = wanted`

const rewritings: ReadonlyArray<
  readonly [what: string, statements: string, position: bigint, why: string]
> = [
  [
    "an entry altered",
    `update audit_log set outcome = 'created' where chain = wanted and position = 2; ${rehashed}`,
    2n,
    "kept_head_differs"
  ],
  [
    "an entry taken out",
    `delete from audit_log where chain = wanted and position = 2;
     update audit_log set position = 2 where chain = wanted and position = 3; ${rehashed}`,
    2n,
    "kept_head_differs"
  ],
  [
    "its end cut off",
    `delete from audit_log where chain = wanted and position > 1; ${rehashed}`,
    2n,
    "missing"
  ],
  [
    "nothing left of it",
    `delete from audit_log where chain = wanted; delete from audit_chains where id = wanted`,
    2n,
    "missing"
  ]
]

layer(storage, { excludeTestServices: true })("a completely rewritten chain", (it) => {
  it.effect.each(rewritings)(
    "with %s is found only by kept heads",
    ([, statements, position, why]) =>
      Effect.gen(function* () {
        const { exported, key } = yield* arranged
        const { sql } = yield* Database
        const log = yield* AuditLog
        const attempt = Effect.gen(function* () {
          yield* sql.unsafe("set local session_replication_role = replica")
          const [chain] = yield* sql<{ id: string }>`
          select id from audit_chains where import_supplier = ${key.import_supplier}`
          for (const statement of statements.replaceAll("wanted", String(chain?.id)).split(";")) {
            yield* sql.unsafe(statement)
          }
          const plain = (yield* log.verifyAudit).fault
          return { plain, compared: yield* verifyExport(log, exported) }
        })
        const { compared, plain } = yield* rolledBack(attempt)
        expect(plain).toBeNull()
        expect(compared).toMatchObject({ position, why })
        expect(yield* verifyExport(log, exported)).toBeNull()
      })
  )

  it.effect("is not a chain whose number was erased", () =>
    Effect.gen(function* () {
      const { exported, key } = yield* arranged
      expect(yield* eraseNumber(key)).toBe(3)
      expect(yield* verified).toBeNull()
      expect(yield* verifyExport(yield* AuditLog, exported)).toBeNull()
    })
  )
})
