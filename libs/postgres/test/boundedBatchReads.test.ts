/** Reads about batches whose cost does not grow with what the lines contain. */
import { expect, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { LineProblem } from "@data-import/domain/batches/BatchLine"
import { started } from "@data-import/domain/testing/begunBatches"
import * as Problems from "../src/batches/Problems.ts"
import * as Results from "../src/batches/Results.ts"
import { Database } from "../src/connection/Database.ts"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const failed = (line: number, attrs: ReadonlyArray<string>) => ({
  line,
  outcome: "FAILED" as const,
  externalAccountNumber: null,
  text: "",
  problems: attrs.map((attr): LineProblem => ({ attr, code: "unknown_field", detail: null }))
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true, timeout: "1 minute" })(
  "a batch",
  (it) => {
    it.effect("counts a bounded number of problems, and goes on to count those it knows", () =>
      Effect.gen(function* () {
        const { run, sql } = yield* Database
        const { id } = yield* started(["a"])
        const add = (lines: ReadonlyArray<ReturnType<typeof failed>>) =>
          run(sql.withTransaction(Problems.add(sql, id, lines)))
        yield* add([failed(1, ["known"])])
        for (const part of [1, 2, 3]) {
          yield* add(
            Array.from({ length: 50 }, (_, line) =>
              failed(
                line + 2,
                Array.from({ length: 100 }, (_, field) => `x${part}_${line}_${field}`)
              )
            )
          )
        }
        yield* add([failed(99, ["known"])])
        const [stored] = yield* rows(
          (sql) => sql<{ rows: number }>`
          select count(*)::integer as rows from batch_problems where batch = ${id}`
        )
        expect(stored?.rows).toBe(Problems.mostCounted.rows)
        const { groups, sets } = yield* run(Problems.read(sql, { id, limit: 1 }))
        expect(groups).toMatchObject([{ attr: "known", lines: 2 }])
        expect(sets).toContainEqual({
          problems: [{ code: "unknown_field", attr: "known" }],
          lines: 2
        })
      })
    )

    it.effect("counts problems with a bounded length of names, and of sets", () =>
      Effect.gen(function* () {
        const { run, sql } = yield* Database
        const { id } = yield* started(["a"])
        const long = "y".repeat(1024 * 1024 - 200)
        for (let line = 1; line <= 6; line++) {
          yield* run(sql.withTransaction(Problems.add(sql, id, [failed(line, [`${long}${line}`])])))
        }
        const { groups, sets } = yield* run(Problems.read(sql, { id, limit: 100 }))
        const [stored] = yield* rows(
          (sql) => sql<{ rows: number }>`
          select count(*)::integer as rows from batch_problem_sets where batch = ${id}`
        )
        expect([groups.length, stored?.rows], "stored").toEqual([4, 2])
        expect(sets, "read").toEqual([])
      })
    )

    /** How many statements read these results, of one line for each chunk. */
    const reading = Effect.fnUntraced(function* (
      chunks: { readonly count: number; readonly result: string; readonly failed: number | null },
      outcome: "FAILED" | null
    ) {
      const database = yield* Database
      const { count, failed: failedAt, result } = chunks
      const { id } = yield* started(["a"])
      yield* rows(
        (sql) => sql`
        insert into batch_chunks (batch, first_line, line_count, lines, numbers, sizes, tries,
          outcomes, results, unfinished)
        select ${id}::uuid, line, 1, array['{}'::bytea], array[null::text], array[2],
          array[0::smallint],
          array[case when line = ${failedAt} then 'FAILED' else 'SUCCEEDED' end],
          array[${result}::text], 0
        from generate_series(2, ${count}) as line`
      )
      yield* rows((sql) => sql`update batches set received = ${count} where id = ${id}`)
      let statements = 0
      const run = ((effect) => {
        statements++
        return database.run(effect)
      }) as typeof database.run
      const query = { id, afterLine: 0, includesLater: true, outcome, limit: null } as const
      const { results } = yield* Results.read({ ...database, run }, query)
      statements = 0
      const read = yield* Stream.runCollect(results)
      return { read, statements }
    })

    it.effect.each([
      ["small", 1_000, 2],
      ["large", 300 * 1024, 20]
    ] as const)("has %s results, of which a bounded length is read at once", ([, size, expected]) =>
      Effect.gen(function* () {
        const chunks = { count: 21, result: "x".repeat(size), failed: null }
        const { read, statements } = yield* reading(chunks, null)
        expect([read.length, statements]).toEqual([20, expected])
      })
    )
  }
)
