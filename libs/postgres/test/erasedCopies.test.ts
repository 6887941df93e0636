/** What copies the number of an account while its erasure has not committed yet. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option } from "effect"
import { Batches } from "@data-import/domain/batches/Batches"
import { type CertificateId, Certificates } from "@data-import/domain/certificates/Certificates"
import { Erasures, type Erasing } from "@data-import/domain/erasure/Erasures"
import { begun, found, processSettings, start } from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { type Owner, stage } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** Erases in a transaction that stays open; returns its commit. */
const erasing = Effect.fnUntraced(function* ({ keyOf }: Owner, number: string) {
  const { sql } = yield* Database
  const { erase } = yield* Erasures
  const [erased, end] = [yield* Deferred.make<Erasing>(), yield* Deferred.make<void>()]
  const transaction = yield* erase({ key: keyOf(number), at: noonPlus(300) }).pipe(
    Effect.tap((erasing) => Deferred.succeed(erased, erasing)),
    Effect.andThen(Deferred.await(end)),
    sql.withTransaction,
    Effect.forkScoped
  )
  expect(yield* Deferred.await(erased)).toMatchObject({ _tag: "Erased" })
  return Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(transaction))
})

const isWaiting = Effect.repeat(
  rows((sql) => sql`select from pg_locks where locktype = 'advisory' and not granted`),
  { until: ({ length }) => length > 0 }
)

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("an erasure", (it) => {
  it.effect("is waited for by a batch that selects imports", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, ["gone", "here"])
      const { supplier } = owner
      const batch = yield* begun({
        ...processSettings,
        of: owner,
        supplier: supplier.code,
        pending: {}
      })
      const commit = yield* erasing(owner, "gone")
      const starting = yield* Effect.forkChild(start(batch, 0))
      yield* isWaiting
      yield* commit
      yield* Fiber.join(starting)
      expect((yield* found(batch)).counts.received).toBe(1)
      const page = { id: batch.id, afterLine: 0, limit: 10, outcome: null }
      const lines = yield* (yield* Batches).lines(page)
      expect(lines.map((line) => line.externalAccountNumber)).toEqual([
        owner.keyOf("here").external_account_number
      ])
    })
  )

  it.effect("is waited for by a certificate", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, ["gone"])
      const commit = yield* erasing(owner, "gone")
      const { caller, supplier } = owner
      const { request, take } = yield* Certificates
      const { id } = yield* request({
        id: crypto.randomUUID() as CertificateId,
        supplier: supplier.code,
        cohort: null,
        issuer: { organisation: caller.organisation, role: "client", id: caller.apiKey },
        caller,
        at: noon,
        recorder: null
      })
      const next = take({ at: noon, until: DateTime.add(noon, { minutes: 2 }) })
      expect(yield* next).toEqual(Option.none())
      yield* commit
      expect(Option.getOrThrow(yield* next).id).toBe(id)
    })
  )
})
