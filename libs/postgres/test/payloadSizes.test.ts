/** A claim knows the size of a staged payload without reading a large one. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { smallBytes } from "@data-import/domain/requests/WorkBudget"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { claim, stageAll, stagedPayload } from "@data-import/domain/testing/importStates"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(importProcesses, configuration).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

/** A claim of a staged import whose recorded size was changed. */
const claimWithSize = Effect.fnUntraced(function* (bytes: number) {
  const { caller, supplier } = yield* freshSupplier
  const key = {
    import_supplier: supplier.code,
    external_account_number: ExternalAccountNumber.make("N-1")
  }
  yield* stageAll([key], caller)
  const [staged] = yield* rows(
    (sql) => sql<{ bytes: number }>`
      select payload_bytes as bytes from import_processes where supplier = ${supplier.code}`
  )
  yield* rows(
    (sql) => sql`
      update import_processes set payload_bytes = ${bytes} where supplier = ${supplier.code}`
  )
  const { claim: claimed } = yield* claim(key, caller, noon)
  return { staged, claimed }
})

layer(storage)("a staged payload", (it) => {
  it.effect("is stored with its size", () =>
    Effect.gen(function* () {
      const { staged } = yield* claimWithSize(1)
      expect(staged).toEqual({ bytes: Buffer.byteLength(stagedPayload) })
    })
  )

  it.effect("is not read by a claim if its stored size is large", () =>
    Effect.gen(function* () {
      const bytes = smallBytes + 1
      const { claimed } = yield* claimWithSize(bytes)
      expect(claimed).toMatchObject({ _tag: "Claimed", payload: { bytes } })
    })
  )
})
