/** The table of keys: keys are found by index, and old ones are deleted. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Schema } from "effect"
import { IdempotencyKeys } from "@data-import/domain/idempotency/IdempotencyKeys"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { noon, noonPlus } from "@data-import/domain/testing/freshNames"
import {
  adding,
  changeAccount,
  creditOf,
  imported
} from "@data-import/domain/testing/importedAccounts"
import { arrange, stagedHash } from "@data-import/domain/testing/importStates"
import {
  freshFingerprint,
  freshKeyed,
  keepAs,
  reserve
} from "@data-import/domain/testing/keyedRequests"
import { Database, rowsOf } from "../src/connection/Database.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { scansOf } from "./tableScans.ts"

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

const scans = scansOf(["idempotency_keys"])

/** The blocks read of answers that are stored out of line. */
const answersRead = Effect.gen(function* () {
  const { run, sql } = yield* Database
  yield* run(sql`select pg_stat_force_next_flush()`)
  const [row] = yield* run(
    rowsOf(Schema.Struct({ blocks: Schema.BigInt }))(sql`
      select toast_blks_read + toast_blks_hit as blocks from pg_statio_user_tables
      where relname = 'idempotency_keys'`)
  )
  return row?.blocks
})

/** Every operation on a key: it is reserved, taken over, kept, read and released. */
const useKeys = Effect.gen(function* () {
  const { complete, stage } = yield* ImportProcesses
  const { release } = yield* IdempotencyKeys
  const recorder = Effect.suspend(() => reserve(freshKeyed())).pipe(
    Effect.map(({ reservation }) => keepAs(reservation, "201"))
  )

  const request = freshKeyed()
  yield* reserve(request)
  yield* reserve(request, noonPlus(60))
  yield* release((yield* reserve(request, noonPlus(120))).reservation)

  const pending = yield* arrange("pending")
  const keyed = {
    caller: pending.caller,
    key: pending.key,
    payload: "{}",
    hash: stagedHash,
    at: noon
  }
  yield* stage({ ...keyed, recorder: yield* recorder })
  const { account, attempt, caller, key } = yield* arrange("in progress")
  yield* complete({ key, attempt, newAccount: account, caller, recorder: yield* recorder })
  const whose = yield* imported()
  yield* changeAccount(whose, adding(creditOf("a")), { recorder: yield* recorder })
  yield* changeAccount(whose, () => ({}), { recorder: yield* recorder })
})

layer(storage, { excludeTestServices: true })("idempotency keys", (it) => {
  it.effect("are found by index in every operation", () =>
    Effect.gen(function* () {
      yield* fill("many", 5_000, noon)
      yield* rows((sql) => sql`vacuum analyze idempotency_keys`)
      const before = yield* scans
      // More often than PostgreSQL replans a statement before it keeps a plan.
      yield* Effect.forEach(Array.from({ length: 8 }), () => useKeys)
      expect(yield* scans).toStrictEqual(before)
    })
  )

  it.effect("are checked without reading a large response for a different request", () =>
    Effect.gen(function* () {
      const request = freshKeyed()
      yield* reserve(request)
      yield* rows(
        (sql) => sql`
          update idempotency_keys set expires_at = ${DateTime.toDateUtc(noonPlus(60))},
            answer = (select string_agg(md5(n::text), '') from generate_series(1, 30000) n)
          where key = ${request.key}`
      )
      const before = yield* answersRead
      const other = { ...request, fingerprint: freshFingerprint() }
      expect((yield* reserve(other)).reserving).toEqual({ _tag: "Reused" })
      expect(yield* answersRead).toBe(before)
      expect((yield* reserve(request)).reserving._tag).toBe("Kept")
      expect(yield* answersRead).toBeGreaterThan(Number(before))
    })
  )

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
