import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { Migrations } from "@data-import/domain/ports/Migrations"
import { SupplierSummaries } from "@data-import/domain/ports/SupplierSummaries"
import { freshSupplier, newAccountFor } from "@data-import/domain/testing/freshNames"
import { claim, stagedPayload, stagedHash } from "@data-import/domain/testing/importStates"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { pastDays } from "../PastDays.ts"

const database = Layer.unwrap(Effect.map(freshUrl, portsBeside))

const staged = 40
const imported = 24

/** A supplier with forty staged accounts, of which 24 were imported just now. */
const filled = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const { caller, keyOf, supplier } = yield* freshSupplier
  const at = yield* DateTime.now
  for (let index = 0; index < staged; index++) {
    const key = keyOf(`n${index}`)
    const cohort = index % 2 === 0 ? "wave-1" : null
    yield* imports.stage({ key, payload: stagedPayload, hash: stagedHash, cohort, caller, at })
    if (index >= imported) continue
    const { attempt } = yield* claim(key, caller, at)
    const newAccount = { ...newAccountFor(key, at), account: domesticAccount(key) }
    yield* imports.complete({ key, attempt, newAccount, caller })
  }
  return supplier.code
})

const filledAndCounted = Effect.gen(function* () {
  const codes = [yield* filled, yield* filled] as const
  const { fold } = yield* SupplierSummaries
  const at = yield* DateTime.now
  yield* Effect.repeat(fold({ limit: 1_000, at }), { while: (count) => count > 0 })
  return codes
})

/** Counts at the ends of the last hours, the oldest first. */
const courseOf = Effect.fnUntraced(function* (supplier: string, cohort: string | null = null) {
  const { history } = yield* Migrations
  const hour = DateTime.startOf(yield* DateTime.now, "hour")
  const before = Array.from({ length: 100 }, (_, index) =>
    DateTime.add(hour, { hours: index - 98 })
  )
  return yield* history({ supplier: supplier as never, cohort, before })
})

layer(database, { excludeTestServices: true, timeout: "1 minute" })("the past days", (it) => {
  it.effect("grow from zero to the present counts, and never decrease", () =>
    Effect.gen(function* () {
      const [code] = yield* filledAndCounted
      yield* pastDays([{ code, endedHoursAgo: 0 }])
      for (const [cohort, half] of [
        [null, 1],
        ["wave-1", 2]
      ] as const) {
        const course = yield* courseOf(code, cohort)
        const counts = course.map((point) => point.imported)
        expect(counts).toEqual(counts.toSorted((one, other) => one - other))
        expect(course.map((point) => point.staged)).toEqual(
          course.map((point) => point.staged).toSorted((one, other) => one - other)
        )
        expect(course[0]).toMatchObject({ staged: 0, imported: 0 })
        expect(course[51]).toMatchObject({ staged: staged / half, imported: imported / half / 2 })
        expect(course.at(-1)).toMatchObject({ staged: staged / half, imported: imported / half })
      }
    })
  )

  it.effect("have the last hour of the history, not everything that was sent", () =>
    Effect.gen(function* () {
      const [code, ended] = yield* filledAndCounted
      const { overview } = yield* Migrations
      const read = Effect.gen(function* () {
        const [one, other] = yield* overview({ suppliers: [code, ended], at: yield* DateTime.now })
        return { one, other }
      })
      expect((yield* read).one).toMatchObject({ importedLastHour: imported })
      yield* pastDays([
        { code, endedHoursAgo: 0 },
        { code: ended, endedHoursAgo: 30 }
      ])
      const { one, other } = yield* read
      expect(one?.importedLastHour).toBe(one?.importedHourly.at(-1))
      expect(one?.importedLastHour).toBeLessThan(imported / 4)
      expect(other).toMatchObject({
        importedLastHour: 0,
        importedHourly: Array.from({ length: 24 }, () => 0)
      })
      const now = yield* DateTime.now
      const ages = [one, other].map((each) =>
        Math.round(DateTime.toEpochMillis(now) - DateTime.toEpochMillis(each?.changedAt ?? now))
      )
      expect(ages[0]).toBeLessThan(3_600_000)
      expect(ages[1]).toBeGreaterThan(29 * 3_600_000)
    })
  )
})
