/** Emptying a test organisation also deletes erased customers. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Sandbox } from "@data-import/domain/sandbox/Sandbox"
import {
  callerOf,
  freshSupplier,
  freshTestOrganisation,
  newAccountFor,
  noon,
  noonPlus,
  testSupplierOf
} from "@data-import/domain/testing/freshNames"
import { claim, stageAll, stagedContent } from "@data-import/domain/testing/importStates"
import { layer as erasures } from "../src/erasure/Erasures.ts"
import { layer as sealedAuditLog } from "../src/audit/SealedAuditLog.ts"
import { layer as sandboxes } from "../src/sandbox/Sandbox.ts"
import { rows } from "../testing/rows.ts"
import { whileLocked } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { auditFault } from "../testing/auditLog.ts"

const storage = Layer.mergeAll(erasures, sandboxes, sealedAuditLog).pipe(
  Layer.provideMerge(TestDatabase.layerAccounts)
)

/** An account of a test organisation whose customer was erased, and an import that was not. */
const arranged = Effect.gen(function* () {
  const live = yield* freshSupplier
  const { name } = yield* freshTestOrganisation(live.caller.organisation)
  const supplier = testSupplierOf(name, live.supplier)
  yield* Effect.flatMap(Configuration, (setup) => setup.createSupplier(supplier))
  const caller = callerOf(name)
  const keyOf = (number: string): ImportKey => ({
    import_supplier: supplier.code,
    external_account_number: ExternalAccountNumber.make(number)
  })
  const imports = yield* ImportProcesses
  const key = keyOf("erased")
  yield* imports.stage({ key, ...stagedContent, caller, at: noon })
  const { attempt } = yield* claim(key, caller, noon)
  const newAccount = newAccountFor(key, noonPlus(1))
  yield* imports.complete({ key, attempt, newAccount, caller })
  yield* stageAll([keyOf("staged")], caller)
  const erasing = yield* (yield* Erasures).erase({ key, at: noonPlus(2) })
  expect(erasing._tag).toBe("Erased")
  const deleteSlice = Effect.flatMap(Sandbox, (sandbox) =>
    sandbox.deleteSlice({ caller, at: noonPlus(300), limit: 100 })
  )
  const left = rows(
    (sql) => sql<{ number: string }>`
      select external_account_number as number from import_processes
      where supplier = ${supplier.code} order by 1`
  )
  return { caller, deleteSlice, key, left, number: newAccount.number }
})

layer(storage, { excludeTestServices: true })("emptying a test organisation", (it) => {
  it.effect("deletes an erased customer with the rest of the account", () =>
    Effect.gen(function* () {
      const { caller, deleteSlice, key, left, number } = yield* arranged
      expect(yield* deleteSlice).toMatchObject({ deleted: { imports: 2, accounts: 1 } })
      expect(yield* left).toEqual([])
      const accounts = rows((sql) => sql`select id from accounts where number = ${number}`)
      expect(yield* accounts).toEqual([])
      const imports = yield* ImportProcesses
      expect(
        yield* imports.stage({
          key,
          ...stagedContent,
          caller,
          at: noonPlus(301)
        })
      ).toMatchObject({ _tag: "Created" })
      expect(yield* auditFault).toBeNull()
    })
  )

  it.effect("leaves an erased account that is locked, and deletes the others", () =>
    Effect.gen(function* () {
      const { deleteSlice, left, number } = yield* arranged
      const slice = yield* whileLocked(
        (sql) => sql`select from accounts where number = ${number} for no key update`,
        deleteSlice
      )
      expect(slice).toMatchObject({ deleted: { imports: 1, accounts: 0 }, isEmpty: false })
      expect(yield* left).toEqual([{ number: "erased" }])
    })
  )
})
