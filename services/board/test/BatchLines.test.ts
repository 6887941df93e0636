import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { BatchLinesQuery } from "@data-import/domain/board/BatchLines"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { withoutIndexes } from "@data-import/domain/schema/FieldErrors"
import { endOf, finish, started, taken } from "@data-import/domain/testing/begunBatches"
import { begin, boardLayer } from "./boardPrograms.ts"

interface Problem {
  readonly code: string
  readonly attr: string
  readonly detail: string
}

/** A failed line with this error in its result. */
const endingWith =
  (error: { readonly code: string; readonly errors: ReadonlyArray<Problem> }) =>
  (line: Parameters<ReturnType<typeof endOf>>[0]) => {
    const problems = error.errors.map(({ attr, code, detail }) => ({
      code: code as "invalid",
      attr: withoutIndexes(attr),
      detail
    }))
    return { ...endOf("FAILED", problems)(line), text: JSON.stringify({ error }) }
  }

layer(boardLayer, { excludeTestServices: true })("the lines of a batch on the board", (it) => {
  it.effect("are listed by outcome and problem, with totals that match the batch", () =>
    Effect.gen(function* () {
      const { batch, lines } = yield* MigrationBoard
      const { foreign, mine, user } = yield* begin
      const { code } = mine.supplier
      const { id } = yield* started(["a", "b", null, "d", "e"], { of: mine })
      const chunk = yield* taken()
      const invalid = {
        code: "invalid",
        attr: "customers.0.landline",
        detail: "Is 'Mrs Example'."
      }
      const blank = { code: "blank", attr: "billing_name", detail: "Blank." }
      const failed = (...errors: ReadonlyArray<Problem>) =>
        endingWith({ code: "account_failed_validation", errors })
      const ends = [failed(invalid), failed(invalid, blank), failed(blank), endOf("SUCCEEDED")]
      yield* finish(
        chunk,
        chunk.lines.flatMap((line, index) => ends[index]?.(line) ?? [])
      )
      const read = Effect.fnUntraced(function* (query: Partial<BatchLinesQuery>) {
        const found = yield* lines(user, code, id, { after: 0, limit: 10, ...query })
        return [found.lines.map(({ line }) => line), found.total, found.next_after]
      })
      expect(yield* read({})).toEqual([[1, 2, 3, 4, 5], 5, null])
      expect(yield* read({ limit: 2, after: 1 })).toEqual([[2, 3], 5, 3])
      expect(yield* read({ outcome: "SUCCEEDED" })).toEqual([[4], 1, null])
      expect(yield* read({ outcome: "REMAINING" })).toEqual([[5], 1, null])
      expect(yield* read({ outcome: "CANCELLED" })).toEqual([[], 0, null])
      const { problems } = yield* batch(user, code, id)
      for (const [index, group] of problems.entries()) {
        const [found, total] = yield* read({ code: group.code, attr: group.attr })
        expect([found, total]).toEqual([expect.objectContaining({ length: total }), group.lines])
        const [cleared, all] = yield* read({ first_problems: index + 1 })
        expect([cleared, all]).toEqual([expect.objectContaining({ length: all }), group.cleared])
      }
      expect(yield* read({ first_problems: 1 })).toEqual([[3], 1, null])
      expect(yield* read({ code: "invalid", limit: 1 })).toEqual([[1], null, 1])
      const masked = yield* lines(user, code, id, { after: 0, limit: 10 })
      expect(JSON.stringify(masked)).not.toContain("Mrs Example")
      const others = yield* started(["c"], { of: foreign })
      const refused = yield* Effect.flip(lines(user, code, others.id, { after: 0, limit: 10 }))
      expect(refused).toMatchObject({ _tag: "NotFound" })
    })
  )
})
