/**
 * `Migrations`: counts of all suppliers at once agree with their summaries, the history has the
 * counts at the end of each hour, and plans are kept.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { ties } from "@data-import/domain/migrations/SupplierSummary"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { hoursShown, Migrations, noCounts } from "@data-import/domain/migrations/Migrations"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import type { SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { CalendarDate } from "@data-import/domain/schema/Field"
import { freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { claim, complete, fail, type Owner, stage } from "@data-import/domain/testing/importStates"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const hour = 3_600

const foldAt = (seconds: number) =>
  Effect.flatMap(SupplierSummaries, (port) =>
    Effect.repeat(port.fold({ limit: 5, at: noonPlus(seconds) }), { while: (count) => count > 0 })
  )

const invalidNote = { code: "invalid", attr: "notes.0.body", detail: "" } as const

const overviewOf = Effect.fnUntraced(function* (owners: ReadonlyArray<Owner>, seconds: number) {
  const migrations = yield* Migrations
  const suppliers = owners.map(({ supplier }) => supplier.code)
  return yield* migrations.overview({ suppliers, at: noonPlus(seconds) })
})

const pastOf = Effect.fnUntraced(function* (
  { supplier }: Owner,
  seconds: ReadonlyArray<number>,
  cohort: string | null = null
) {
  const migrations = yield* Migrations
  return yield* migrations.history({
    supplier: supplier.code,
    cohort,
    before: seconds.map(noonPlus)
  })
})

/** A difference of a ledger without its account, so that the money does not add up. */
const lose = ({ supplier }: Owner, amount: string) =>
  rows(
    (sql) => sql`
      insert into import_differences (supplier, cohort, kind, name, count, amount)
      values (${supplier.code}, null, 'ledger', 'ELECTRICITY_LEDGER', 0, ${amount}::numeric)`
  )

const nothing = { staged: 0, imported: 0, failed: 0, codes: {} }

const overviews = (it: TestDatabase.It): void => {
  it.effect("returns zero counts for suppliers without imports", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { code: supplier } = owner.supplier
      expect(yield* overviewOf([owner], 0)).toEqual([
        {
          supplier,
          states: noCounts,
          linesRefused: 0,
          importedLastHour: 0,
          importedHourly: Array.from({ length: hoursShown }, () => 0),
          moneyTies: true,
          changedAt: null,
          importedAt: null,
          takenBack: null
        }
      ])
      expect(yield* overviewOf([], 0)).toEqual([])
      expect(yield* pastOf(owner, [0, hour])).toEqual([nothing, nothing])
      const migrations = yield* Migrations
      expect(yield* migrations.beginning({ supplier, cohort: null })).toEqual(Option.none())
      expect(yield* migrations.cohorts({ supplier, limit: 10, at: noon })).toEqual({
        cohorts: [],
        others: noOthers
      })
      const waiting = { supplier, failedBefore: noon, limit: 10 }
      expect(yield* migrations.oldestOpen(waiting)).toEqual([])
    })
  )

  it.effect("agrees with the summary of each supplier, folded or not", () =>
    Effect.gen(function* () {
      const owners = [yield* freshSupplier, yield* freshSupplier]
      const [one, other] = owners as [Owner, Owner]
      yield* stage(one, ["a", "b", "c", "d"])
      yield* stage(other, ["a"])
      yield* complete(one, "a", noonPlus(1))
      yield* fail(one, "b", noonPlus(2), [invalidNote])
      // Its attempt runs for a minute, and then breaks off.
      yield* claim(one.keyOf("c"), one.caller, noonPlus(3))
      const expectAlike = Effect.fnUntraced(function* (seconds: number, tie = true) {
        const summaries = yield* SupplierSummaries
        for (const { states, supplier, ...counts } of yield* overviewOf(owners, seconds)) {
          const at = noonPlus(seconds)
          const summary = yield* summaries.read({ supplier, cohort: null, at })
          expect(states).toEqual(summary.states)
          expect(counts.importedLastHour).toBe(summary.importedLastHour)
          const isRight = tie || supplier === other.supplier.code
          expect([counts.moneyTies, ties(summary)]).toEqual([isRight, isRight])
        }
      })
      for (const seconds of [10, 300]) yield* expectAlike(seconds)
      yield* foldAt(20)
      for (const seconds of [30, 300]) yield* expectAlike(seconds)
      yield* lose(one, "0.01")
      yield* expectAlike(30, false)
      yield* foldAt(40)
      yield* expectAlike(40, false)
      yield* lose(one, "-0.01")
      yield* expectAlike(40)
    })
  )

  it.effect("returns the hours in which accounts were created, and the last change", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, ["a", "b", "c"])
      yield* complete(owner, "a", noonPlus(10))
      yield* foldAt(20)
      yield* complete(owner, "b", noonPlus(2 * hour))
      yield* complete(owner, "c", noonPlus(2 * hour))
      yield* foldAt(2 * hour + 5)
      yield* stage(owner, ["d"])
      yield* foldAt(3 * hour)
      const [counts] = yield* overviewOf([owner], 3 * hour + 60)
      expect(counts?.importedHourly.slice(-4)).toEqual([1, 0, 2, 0])
      expect(counts?.importedHourly.slice(0, -4).every((count) => count === 0)).toBe(true)
      expect(counts?.importedAt).toEqual(noonPlus(2 * hour + 5))
      expect(counts?.changedAt).toEqual(noonPlus(3 * hour))
      const { importedByHour } = yield* Migrations
      const { code } = owner.supplier
      const byHour = (seconds: number) =>
        Effect.map(importedByHour({ suppliers: [code], since: noonPlus(seconds) }), (found) =>
          found.get(code)
        )
      const third = { at: noonPlus(2 * hour), imported: 2 }
      expect(yield* byHour(0)).toEqual([{ at: noon, imported: 1 }, third])
      expect(yield* byHour(hour)).toEqual([third])
      expect((yield* byHour(3 * hour)) ?? []).toEqual([])
      const [later] = yield* overviewOf([owner], 30 * hour)
      expect(later?.importedHourly.every((count) => count === 0)).toBe(true)
    })
  )
}

