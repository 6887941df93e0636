/**
 * The same supplier code in live and in test mode: the programs of each organisation see its own
 * supplier, and answer with the code as it was sent.
 * Source: docs/contract/sandbox.md#supplier-codes.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { makeLineRunner } from "../src/batches/LineRunner.ts"
import { layer as importQuery, ImportQuery } from "../src/imports/ImportQuery.ts"
import { OrganisationName } from "../src/suppliers/Organisation.ts"
import { codeIn, wireCode } from "../src/suppliers/Supplier.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { callerOf, supplierOf } from "../testing/freshNames.ts"
import { sampleTime } from "../testing/samples.ts"
import { batchOf, lineOf, linePrograms, payload } from "./batchPrograms.ts"
import {
  begin,
  demo,
  key,
  processBody,
  programs,
  stageBody,
  supplierCode
} from "./importPrograms.ts"
import { world } from "./postImportPrograms.ts"

const test = callerOf(OrganisationName.make("demo-test"))
const testCode = codeIn("test", wireCode(supplierCode))
const code = wireCode(supplierCode)
const number = key.external_account_number

/** Creates the test supplier of the same code beside the live one. */
const beginBoth = Effect.gen(function* () {
  yield* begin({ documentCheck: false })
  const setup = yield* Configuration
  yield* setup.createOrganisation(test.organisation, sampleTime, demo.organisation)
  const supplier = { ...supplierOf(test.organisation), code: testCode, documentCheck: false }
  yield* setup.createSupplier({ ...supplier, documentRoot: "demo-test" })
})

const all = Layer.provideMerge(importQuery, world)

describe("an import of a code that exists in both modes", () => {
  it.effect("cannot be addressed by the stored form of the code", () =>
    Effect.gen(function* () {
      yield* beginBoth
      const program = yield* programs()
      const query = yield* ImportQuery
      yield* program.stage(test, stageBody())
      // On the wire it is trimmed, so it is the live supplier's code.
      const named = { payload: { ...payload(), import_supplier: testCode } }
      expect((yield* program.validate(demo, named)).import_supplier).toBe(code)
      expect((yield* Effect.flip(query.status(demo, testCode, number)))._tag).toBe("NotFound")
    }).pipe(Effect.provide(all))
  )

  it.effect("is recorded in the audit log under the caller's own supplier if it is refused", () =>
    Effect.gen(function* () {
      yield* beginBoth
      const program = yield* programs()
      for (const caller of [test, demo]) yield* Effect.flip(program.process(caller, processBody()))
      const { audit } = yield* MemoryStore
      const refused = audit.filter(({ entry }) => entry.action === "process")
      expect(refused.map((each) => [each.entry.organisation, each.key])).toEqual([
        [test.organisation, { import_supplier: testCode, external_account_number: number }],
        [demo.organisation, { import_supplier: supplierCode, external_account_number: number }]
      ])
    }).pipe(Effect.provide(all))
  )
})

describe("a line of a test batch", () => {
  const run = Effect.fnUntraced(function* (sent: unknown) {
    const settings = { supplier: testCode }
    const batch = { ...batchOf("IMPORT", settings), organisation: test.organisation }
    const ended = yield* makeLineRunner(yield* linePrograms(), batch, test, Effect.void).run(
      lineOf(sent)
    )
    return ended._tag === "Ended" ? (JSON.parse(ended.end.text) as ReadonlyArray<unknown>) : null
  })

  it.effect.each([payload(), { ...payload(), import_supplier: code }])(
    "imports for the test supplier, by its code on the wire or by none",
    (sent) =>
      Effect.gen(function* () {
        yield* beginBoth
        expect(yield* run(sent)).toEqual(["SUCCEEDED", null, null, true])
        const { imports } = yield* MemoryStore
        expect([...imports.keys()]).toEqual([testCode])
      }).pipe(Effect.provide(all))
  )
})
