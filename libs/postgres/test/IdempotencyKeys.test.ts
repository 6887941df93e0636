/** The table of keys: keys are found by index, and old ones are deleted. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import { noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { freshKeyed, reserve } from "@data-import/domain/testing/keyedRequests"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = TestDatabase.layerCountedPorts(Duration.seconds(20))

/**
 * This many keys of `organisation` with an answer, which expire from the instant on, one per ms.
 */
const fill = (organisation: string, count: number, at: DateTime.Utc) =>
  rows(
    (sql) => sql`
      insert into idempotency_keys (organisation, key, fingerprint, token, expires_at, answer)
      select ${organisation}, 'k' || n, 'f', 't', ${DateTime.toDateUtc(at)} + n * interval '1 ms',
        '201 {}'
      from generate_series(1, ${count}::integer) n`
  )

layer(storage, { excludeTestServices: true })("idempotency keys", (it) => {
  it.effect("are deleted in small batches, an hour after expiry", () =>
    Effect.gen(function* () {
      yield* rows((sql) => sql`delete from idempotency_keys`)
      yield* fill("old", 250, noon)
      yield* fill("young", 10, noonPlus(10))
      const left = Effect.map(
        rows(
          (sql) => sql<{ organisation: string; count: number }>`
            select organisation, count(*)::integer as count from idempotency_keys
            where organisation in ('old', 'young') group by organisation order by 1`
        ),
        (found) => found.map(({ count, organisation }) => `${count} ${organisation}`)
      )
      yield* reserve(freshKeyed(), DateTime.add(noon, { hours: 1 }))
      expect(yield* left).toEqual(["250 old", "10 young"])
      const later = DateTime.add(noon, { hours: 1, seconds: 1 })
      for (const expected of [["150 old", "10 young"], ["50 old", "10 young"], ["10 young"]]) {
        yield* reserve(freshKeyed(), later)
        expect(yield* left).toEqual(expected)
      }
    })
  )

  it.effect("are deleted concurrently, and remain usable meanwhile", () =>
    Effect.gen(function* () {
      yield* rows((sql) => sql`delete from idempotency_keys`)
      yield* fill("old", 1_000, noon)
      const later = DateTime.add(noon, { hours: 2 })
      const requests = Array.from({ length: 64 }, () => freshKeyed())
      const reserved = yield* Effect.forEach(requests, (request) => reserve(request, later), {
        concurrency: "unbounded"
      })
      expect(new Set(reserved.map(({ reserving }) => reserving._tag))).toEqual(
        new Set(["Reserved"])
      )
      const again = yield* Effect.forEach(requests, (request) => reserve(request, later))
      expect(new Set(again.map(({ reserving }) => reserving._tag))).toEqual(new Set(["InUse"]))
      const left = yield* rows(
        (sql) => sql`select from idempotency_keys where organisation = 'old'`
      )
      expect(left).toHaveLength(0)
    })
  )
})
