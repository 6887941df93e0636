/**
 * An ended batch that is being retried or redacted: lines that were read before the erasure
 * would be written after it, so the erasure waits.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { endOf, finish, started, taken, textsOf } from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noonPlus } from "@data-import/domain/testing/freshNames"
import { stage } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { find } from "../src/erasure/Lines.ts"
import { whileLocked } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const number = ExternalAccountNumber.make("zqnumber")

/** A customer who is staged and named by a line of a batch that has ended. */
const ended = Effect.gen(function* () {
  const of = yield* freshSupplier
  const key = of.keyOf(number)
  yield* stage(of, [key.external_account_number])
  const batch = yield* started([number, "other"], { of })
  const chunk = yield* taken()
  yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")))
  const erase = Effect.flatMap(Erasures, (port) => port.erase({ key, at: noonPlus(300) }))
  return { batch, erase, key }
}).pipe(Effect.scoped)

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("lines that are erased", (it) => {
  it.effect.each(["for no key update", "for share"])(
    "are those of a batch without other locks: %s",
    (mode) =>
      Effect.gen(function* () {
        const { batch, erase } = yield* ended
        const failure = yield* whileLocked(
          (sql) => sql`select from batches where id = ${batch.id} ${sql.literal(mode)}`,
          Effect.flip(erase)
        )
        expect(failure._tag).toBe("StorageUnavailable")
        expect(yield* erase).toMatchObject({ _tag: "Erased", isRepeated: false, lines: 1 })
        expect((yield* textsOf(batch))[0]).toContain('"erased":true')
      })
  )

  it.effect("are searched on where a statement failed", () =>
    Effect.gen(function* () {
      const { batch, key } = yield* ended
      const database = yield* Database
      const statements: Array<string> = []
      const run: typeof database.run = (statement) =>
        Effect.suspend(() => {
          statements.push("run")
          const isFirst = statements.length % 2 === 1
          return isFirst ? Effect.fail(new StorageUnavailable({})) : database.run(statement)
        })
      const found = yield* find({ ...database, run }, key)
      expect(found.chunks).toEqual([{ batch: batch.id, first: 1 }])
      expect(statements).toHaveLength(4)
    })
  )
})