const pastHours = (it: TestDatabase.It): void => {
  it.effect("keeps the counts at the end of each hour, also by cohort", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, ["a", "b"], "wave-1")
      yield* stage(owner, ["c"])
      yield* fail(owner, "a", noonPlus(1), [invalidNote])
      yield* foldAt(2)
      yield* complete(owner, "a", noonPlus(hour))
      yield* foldAt(hour + 1)
      const codes = { account_failed_validation: 1, invalid: 1 }
      expect(yield* pastOf(owner, [0, hour, 2 * hour, 50 * hour])).toEqual([
        nothing,
        { staged: 3, imported: 0, failed: 1, codes },
        { staged: 3, imported: 1, failed: 0, codes: {} },
        { staged: 3, imported: 1, failed: 0, codes: {} }
      ])
      expect(yield* pastOf(owner, [hour, 2 * hour], "wave-1")).toEqual([
        { staged: 2, imported: 0, failed: 1, codes },
        { staged: 2, imported: 1, failed: 0, codes: {} }
      ])
      expect(yield* pastOf(owner, [hour], "wave-2\0")).toEqual([nothing])
      const migrations = yield* Migrations
      const query = { supplier: owner.supplier.code, cohort: "wave-1" }
      expect(yield* migrations.beginning(query)).toEqual(Option.some(noon))
    })
  )
}

const linesRefused = 0
const noOthers = { cohorts: 0, states: noCounts, linesRefused }

const counting = (it: TestDatabase.It): void => {
  it.effect("counts by cohort, and imports without one", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, ["a", "b"], "wave-2")
      yield* stage(owner, ["c"], "wave-1")
      yield* stage(owner, ["d"])
      yield* foldAt(1)
      yield* stage(owner, ["e"], "wave-1")
      yield* claim(owner.keyOf("e"), owner.caller, noonPlus(3))
      const { cohorts } = yield* Migrations
      const query = { supplier: owner.supplier.code, at: noonPlus(4) }
      const counted = [
        { cohort: null, states: { ...noCounts, PENDING: 1 }, linesRefused },
        { cohort: "wave-1", states: { ...noCounts, PENDING: 1, IN_PROGRESS: 1 }, linesRefused },
        { cohort: "wave-2", states: { ...noCounts, PENDING: 2 }, linesRefused }
      ]
      const told = (limit: number) => cohorts({ ...query, limit })
      expect(yield* told(10)).toEqual({ cohorts: counted, others: noOthers })
      expect(yield* told(2)).toEqual({ cohorts: counted, others: noOthers })
      const second = { cohorts: 1, states: { ...noCounts, PENDING: 2 }, linesRefused }
      expect(yield* told(1)).toEqual({ cohorts: counted.slice(0, 2), others: second })
      const both = { cohorts: 2, states: { ...noCounts, PENDING: 3, IN_PROGRESS: 1 }, linesRefused }
      expect(yield* told(0)).toEqual({ cohorts: counted.slice(0, 1), others: both })
    })
  )
}

