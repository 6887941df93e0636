/** The audit log is sealed once and in whole, whoever writes and seals at the same time. */
import { expect, it } from "@effect/vitest"
import { type Context, Duration, Effect, Layer } from "effect"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { stagedHash } from "@data-import/domain/testing/importStates"
import { layerWith } from "../src/connection/Database.ts"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { layer as sealedAuditLog } from "../src/audit/SealedAuditLog.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as setup } from "../src/suppliers/Configuration.ts"
import { sealAll, verified } from "../testing/auditLog.ts"
import { rolledBack } from "../testing/rolledBack.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const ports = Layer.mergeAll(importProcesses, auditLog, sealedAuditLog, setup)
type Storage = Layer.Success<typeof ports>

/** Two processes on one database, each of which batches its own stagings. */
const twoProcesses = Effect.gen(function* () {
  const url = yield* TestDatabase.freshUrl
  const database = layerWith({ url, poolSize: 10, statementTimeout: Duration.seconds(20) })
  const process = Layer.build(Layer.fresh(Layer.provideMerge(ports, database)))
  return yield* Effect.all([process, process])
})

it.live("concurrent stagings and refusals of the same imports are sealed by two processes", () =>
  Effect.gen(function* () {
    const [one, other] = yield* twoProcesses
    const { caller, keyOf } = yield* Effect.provideContext(freshSupplier, one)
    const keys = Array.from({ length: 64 }, (_, index) => keyOf(`n${index}`))
    const refusal = { action: "stage", outcome: "error", caller, at: noon } as const
    const round = (list: ReadonlyArray<ImportKey>) =>
      Effect.gen(function* () {
        const processes = yield* ImportProcesses
        const log = yield* AuditLog
        const { seal } = yield* SealedAuditLog
        yield* Effect.all(
          list.flatMap((key) => [
            processes.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon }),
            log.recordRefusal({ ...refusal, key }),
            seal(3)
          ]),
          { concurrency: "unbounded", discard: true }
        )
      })
    const rounds = (list: ReadonlyArray<ImportKey>, context: Context.Context<Storage>) =>
      Effect.provideContext(Effect.all([round(list), round(list)], { concurrency: 2 }), context)
    yield* Effect.all([rounds(keys, one), rounds(keys.toReversed(), other)], {
      concurrency: "unbounded"
    })
    yield* Effect.provideContext(sealAll, one)
    const found = yield* Effect.provideContext(verified, other)
    expect(found).toStrictEqual({ entries: 64 * 5, fault: null })
  }).pipe(Effect.scoped)
)

it.live("a write that is rolled back leaves no gap, and what is sealed stays", () =>
  Effect.gen(function* () {
    const { caller, keyOf } = yield* freshSupplier
    const { head, seal } = yield* SealedAuditLog
    const log = yield* AuditLog
    const refuse = (number: string) =>
      log.recordRefusal({ key: keyOf(number), action: "stage", outcome: "error", caller, at: noon })
    yield* refuse("a")
    yield* rolledBack(refuse("b"))
    yield* refuse("c")
    expect(yield* seal(1)).toBe(1)
    const first = yield* head
    expect(yield* rolledBack(seal(10))).toBe(1)
    expect(yield* head).toStrictEqual(first)
    expect(yield* sealAll).toBe(1)
    expect(yield* sealAll).toBe(0)
    expect(yield* verified).toStrictEqual({ entries: 2, fault: null })
  }).pipe(Effect.provide(Layer.provideMerge(ports, TestDatabase.layer)))
)
