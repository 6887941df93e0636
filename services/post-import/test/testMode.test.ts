/** Payment instructions of test keys: simulated vendors answer, and no real vendor is called. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { freshTenant, testTenantOf } from "@data-import/server/testing/Tenant"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { addInstruction, bareAccountOf, importedBy, service } from "./postImportService.ts"
import { ScriptedVendor } from "./scriptedVendor.ts"

layer(service, { excludeTestServices: true })("a payment instruction in test mode", (it) => {
  it.effect("is answered by the simulated vendor, and the same code live by the real one", () =>
    Effect.gen(function* () {
      const { timesAsked } = yield* ScriptedVendor
      const live = yield* freshTenant()
      const test = yield* testTenantOf(live.supplier)
      const ofTest = yield* importedBy(test, bareAccountOf)
      const ofLive = yield* importedBy(live, bareAccountOf)
      const reference = "pm_test_mode"
      const sent = { reference, import_supplier: wireCode(live.supplier.code) }
      expect((yield* addInstruction(ofTest, sent)).status).toBe(201)
      expect(timesAsked(reference)).toBe(0)
      expect((yield* descriptionOf(ofTest.number)).payment_instructions).toMatchObject([
        { reference, details: { brand: "visa", last_four: "4242" } }
      ])
      expect((yield* descriptionOf(ofLive.number)).payment_instructions).toEqual([])
      expect((yield* addInstruction(ofLive, sent)).status).toBe(201)
      expect(timesAsked(reference)).toBe(1)
    })
  )
})
