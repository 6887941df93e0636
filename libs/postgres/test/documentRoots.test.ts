/**
 * Document roots of two organisations. The contract of the port cannot show this, because it sees
 * no transactions.
 */
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  freshOrganisation,
  freshSupplier,
  hex,
  supplierOf
} from "@data-import/domain/testing/freshNames"
import { Database } from "../src/connection/Database.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** Two ways to give a supplier of a new organisation its root. */
const ways = {
  create: (documentRoot: string) =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { name } = yield* freshOrganisation
      return Effect.asVoid(configuration.createSupplier({ ...supplierOf(name), documentRoot }))
    }),
  set: (documentRoot: string) =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      return Effect.asVoid(configuration.configureSupplier(supplier.code, { documentRoot }))
    })
}

const pairs = (["create", "set"] as const).flatMap((first) =>
  (["create", "set"] as const).map((second) => [first, second] as const)
)

const isWaiting = rows(
  (sql) => sql`
    select from pg_locks where not granted and locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`
).pipe(Effect.map(({ length }) => length > 0))

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("document roots", (it) => {
  describe("of two concurrent commands", () => {
    it.effect.each(pairs)("are compared after the first is stored: %s and %s", ([first, second]) =>
      Effect.gen(function* () {
        const { sql } = yield* Database
        const root = hex(16)
        const before = yield* ways[first](root)
        const after = yield* ways[second](`${root}/sub`)
        const isStored = yield* Latch.make()
        const later = yield* Effect.forkChild(Effect.andThen(isStored.await, Effect.flip(after)))
        yield* Effect.gen(function* () {
          yield* before
          yield* isStored.open
          yield* Effect.repeat(isWaiting, {
            until: (waiting) => waiting || later.pollUnsafe() !== undefined
          })
        }).pipe(sql.withTransaction)
        expect((yield* Fiber.join(later))._tag).toBe("DocumentRootTaken")
      })
    )
  })
})
