/** An import that fails once more in a line counts under its new code. */
import { expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { LineImport } from "@data-import/domain/batches/Batches"
import type { FieldCode } from "@data-import/domain/codes/Code"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { ValidationFailed } from "@data-import/domain/requests/Failure"
import { finish, processSettings, started, taken } from "@data-import/domain/testing/begunBatches"
import { noonPlus } from "@data-import/domain/testing/freshNames"
import {
  attemptOf,
  ending,
  importOf,
  keyOf,
  storeSingly
} from "@data-import/domain/testing/lineImports"
import * as TestDatabase from "../testing/TestDatabase.ts"

const refused = (code: FieldCode) =>
  Result.fail(
    new ValidationFailed({
      code: "account_failed_validation",
      errors: [{ attr: "notes.0", code, detail: "Wrong." }]
    })
  )

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("a failed import", (it) => {
  it.effect("counts under the codes of its latest attempt", () =>
    Effect.gen(function* () {
      const { caller, supplier } = yield* started(["a"], processSettings)
      const key = keyOf({ supplier }, "a")
      const attempt = (code: FieldCode, seconds: number): LineImport => ({
        ...importOf(key),
        at: noonPlus(seconds),
        staging: null,
        attempt: attemptOf(refused(code))
      })
      yield* storeSingly(importOf(key), caller)
      yield* storeSingly(attempt("path_does_not_exist_in_file_store", 1), caller)
      const chunk = yield* taken()
      yield* finish(chunk, [], { imports: ending(chunk, [attempt("invalid_choice", 2)]), caller })
      const { read } = yield* SupplierSummaries
      const { codes } = yield* read({ supplier: supplier.code, cohort: null, at: noonPlus(9) })
      const counted = codes.map(({ code }) => code).toSorted()
      expect(counted).toEqual(["account_failed_validation", "invalid_choice"])
    })
  )
})
