/** Emptying a test organisation also deletes erased customers. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Sandbox } from "@data-import/domain/sandbox/Sandbox"
import {
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus,
  sandboxOf
} from "@data-import/domain/testing/freshNames"
import { claim, stageAll, stagedContent } from "@data-import/domain/testing/importStates"
import { rows } from "../testing/rows.ts"
import { whileLocked } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { auditFault } from "../testing/auditLog.ts"

/** An account of a test organisation whose customer was erased, and an import that was not. */
const arranged = Effect.gen(function* () {
  const { caller, keyOf, supplier } = yield* sandboxOf(yield* freshSupplier)
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

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "emptying a test organisation",
  (it) => {
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
  }
)
