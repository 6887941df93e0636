/** Searches of a long audit log, on a machine that is busy, and near their bounds. */
import { expect, layer } from "@effect/vitest"
import { Clock, type DateTime, Effect } from "effect"
import type { ApiKeyId } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { freshSupplier, noonPlus } from "@data-import/domain/testing/freshNames"
import { sliceOfLog } from "../src/audit/AuditSearch.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

/** Every look at the clock takes more time than a search may. */
const busy = Effect.map(Clock.Clock, (clock): Clock.Clock => {
  let now = clock.currentTimeMillisUnsafe()
  const currentTimeMillisUnsafe = () => (now += 2_000)
  return Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe)
  })
})

/** Leaves so many numbers unused that the next entry is in another slice. */
const skipSlice = rows(
  (sql) => sql`
    select setval(pg_get_serial_sequence('audit_log', 'id'), max(id) + ${sliceOfLog}) as id
    from audit_log`
)

const written = Effect.fnUntraced(function* (seconds: ReadonlyArray<number>) {
  const { caller, keyOf } = yield* freshSupplier
  const { recordRead } = yield* AuditLog
  for (const second of seconds) {
    const at = noonPlus(second)
    yield* recordRead({ key: keyOf("a"), action: "read_import", caller, at })
    yield* skipSlice
  }
  return caller.apiKey
})

const searched = Effect.fnUntraced(function* (apiKey: ApiKeyId, from?: DateTime.Utc) {
  const { search } = yield* AuditLog
  const filter = { organisations: null, apiKey, ...(from && { from }) }
  return (before: bigint | null) => search({ filter, before, limit: 10 })
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("a search", (it) => {
  it.effect("that runs out of time says so, and goes on where it has stopped", () =>
    Effect.gen(function* () {
      const search = yield* searched(yield* written([1, 2, 3]))
      const whole = yield* search(null)
      expect(whole).toMatchObject({ stopped: false, next: null, entries: [{}, {}, {}] })
      const clock = yield* busy
      let before: bigint | null = null
      const found: Array<bigint> = []
      do {
        const page: Effect.Success<ReturnType<typeof search>> = yield* Effect.provideService(
          search(before),
          Clock.Clock,
          clock
        )
        expect(page.stopped).toBe(page.next !== null)
        found.push(...page.entries.map(({ id }) => id))
        before = page.next
      } while (before !== null)
      expect(found).toEqual(whole.entries.map(({ id }) => id))
    })
  )

  it.effect("finds an entry whose request was slow, behind one that began before the time", () =>
    Effect.gen(function* () {
      const search = yield* searched(yield* written([60, 0, 90]), noonPlus(30))
      const { entries, stopped } = yield* search(null)
      expect(entries.map(({ at }) => at)).toEqual([noonPlus(90), noonPlus(60)])
      expect(stopped).toBe(false)
    })
  )
})
