/**
 * Which lines of PROCESS are not stored together with the others of their chunk.
 * Source: docs/contract/batches.md#work.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { makeLineRunner } from "../src/batches/LineRunner.ts"
import { Documents, DocumentsUnavailable } from "../src/documents/Documents.ts"
import { PayloadHash } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { noFaults } from "../testing/faults.ts"
import { times } from "../testing/freshNames.ts"
import { domesticPayload } from "../testing/samples.ts"
import { batchOf, lineOf, linePrograms } from "./batchPrograms.ts"
import { begin, demo, key, keyOf, programs } from "./importPrograms.ts"
import { world } from "./postImportPrograms.ts"

const ofKey = ({ external_account_number }: typeof key) => ({ external_account_number })

/** Stages imports of these texts, and returns a line for each. */
const stagedTexts = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  yield* begin()
  const processes = yield* ImportProcesses
  const hash = PayloadHash.make("a".repeat(64))
  const at = yield* DateTime.now
  return yield* Effect.forEach(texts, (payload, index) => {
    const own = keyOf(`N${index}`)
    const staged = processes.stage({ key: own, payload, hash, caller: demo, at })
    return Effect.as(staged, lineOf(ofKey(own), index + 1))
  })
})

describe("a line of PROCESS is not prepared to be stored with others", () => {
  it.effect("beyond a mebibyte of payloads", () =>
    Effect.gen(function* () {
      const text = JSON.stringify({ unknown: "x".repeat(60_000) })
      const lines = yield* stagedTexts(Array.from({ length: 18 }, () => text))
      const { prepare } = makeLineRunner(
        yield* linePrograms(),
        batchOf("PROCESS"),
        demo,
        Effect.void
      )
      const prepared = yield* Effect.forEach(lines, prepare)
      expect(prepared.map((each) => each?._tag ?? null)).toEqual([...times(17, "Import"), null])
      const again = yield* Effect.forEach(lines.slice(0, 1), prepare)
      expect(again).toMatchObject([{ _tag: "Import" }])
    }).pipe(Effect.provide(world))
  )

  it.effect("while the number of attempts is limited", () =>
    Effect.gen(function* () {
      const lines = yield* stagedTexts(["{}"])
      const accountImport = yield* programs(noFaults(), { CONCURRENCY_LIMIT: "5" })
      const all = { ...(yield* linePrograms()), accountImport }
      const { prepare } = makeLineRunner(all, batchOf("PROCESS"), demo, Effect.void)
      expect(yield* Effect.forEach(lines, prepare)).toEqual([null])
    }).pipe(Effect.provide(world))
  )

  it.effect("if documents are unavailable: its attempt says so, and the line waits", () =>
    Effect.gen(function* () {
      yield* begin()
      yield* (yield* programs()).stage(demo, { payload: domesticPayload() })
      const away = new DocumentsUnavailable({})
      const files = Documents.of({ ...(yield* Documents), find: () => Effect.fail(away) })
      const accountImport = yield* Effect.provideService(programs(), Documents, files)
      const all = { ...(yield* linePrograms()), accountImport }
      const { prepare } = makeLineRunner(all, batchOf("PROCESS"), demo, Effect.void)
      const waiting = yield* prepare(lineOf(ofKey(key)))
      expect(waiting).toMatchObject({ _tag: "Postponed", waitingFor: "DOCUMENTS" })
      const { attempts } = Option.getOrThrow(yield* (yield* ImportProcesses).details(key, 5))
      expect(attempts.map(({ outcome }) => outcome)).toEqual(["service_unavailable"])
    }).pipe(Effect.provide(world))
  )
})
