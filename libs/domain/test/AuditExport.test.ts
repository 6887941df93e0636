/** The daily export of the sealed audit log. What it finds is tested with the storage. */
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { makeAuditExport, parseExport, verifyAgainst } from "../src/audit/AuditExport.ts"
import { AuditHeadStore } from "../src/audit/AuditHeadStore.ts"
import { SealedAuditLog } from "../src/audit/SealedAuditLog.ts"
import { Hashing } from "../src/requests/Hashing.ts"
import { layerMemory as auditHeads } from "../testing/memory/AuditHeadStore.ts"
import { layerMemory as auditLog } from "../testing/memory/AuditLog.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as hashing } from "../testing/memory/Hashing.ts"
import { layerMemory as imports } from "../testing/memory/ImportProcesses.ts"
import { layerMemory as sealedAuditLog } from "../testing/memory/SealedAuditLog.ts"
import { arrange } from "../testing/importStates.ts"

const storage = Layer.mergeAll(
  auditLog,
  auditHeads,
  imports,
  configuration,
  hashing,
  sealedAuditLog
)

const exporter = Effect.gen(function* () {
  return makeAuditExport(yield* SealedAuditLog, yield* AuditHeadStore)
})

const latest = Effect.gen(function* () {
  const { name, text } = Option.getOrThrow(yield* (yield* AuditHeadStore).latest)
  return { name, ...(yield* parseExport(text)) }
})

const staged = Effect.gen(function* () {
  yield* arrange("pending")
  return yield* (yield* SealedAuditLog).seal(100)
})

it.effect(
  "there is one export a day, each with the leaves after the last, and they stay true",
  () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-02-03T00:00:00Z"))
      expect(yield* staged).toBe(1)
      const fiber = yield* Effect.forkChild((yield* exporter).run)
      yield* TestClock.adjust("1 minute")
      const first = yield* latest
      expect(first).toMatchObject({ name: "2026-02-03", at: "2026-02-03T00:00:00.000Z", size: 1n })
      yield* staged
      yield* staged
      yield* TestClock.adjust("23 hours")
      expect(yield* latest).toStrictEqual(first)
      yield* TestClock.adjust("2 hours")
      const second = yield* latest
      expect(second).toMatchObject({ name: "2026-02-04", after: 1n, size: 3n })
      expect(second.leaves).toHaveLength(2)
      yield* staged
      const log = yield* SealedAuditLog
      for (const kept of [first, second]) {
        expect(yield* verifyAgainst(log, yield* Hashing, kept)).toEqual({ entries: 4, fault: null })
      }
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(storage))
)

it.effect("a log that is shorter than an export, or has other leaves, is found", () =>
  Effect.gen(function* () {
    yield* staged
    yield* staged
    yield* (yield* exporter).exportDay
    const kept = yield* latest
    const log = yield* SealedAuditLog
    const other = "ab".repeat(32)
    const found = (changed: Partial<typeof kept>) =>
      Effect.flatMap(Hashing, (hashes) => verifyAgainst(log, hashes, { ...kept, ...changed }))
    const leaves = [...kept.leaves.slice(0, 1), other]
    expect(yield* found({ leaves })).toMatchObject({
      fault: { position: 2n, why: "kept_leaf_differs", entry: { id: 2n } }
    })
    const without = { after: 2n, leaves: [], root: other }
    expect(yield* found(without)).toMatchObject({
      fault: { position: 2n, why: "kept_head_differs" }
    })
    expect(yield* found({ size: 3n })).toMatchObject({ fault: { position: 3n, why: "missing" } })
  }).pipe(Effect.provide(storage))
)

it.effect("a log with a missing leaf is not exported", () =>
  Effect.gen(function* () {
    yield* staged
    yield* staged
    const log = yield* SealedAuditLog
    const store = yield* AuditHeadStore
    const leaves: typeof log.leaves = (page) =>
      Effect.map(log.leaves(page), (all) => all.filter(({ position }) => position !== 1n))
    const exit = yield* Effect.exit(makeAuditExport({ ...log, leaves }, store).exportDay)
    expect(Exit.hasDies(exit)).toBe(true)
    expect(Option.isNone(yield* store.latest)).toBe(true)
  }).pipe(Effect.provide(storage))
)

const leaf = "ab".repeat(32)
const whole = `{"format":"audit-log-1","at":"2026-02-03T00:00:00.000Z","after":"3","size":"5","root":"${leaf}"}
${leaf}
${leaf}
{"leaves":2}
`
const lines = whole.split("\n")
const without = (line: number) => lines.toSpliced(line, 1).join("\n")

it.effect.each<readonly [what: string, text: string]>([
  ["empty", ""],
  ["without its first line", without(0)],
  ["without a leaf", without(1)],
  ["without its last line", without(3)],
  ["cut off in a line", whole.slice(0, 200)],
  ["cut off before its last line break", whole.trimEnd()],
  ["followed by another", whole + whole],
  ["of another format", whole.replace("log-1", "log-2")],
  ["with a size that is none", whole.replace('"5"', '"x"')],
  ["with fewer leaves than it says", whole.replace('"5"', '"6"')],
  ["with a leaf that is none", whole.replace(`${leaf}\n{`, `${leaf}x\n{`)]
])("an export that is %s is refused", ([, text]) =>
  Effect.gen(function* () {
    expect((yield* parseExport(whole)).leaves).toHaveLength(2)
    expect((yield* Effect.flip(parseExport(text)))._tag).toBe("NotAnExport")
  })
)
