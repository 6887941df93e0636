import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditBoard } from "@data-import/domain/board/AuditBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { begin, boardLayer, complete, stage, summaryOf, userOf } from "./boardPrograms.ts"

layer(boardLayer, { excludeTestServices: true })("the audit log on the board", (it) => {
  it.effect("has the entries of the organisations that the user may see", () =>
    Effect.gen(function* () {
      const { list } = yield* AuditBoard
      const { foreign, mine, user } = yield* begin
      yield* stage(mine, ["a", "b"])
      yield* stage(foreign, ["c"])
      const numbers = (query: object) =>
        Effect.map(list(user, { limit: 10, ...query }), ({ entries }) =>
          entries.map((entry) => entry.external_account_number).join("")
        )
      expect(yield* numbers({})).toBe("ba")
      expect(yield* numbers({ import_supplier: mine.supplier.code })).toBe("ba")
      expect(yield* numbers({ import_supplier: foreign.supplier.code })).toBe("")
      expect(yield* numbers({ import_supplier: "" })).toBe("")
      const ofImport = { import_supplier: mine.supplier.code, external_account_number: "a" }
      expect(yield* numbers(ofImport)).toBe("a")
      expect(yield* numbers({ who: mine.caller.apiKey, action: "stage" })).toBe("ba")
      expect(yield* numbers({ who: "board:mia" })).toBe("")
      expect(yield* numbers({ from: "2026-01-01T12:00:00Z", to: "2026-01-01T12:00:01Z" })).toBe(
        "ba"
      )
      expect(yield* numbers({ to: "2026-01-01T12:00:00Z" })).toBe("")
      expect((yield* list(userOf([]), { limit: 10 })).entries).toEqual([])
    })
  )

  it.effect("is read page by page, and reports what is wrong with a time", () =>
    Effect.gen(function* () {
      const { list } = yield* AuditBoard
      const { mine, user } = yield* begin
      yield* stage(mine, ["a", "b"])
      const first = yield* list(user, { limit: 1 })
      expect(first.next_before).toBe(first.entries[0]?.id)
      const second = yield* list(user, { limit: 1, before: first.next_before ?? "" })
      expect(second.entries.map((entry) => entry.external_account_number)).toEqual(["a"])
      expect(second.next_before).toBeNull()
      expect(yield* Effect.flip(list(user, { limit: 1, from: "soon", to: "x" }))).toMatchObject({
        _tag: "ValidationFailed",
        errors: [{ attr: "from" }, { attr: "to" }]
      })
      for (const before of ["x", "0", String(2n ** 63n)]) {
        expect(yield* Effect.flip(list(user, { limit: 1, before }))).toMatchObject({
          errors: [{ attr: "before" }]
        })
      }
    })
  )

  it.effect("is exported with the same filter", () =>
    Effect.gen(function* () {
      const { csv } = yield* AuditBoard
      const { mine, user } = yield* begin
      yield* stage(mine, ["a", "=b"])
      const lines = (yield* csv(user, {})).split("\r\n")
      expect(lines).toHaveLength(4)
      expect(lines[0]).toMatch(/^id,at,organisation,who,action,outcome,/)
      expect(lines[1]).toContain(",'=b,")
      expect((yield* csv(user, { action: "process" })).split("\r\n")).toHaveLength(2)
    })
  )

  it.effect("lists and exports only actions of people", () =>
    Effect.gen(function* () {
      const { csv, list } = yield* AuditBoard
      const { setPlan } = yield* MigrationActions
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"])
      const caller = { user, requestId: RequestId.make("by-hand") }
      yield* setPlan(caller, mine.supplier.code, { points: [] })
      const points = [{ on: "soon", accounts: 1 }]
      yield* Effect.flip(setPlan(caller, mine.supplier.code, { points }))
      const { entries } = yield* list(user, { limit: 10, people: true })
      expect(entries.map(({ action, failed, who }) => [who, action, failed])).toEqual([
        ["board:mia", "set_plan", true],
        ["board:mia", "set_plan", false]
      ])
      const [head, ...rows] = (yield* csv(user, { people: true })).trimEnd().split("\r\n")
      expect(head).toMatch(/^id,at,/)
      expect(rows).toHaveLength(2)
      expect(rows[1]).toContain(",board:mia,set_plan,set,")
      expect((yield* list(user, { limit: 10, people: false })).entries).toHaveLength(3)
    })
  )

  it.effect("comes with a summary whose sums tie", () =>
    Effect.gen(function* () {
      const { mine, user } = yield* begin
      yield* stage(mine, ["a"])
      yield* complete(mine, "a")
      const { code } = mine.supplier
      const text = yield* summaryOf(user, code)
      expect(text.split("\r\n")).toEqual(
        expect.arrayContaining([
          `Migration,Import supplier,${code}`,
          "Migration,Signed off by,nobody",
          "Imports,IMPORTED,1",
          "Open,Nothing,0",
          "Money,All accounts,50.00",
          "Money,The sums tie,yes"
        ])
      )
      expect(text).toMatch(/^Money,Note,"?What is stored was compared with itself: /m)
      expect(text).toContain("Nothing was compared with the supplier's own books.")
    })
  )
})
