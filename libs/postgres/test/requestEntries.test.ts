/** The entries of one request, which are looked for in slices of the log. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { callerOf, freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { entriesOfRequest } from "../src/audit/AuditLog.ts"
import { Database } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "the entries of a request",
  (it) => {
    it.effect.each([1, 2, 3, 7, 1_000])("are all found, in order, in slices of %i", (size) =>
      Effect.gen(function* () {
        const database = yield* Database
        const { recordRefusal } = yield* AuditLog
        const { keyOf, supplier } = yield* freshSupplier
        const asked = RequestId.make(crypto.randomUUID())
        const other = callerOf(supplier.organisation)
        for (let index = 0; index < 10; index++) {
          const caller = index % 4 === 0 ? { ...other, requestId: asked } : other
          const key = keyOf(`n${index}`)
          const refusal = { action: "stage", outcome: "error", caller, at: noon } as const
          yield* recordRefusal({ ...refusal, key })
        }
        const found = yield* entriesOfRequest(database, asked, size)
        expect(found.map((entry) => entry.external_account_number)).toEqual(["n0", "n4", "n8"])
        expect(yield* entriesOfRequest(database, RequestId.make("none"), size)).toEqual([])
      })
    )
  }
)
