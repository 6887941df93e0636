/** The pages in which the balances of accounts are read. */
import { expect, layer as withLayer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { complete, stage } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { pagesOf } from "../src/migrations/AccountBalances.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

withLayer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "the balances of accounts",
  (it) => {
    it.effect("are complete on pages of any size, even if a page has none of the cohort", () =>
      Effect.gen(function* () {
        const owner = yield* freshSupplier
        yield* stage(owner, ["a", "d", "g"], "wave-1")
        yield* stage(owner, ["b", "c", "e", "f"], "wave-2")
        yield* stage(owner, ["aa", "pending"])
        for (const number of ["a", "b", "c", "d", "e", "f", "g"])
          yield* complete(owner, number, noon)
        for (const number of ["b", "c", "aa"]) {
          yield* (yield* Erasures).erase({ key: owner.keyOf(number), at: noonPlus(3) })
        }
        const database = yield* Database
        const { code: supplier } = owner.supplier
        for (const size of [1, 2, 3, 4, 7, 8, 100]) {
          const numbersOf = (cohort: string | null) =>
            Effect.map(Stream.runCollect(pagesOf(size)(database, { supplier, cohort })), (found) =>
              found.map(({ account }) => account?.externalNumber ?? "erased")
            )
          const all = ["a", "erased", "erased", "d", "e", "f", "g"]
          expect(yield* numbersOf(null), `by ${size}`).toEqual(all)
          expect(yield* numbersOf("wave-1"), `by ${size}`).toEqual(["a", "d", "g"])
        }
      })
    )
  }
)
