/**
 * What is recorded about a refused request, whatever its body was.
 * Source: docs/contract/operator.md#audit-log.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryStore } from "../testing/memory/Store.ts"
import { expectSame } from "../testing/freshNames.ts"
import { sampleTime } from "../testing/samples.ts"
import { begin, demo, ports, programs, rivalCode, supplierCode } from "./importPrograms.ts"

const named = (import_supplier: unknown, external_account_number?: unknown) => ({
  payload: { import_supplier, external_account_number }
})

describe("recordRefusal", () => {
  it.effect.each<[string, unknown, string | null, string | null]>([
    ["no payload", null, null, null],
    ["text", "payload", null, null],
    ["a list", [], null, null],
    ["no member", {}, null, null],
    ["a null payload", { payload: null }, null, null],
    ["a payload of text", { payload: "S" }, null, null],
    ["an empty payload", { payload: {} }, null, null],
    ["values of other types", named(5, null), null, null],
    ["a supplier that does not exist", named("Erika Mustermann", "1"), null, null],
    ["a supplier that is too long", named(supplierCode.repeat(10), "1"), null, null],
    ["text that cannot be stored", named("a\0b\ud800", "1"), null, null],
    ["another organisation's supplier", named(rivalCode, "1"), rivalCode, null],
    ["a number of an own supplier", named(supplierCode, "1"), supplierCode, "1"],
    ["an own supplier with blanks around it", named(` ${supplierCode} `, 5), supplierCode, null],
    ["a number that is too long", named(supplierCode, "x".repeat(129)), supplierCode, null],
    ["a number that is none", named(supplierCode, " Erika\n"), supplierCode, null],
    ["no number", named(supplierCode), supplierCode, null]
  ])("records what is an identifier, of %s", ([, body, import_supplier, number]) =>
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
          key: { import_supplier, external_account_number: number },
          entry: { ...at, action, outcome }
        }))
      )
      expect(outbox).toEqual([])
    }).pipe(Effect.provide(ports))
  )

  it.effect("records a repeated refusal only once", () =>
    Effect.gen(function* () {
      yield* begin()
      const { stage } = yield* programs()
      yield* Effect.repeat(Effect.flip(stage(demo, named(supplierCode, "1"))), { times: 100 })
      const { audit } = yield* MemoryStore
      expect(audit).toHaveLength(1)
    }).pipe(Effect.provide(ports))
  )
})
