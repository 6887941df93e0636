/** The overview and the summary agree on whether the money of a supplier adds up. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ties } from "@data-import/domain/migrations/SupplierSummary"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Migrations } from "@data-import/domain/migrations/Migrations"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import {
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import { claim, stageAll } from "@data-import/domain/testing/importStates"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as migrations } from "../src/migrations/Migrations.ts"
import { layer as summaries } from "../src/migrations/SupplierSummaries.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(importProcesses, migrations, summaries, TestDatabase.layerTeam).pipe(
  Layer.provideMerge(configuration),
  Layer.provideMerge(TestDatabase.layer)
)

type Owner = Effect.Success<typeof freshSupplier>

const importAccounts = Effect.fnUntraced(function* ({ caller, keyOf }: Owner) {
  const imports = yield* ImportProcesses
  yield* stageAll(["a", "b"].map(keyOf), caller)
  const { ledgers: _, ...without } = domesticAccount(keyOf("b"))
  for (const account of [domesticAccount(keyOf("a")), without]) {
    const key = keyOf(account === without ? "b" : "a")
    const { attempt } = yield* claim(key, caller, noon)
    const newAccount = { ...newAccountFor(key, noonPlus(1)), account }
    yield* imports.complete({ key, attempt, newAccount, caller })
  }
})

const told = Effect.fnUntraced(function* ({ supplier: { code } }: Owner) {
  const at = noonPlus(2)
  const port = yield* Migrations
  const [counts] = yield* port.overview({ suppliers: [code], at })
  const summary = yield* (yield* SupplierSummaries).read({ supplier: code, cohort: null, at })
  return [counts?.moneyTies, ties(summary)]
})

const lose = ({ supplier: { code } }: Owner, amount: string) =>
  rows(
    (sql) => sql`
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      values (${code}, null, 'ledger', 'ELECTRICITY_LEDGER', 0, ${amount}::numeric)`
  )

const fold = Effect.flatMap(SupplierSummaries, (port) =>
  port.fold({ limit: 1_000, at: noonPlus(2) })
)

layer(storage, { excludeTestServices: true })("money that does not add up", (it) => {
  it.effect("is reported by the overview and the summary alike, folded or not", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const other = yield* freshSupplier
      yield* importAccounts(owner)
      expect(yield* told(owner)).toEqual([true, true])
      yield* lose(owner, "0.01")
      expect(yield* told(owner)).toEqual([false, false])
      yield* fold
      expect(yield* told(owner)).toEqual([false, false])
      yield* lose(owner, "-0.01")
      expect(yield* told(owner)).toEqual([true, true])
      expect(yield* told(other)).toEqual([true, true])
    })
  )
})