const waiting = (it: TestDatabase.It): void => {
  it.effect("lists the imports that wait longest, including those that failed long ago", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, ["c", "a", "b", "d", "e", "f"])
      yield* fail(owner, "a", noonPlus(1), [invalidNote])
      yield* fail(owner, "e", noonPlus(2), [invalidNote])
      yield* fail(owner, "e", noonPlus(20), [invalidNote])
      // Its attempt breaks off a minute later.
      yield* claim(owner.keyOf("d"), owner.caller, noonPlus(3))
      yield* complete(owner, "f", noonPlus(4))
      const { oldestOpen } = yield* Migrations
      const { code: supplier } = owner.supplier
      const told = (number: string, code: string | null, since: number) => ({
        number: owner.keyOf(number).external_account_number,
        stagedAt: noon,
        since: noonPlus(since),
        code
      })
      const pending = [told("c", null, 0), told("b", null, 0)]
      const failed = told("a", "account_failed_validation", 1)
      const read = (seconds: number, limit = 10) =>
        oldestOpen({ supplier, failedBefore: noonPlus(seconds), limit })
      expect(yield* read(1)).toEqual(pending)
      expect(yield* read(2)).toEqual([...pending, failed])
      expect(yield* read(2, 1)).toEqual(pending.slice(0, 1))
      const later = [told("e", "account_failed_validation", 20), told("d", "lease_expired", 63)]
      expect(yield* read(3_600)).toEqual([...pending, failed, ...later])
    })
  )
}

const plans = (it: TestDatabase.It): void => {
  it.effect("keeps the last plan of each supplier", () =>
    Effect.gen(function* () {
      const { plans, setPlan } = yield* Migrations
      const { caller, supplier } = yield* freshSupplier
      const { supplier: other } = yield* freshSupplier
      const point = (on: string, accounts: number) => ({ on: CalendarDate.make(on), accounts })
      const plan = [point("2026-02-01", 10), point("2026-03-01", 250)]
      const both = [supplier.code, other.code]
      expect((yield* plans(both)).size).toBe(0)
      yield* setPlan({ supplier: supplier.code, plan, caller, at: noon })
      expect([...(yield* plans(both))]).toEqual([[supplier.code, plan]])
      const command = { supplier: supplier.code, caller, at: noon }
      yield* setPlan({ ...command, plan: plan.slice(1) })
      expect((yield* plans(both)).get(supplier.code)).toEqual(plan.slice(1))
      yield* setPlan({ ...command, plan: [] })
      expect((yield* plans(both)).size).toBe(0)
    })
  )
}

const signingOff = (it: TestDatabase.It): void => {
  it.effect("records who signed a supplier off, once until it is reopened", () =>
    Effect.gen(function* () {
      const { recordSignOff, setPlan, signOff } = yield* Migrations
      const configuration = yield* Configuration
      const { caller, supplier } = yield* freshSupplier
      const { code } = supplier
      const statusNow = Effect.map(
        configuration.supplier(code),
        Option.map(({ status }) => status)
      )
      expect(yield* signOff(code)).toEqual(Option.none())
      const command = { supplier: code, certificate: null, reason: null, caller, at: noonPlus(1) }
      yield* setPlan({ ...command, plan: [] })
      const first = { by: caller.apiKey, at: noonPlus(1), certificate: null }
      const later = { ...command, at: noonPlus(2) }
      const both = Effect.all([recordSignOff(command), recordSignOff(command)], {
        concurrency: "unbounded"
      })
      expect(yield* both).toEqual([first, first])
      expect(yield* recordSignOff(later)).toEqual(first)
      expect(yield* statusNow).toEqual(Option.some("Complete"))
      const setStatus = (status: SupplierStatus) =>
        configuration.changeSupplierStatus(code, () => Result.succeed(status))
      yield* setStatus("Complete")
      expect(yield* signOff(code)).toEqual(Option.some(first))
      yield* setStatus("Ongoing")
      expect(yield* signOff(code)).toEqual(Option.none())
      yield* setStatus("Complete")
      expect(yield* signOff(code)).toEqual(Option.none())
      yield* setStatus("Ongoing")
      const signed = { by: caller.apiKey, at: noonPlus(2), certificate: null }
      expect(yield* recordSignOff(later)).toEqual(signed)
      expect(yield* signOff(code)).toEqual(Option.some(signed))
      expect(yield* statusNow).toEqual(Option.some("Complete"))
      const auditLog = yield* AuditLog
      const entries = yield* auditLog.ofRequest(caller.requestId)
      expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([
        ["set_plan", "set"],
        ["sign_off", "signed without_certificate"],
        ["sign_off", "signed without_certificate"]
      ])
      expect(entries.every((entry) => entry.import_supplier === code)).toBe(true)
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "Migrations",
  (it) => {
    overviews(it)
    pastHours(it)
    counting(it)
    waiting(it)
    plans(it)
    signingOff(it)
  }
)
