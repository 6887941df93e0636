/**
 * A superuser who knows the format of the audit log can rewrite entries with their leaves and the
 * head. Nothing in the database reveals that, but an export that was kept elsewhere does.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import {
  type AuditExport,
  makeAuditExport,
  parseExport,
  verifyAgainst
} from "@data-import/domain/audit/AuditExport"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { makeGrowingTree } from "@data-import/domain/merkle/MerkleTree"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layerMemory as auditHeads } from "@data-import/domain/testing/memory/AuditHeadStore"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { stagedHash } from "@data-import/domain/testing/importStates"
import { layer as sealedAuditLog } from "../src/audit/SealedAuditLog.ts"
import { Database } from "../src/connection/Database.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import { eraseNumber, sealAll, verified } from "../testing/auditLog.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(sealedAuditLog, importProcesses, configuration).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.merge(Layer.merge(auditHeads, hashing))
)

const against = (exported: AuditExport) =>
  Effect.gen(function* () {
    return (yield* verifyAgainst(yield* SealedAuditLog, yield* Hashing, exported)).fault
  })

const exported = Effect.gen(function* () {
  yield* sealAll
  const store = yield* Effect.provide(AuditHeadStore, Layer.fresh(auditHeads))
  yield* makeAuditExport(yield* SealedAuditLog, store).exportDay
  return yield* parseExport(Option.getOrThrow(yield* store.latest).text)
})

/** An import that was staged four times: once before an export, and once after the next one. */
const arranged = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const { caller, keyOf } = yield* freshSupplier
  const key = keyOf("a")
  const stage = imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
  yield* stage
  const first = yield* exported
  yield* stage
  yield* stage
  const all = yield* exported
  yield* Effect.andThen(stage, sealAll)
  const after = first.size
  return { key, first, second: { ...all, after, leaves: all.leaves.slice(Number(after)) } }
})

/** Computes all leaves and the head anew, as a sealer would have. */
const rewritten = Effect.gen(function* () {
  const { sql } = yield* Database
  const { digest } = yield* Hashing
  yield* sql`update audit_log set leaf = audit_leaf(audit_log, salt)`
  const leaves = yield* sql<{ leaf: Uint8Array }>`select leaf from audit_log order by position`
  const tree = makeGrowingTree(digest)
  for (const { leaf } of leaves) tree.append(leaf)
  yield* sql`update audit_head set size = ${leaves.length}, root = ${Buffer.from(tree.root())}`
})

const from = "(select min(position) from audit_log where import_supplier = 'SUPPLIER')"

const rewritings: ReadonlyArray<
  readonly [what: string, statements: string, place: bigint, why: string]
> = [
  [
    "an entry altered",
    `update audit_log set outcome = 'altered' where position = ${from} + 1`,
    1n,
    "kept_leaf_differs"
  ],
  [
    "an entry taken out",
    `delete from audit_log where position = ${from} + 1;
     update audit_log set position = position - 1 where position > ${from} + 1`,
    1n,
    "kept_leaf_differs"
  ],
  ["its end cut off", `delete from audit_log where position > ${from} + 1`, 2n, "missing"],
  [
    "an entry before the export altered",
    `update audit_log set outcome = 'altered' where position = ${from}`,
    0n,
    "kept_head_differs"
  ]
]

layer(storage, { excludeTestServices: true })("a completely rewritten log", (it) => {
  it.effect.each(rewritings)("with %s is found only by an export", ([, statements, place, why]) =>
    Effect.gen(function* () {
      const { first, key, second } = yield* arranged
      const { sql } = yield* Database
      const attempt = Effect.gen(function* () {
        yield* sql.unsafe("set local session_replication_role = replica")
        for (const each of statements.replaceAll("SUPPLIER", key.import_supplier).split(";")) {
          yield* sql.unsafe(each)
        }
        yield* rewritten
        const plain = (yield* verified).fault
        return { plain, compared: yield* against(second) }
      })
      const { compared, plain } = yield* rolledBack(attempt)
      expect(plain).toBeNull()
      expect(compared).toMatchObject({ position: first.size + place, why })
      if (why === "kept_head_differs") {
        expect(yield* rolledBack(Effect.andThen(attempt, against(first)))).toMatchObject({
          position: first.size,
          why: "kept_leaf_differs"
        })
      }
      expect(yield* against(second)).toBeNull()
    })
  )

  it.effect("is not one of which a number was erased", () =>
    Effect.gen(function* () {
      const { key, second } = yield* arranged
      expect(yield* eraseNumber(key)).toBe(4)
      expect((yield* verified).fault).toBeNull()
      expect(yield* against(second)).toBeNull()
    })
  )
})
