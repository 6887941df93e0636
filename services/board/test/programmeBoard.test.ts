/** All migrations of a user as one programme, on PostgreSQL. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { ProgrammeBoard } from "@data-import/domain/board/ProgrammeBoard"
import { programmeDocument } from "@data-import/domain/board/ProgrammeDocument"
import { WaveBoard } from "@data-import/domain/board/WaveBoard"
import { adjust } from "@data-import/postgres/testing/SteppedClock"
import {
  begun,
  boardLayer,
  complete,
  fail,
  fold,
  issueAll,
  stage,
  userOf
} from "./boardPrograms.ts"
import { CertificateBoard } from "@data-import/domain/board/CertificateBoard"

/** Two migrations, one of each organisation, and a manager of both. */
const world = Effect.gen(function* () {
  const { foreign, mine } = yield* begun
  const owners = [mine, foreign] as const
  const user = userOf(owners.map(({ supplier }) => supplier.organisation))
  return { mine, foreign, user }
})

layer(boardLayer, { excludeTestServices: true })("the programme", (it) => {
  it.effect("adds up migrations, and their problems, and has what is planned", () =>
    Effect.gen(function* () {
      const { read } = yield* ProgrammeBoard
      const { setControlTotals, setPlan } = yield* MigrationActions
      const { plan } = yield* WaveBoard
      const { foreign, mine, user } = yield* world
      const { caller } = yield* begun
      const as = { ...caller, user }
      const [one, other] = [mine.supplier.code, foreign.supplier.code]
      const day = DateTime.formatIsoDateUtc(yield* DateTime.now)
      yield* stage(mine, ["a", "b", "c"], "wave-1")
      yield* stage(foreign, ["a", "b"])
      yield* complete(mine, "a")
      yield* complete(foreign, "a")
      yield* fail(mine, "b")
      yield* fail(foreign, "b", [
        { code: "invalid", attr: "customers.0.landline" },
        { code: "blank", attr: "customers.0.email" }
      ])
      yield* fold
      yield* setPlan(as, one, { points: [{ on: day, accounts: 3 }] })
      yield* setPlan(as, other, { points: [{ on: day, accounts: 4 }] })
      yield* setControlTotals(as, one, { cohort: null, expected: { accounts: 9 } })
      yield* plan(as, one, { cohort: "x", starts_on: day, owner: null, accounts: 5, start: null })
      const answer = yield* read(user, null)
      expect(answer).toMatchObject({
        migrations: 2,
        total: 5,
        states: { IMPORTED: 2, FAILED: 2, PENDING: 1 },
        accounts_missing: 8,
        money: { expected: { migrations: 0 }, certified: { migrations: 0 } },
        forecast: { of: 0, without: 2, whole: null },
        plan: { migrations: 2, imported: 2, points: [{ on: day, accounts: 7 }] },
        problems: { failed: 2, of: 2, more: 0 },
        ahead: [{ import_supplier: one, cohort: "x", starts_on: day, accounts: 5 }]
      })
      expect(answer.history.at(-1)).toMatchObject({ staged: 5, imported: 2, failed: 2 })
      const both = answer.problems.groups.find(({ code }) => code === "invalid")
      expect(both).toMatchObject({ attr: "customers.*.landline", imports: 2, cleared: 1 })
      expect(both?.suppliers.map(({ import_supplier }) => import_supplier).toSorted()).toEqual(
        [one, other].toSorted()
      )
      expect(answer.problems.groups.at(-1)).toMatchObject({ code: "blank", cleared: 2 })
      const { sections } = programmeDocument(answer)
      expect(sections.flatMap(({ rows }) => rows)).toContainEqual(["Cleared by the first five", 2])

      const own = yield* read(user, mine.supplier.organisation)
      expect([own.migrations, own.total, own.organisations.length]).toEqual([1, 3, 2])
      expect(yield* Effect.flip(read(userOf([]), mine.supplier.organisation))).toMatchObject({
        _tag: "NotFound"
      })
      const none = yield* read(userOf([]), null)
      expect([none.migrations, none.total, none.history.at(-1)?.staged]).toEqual([0, 0, 0])
    })
  )

  it.effect("tells what has changed since yesterday", () =>
    Effect.gen(function* () {
      const { keepConditions, read } = yield* ProgrammeBoard
      const { setStatus, signOff } = yield* MigrationActions
      const { foreign, mine, user } = yield* world
      const { caller } = yield* begun
      const as = { ...caller, user }
      const [one, other] = [mine.supplier.code, foreign.supplier.code]
      yield* stage(mine, ["a"])
      yield* stage(foreign, ["a"])
      yield* fold
      yield* Effect.all([keepConditions, keepConditions], { concurrency: "unbounded" })
      yield* adjust("25 hours")
      yield* setStatus(as, one, { status: "Paused", reason: "Holiday" })
      yield* complete(foreign, "a")
      yield* fold
      const command = { import_supplier: other, accept_open: true, certificate_id: null }
      yield* signOff(as, other, command)
      yield* keepConditions
      const { since } = yield* read(user, null)
      expect(since).toMatchObject({
        imported: 1,
        failed_before: 0,
        conditions: [
          { import_supplier: one, from: "waiting", to: "paused" },
          { import_supplier: other, from: "waiting", to: "done" }
        ],
        signed_off: [{ import_supplier: other, by: "board:mia" }]
      })
      yield* adjust("25 hours")
      expect((yield* read(user, null)).since).toMatchObject({ conditions: [], signed_off: [] })
    })
  )

  it.effect("has sums of certificates for managers, and no wave ahead that is done", () =>
    Effect.gen(function* () {
      const { read } = yield* ProgrammeBoard
      const { plan } = yield* WaveBoard
      const { issue } = yield* CertificateBoard
      const { mine, user } = yield* world
      const { caller } = yield* begun
      const day = DateTime.formatIsoDateUtc(yield* DateTime.now)
      const wave = { cohort: "x", starts_on: day, owner: null, accounts: 1, start: null }
      yield* plan({ ...caller, user }, mine.supplier.code, wave)
      yield* stage(mine, ["a"], "x")
      expect((yield* read(user, null)).ahead).toMatchObject([{ cohort: "x" }])
      yield* complete(mine, "a")
      const asked = { certificate_id: crypto.randomUUID(), cohort: null }
      yield* issueAll()
      yield* issue({ ...caller, user }, mine.supplier.code, asked)
      yield* issueAll()
      const certified = { migrations: 1, accounts: 1 }
      const { ahead, money } = yield* read(user, null)
      expect(ahead).toEqual([])
      expect(money.certified).toEqual({ ...certified, balance: money.imported })
      const seen = yield* read({ ...user, role: "viewer" }, null)
      expect(seen.money.certified).toEqual({ ...certified, balance: null })
    })
  )
})
