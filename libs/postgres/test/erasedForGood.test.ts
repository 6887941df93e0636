/** What no statement can do to an import that was erased. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { noonPlus } from "@data-import/domain/testing/freshNames"
import { imported } from "@data-import/domain/testing/importedAccounts"
import { Database } from "../src/connection/Database.ts"
import { StatementFailed } from "../src/connection/SqlFailure.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const outcomeOf = (statement: string) =>
  Effect.flatMap(Database, ({ run, sql }) =>
    Effect.catchDefect(Effect.as(run(sql.unsafe(statement)), "done"), (defect) =>
      Effect.succeed(defect instanceof StatementFailed ? String(defect.sqlState) : "none")
    )
  )

const statements = [
  ["takes it in again", "update import_processes set skipped = false where erased_at is not null"],
  ["stages it", "update import_processes set payload = '{}', skipped = false"],
  ["adds to its account", "update accounts set balance = balance + 1"]
] as const

layer(TestDatabase.layerAllPorts)("a statement", (it) => {
  it.effect.each(statements)("never %s", ([, statement]) =>
    Effect.gen(function* () {
      const { key } = yield* imported()
      yield* (yield* Erasures).erase({ key, at: noonPlus(300) })
      expect(yield* outcomeOf(statement)).toMatch(/^23/)
    })
  )
})
