/** The daily export of the heads of audit chains, and the comparison with one. */
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { makeAuditHeadExport, parseExport, verifyExport } from "../src/audit/AuditHeads.ts"
import { AuditHeadStore } from "../src/audit/AuditHeadStore.ts"
import { type AuditHead, AuditLog } from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { layerMemory as auditHeads } from "../testing/memory/AuditHeadStore.ts"
import { layerMemory as auditLog } from "../testing/memory/AuditLog.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as imports } from "../testing/memory/ImportProcesses.ts"
import { freshSupplier, noon } from "../testing/freshNames.ts"
import { stagedHash } from "../testing/importStates.ts"

const storage = Layer.mergeAll(auditLog, auditHeads, imports, configuration)

const exporting = Effect.gen(function* () {
  return makeAuditHeadExport(yield* AuditLog, yield* AuditHeadStore)
})

const latest = Effect.gen(function* () {
  return Option.getOrThrow(yield* (yield* AuditHeadStore).latest)
})

const stage = Effect.gen(function* () {
  const { caller, keyOf } = yield* freshSupplier
  const key = keyOf("a")
  yield* (yield* ImportProcesses).stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
})

it.effect("an export has the heads of all chains, and the chains have them for good", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.parse("2026-02-03T04:05:06Z"))
    yield* stage
    yield* stage
    const { exportDay } = yield* exporting
    expect(yield* exportDay).toBe(true)
    const { name, text } = yield* latest
    expect(name).toBe("2026-02-03")
    const exported = yield* parseExport(text)
    const log = yield* AuditLog
    const heads = yield* log.heads({ after: 0n, limit: 10 })
    expect(exported).toStrictEqual({ at: "2026-02-03T04:05:06.000Z", heads })
    expect(heads).toHaveLength(2)
    yield* stage
    expect(yield* verifyExport(log, exported)).toBeNull()
  }).pipe(Effect.provide(storage))
)

it.effect("there is one export a day, and the first one stays", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.parse("2026-02-03T00:00:00Z"))
    const { run } = yield* exporting
    const fiber = yield* Effect.forkChild(run)
    yield* TestClock.adjust("1 minute")
    const first = yield* latest
    yield* stage
    yield* TestClock.adjust("23 hours")
    expect(yield* latest).toStrictEqual(first)
    yield* TestClock.adjust("2 hours")
    const second = yield* latest
    expect(second.name).toBe("2026-02-04")
    expect((yield* parseExport(second.text)).heads).toHaveLength(1)
    yield* Fiber.interrupt(fiber)
  }).pipe(Effect.provide(storage))
)

it.effect("heads are read and compared in pages, and a missing head is found", () =>
  Effect.gen(function* () {
    const all = Array.from({ length: 12_345 }, (_, index): AuditHead => ({
      chain: BigInt(index + 1),
      length: 1n,
      hash: String(index)
    }))
    const asked: Array<number> = []
    const log = {
      heads: ({ after, limit }: { readonly after: bigint; readonly limit: number }) =>
        Effect.succeed(all.slice(Number(after), Number(after) + limit)),
      verifyHeads: (heads: ReadonlyArray<AuditHead>) =>
        Effect.sync(() => {
          asked.push(heads.length)
          return null
        })
    }
    yield* makeAuditHeadExport(log, yield* AuditHeadStore).exportDay
    const exported = yield* parseExport((yield* latest).text)
    expect(exported.heads).toStrictEqual(all)
    expect(yield* verifyExport(log, exported)).toBeNull()
    expect(asked).toStrictEqual([5_000, 5_000, 2_345])
  }).pipe(Effect.provide(storage))
)

const whole = `{"format":"audit-heads-1","at":"2026-02-03T00:00:00.000Z"}
{"chain":"1","length":"2","hash":"ab"}
{"chain":"2","length":"1","hash":"cd"}
{"heads":2}
`
const lines = whole.split("\n")
const without = (line: number) => lines.toSpliced(line, 1).join("\n")

it.effect.each<readonly [what: string, text: string]>([
  ["empty", ""],
  ["without its first line", without(0)],
  ["without a head", without(1)],
  ["without its last line", without(3)],
  ["cut off in a line", whole.slice(0, 100)],
  ["cut off before its last line break", whole.trimEnd()],
  ["followed by another", whole + whole],
  ["of another format", whole.replace("heads-1", "heads-2")],
  ["with a length that is none", whole.replace('"2"', '"x"')]
])("an export that is %s is refused", ([, text]) =>
  Effect.gen(function* () {
    expect((yield* parseExport(whole)).heads).toHaveLength(2)
    expect((yield* Effect.flip(parseExport(text)))._tag).toBe("NotAnExport")
  })
)
