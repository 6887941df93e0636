/**
 * What is kept of a refused request, whatever its body was.
 * Source: docs/contract/operator.md#audit-log.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryStore } from "../src/ports/memory/Store.ts"
import { expectSame } from "../testing/freshNames.ts"
import { sampleTime } from "../testing/samples.ts"
import { begin, demo, ports, programs } from "./importPrograms.ts"

describe("recordRefusal", () => {
  it.effect.each<[unknown, string | null, string | null]>([
    [null, null, null],
    ["payload", null, null],
    [[], null, null],
    [{}, null, null],
    [{ payload: null }, null, null],
    [{ payload: "S" }, null, null],
    [{ payload: [] }, null, null],
    [{ payload: { import_supplier: 5, external_account_number: null } }, null, null],
    [{ payload: { import_supplier: " S ", external_account_number: "1" } }, " S ", "1"],
    [
      { payload: { import_supplier: "a\0b\ud800", external_account_number: "x".repeat(1_000) } },
      "ab\ufffd",
      "x".repeat(128)
    ],
    [{ payload: { import_supplier: "S".repeat(100) } }, "S".repeat(32), null]
  ])(
    "records the supplier and number that can be stored from the payload %j",
    ([body, import_supplier, external_account_number]) =>
      Effect.gen(function* () {
        yield* begin()
        const program = yield* programs()
        yield* Effect.flip(program.stage(demo, body))
        yield* Effect.flip(program.process(demo, body))
        const { audit, outbox } = yield* MemoryStore
        const { apiKey, organisation, requestId } = demo
        const at = { at: sampleTime, organisation, apiKey, requestId }
        const outcome = "account_failed_validation"
        expectSame(
          audit,
          ["stage", "process"].map((action) => ({
            key: { import_supplier, external_account_number },
            entry: { ...at, action, outcome }
          }))
        )
        expect(outbox).toEqual([])
      }).pipe(Effect.provide(ports))
  )
})
