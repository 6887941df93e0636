/** What lines of a chunk do in the transaction that ends them. */
import { Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import type { Batch } from "@data-import/domain/batches/Batch"
import type { ChunkInHand } from "@data-import/domain/batches/Batches"
import { described } from "../connection/SqlFailure.ts"
import type { Database } from "../connection/Database.ts"
import * as LineImports from "../imports/LineImports.ts"
import * as Reverts from "../imports/Reverts.ts"

type Sql = Database["Service"]["sql"]
type Finishing = Parameters<ChunkInHand["finish"]>[0]

type Together = Pick<Finishing, "ended" | "postponed">

/** How lines end whose imports are stored. A line whose import was changed is left. */
const storeImports = (sql: Sql, batch: Batch, { caller, imports }: Finishing) => {
  const { settings, started } = batch
  const ofBatch = { cohort: settings.cohort, since: started && started.at }
  return Effect.map(LineImports.store(sql, imports, ofBatch, caller), (stored): Together => {
    const areStored = new Set(stored)
    return {
      ended: stored.map(({ end }) => end),
      postponed: imports.flatMap((made) =>
        areStored.has(made) ? [] : [{ line: made.end.line, isCounted: false }]
      )
    }
  })
}

/** What is stored together with the ends of lines, or the lines of which some cannot be. */
export const storeTogether = Effect.fnUntraced(function* (
  sql: Sql,
  batch: Batch,
  finishing: Finishing
) {
  const { imports, reverts } = finishing
  if (imports.length + reverts.length === 0) return Result.succeed(finishing)
  yield* sql`savepoint together`
  const storing =
    imports.length > 0
      ? Effect.map(storeImports(sql, batch, finishing), (all) => Result.succeed(all))
      : Effect.map(
          Reverts.revertLines(sql, reverts, finishing),
          (done): Result.Result<Together, ReadonlyArray<number>> =>
            Result.map(done, (ended) => ({ ended, postponed: [] }))
        )
  const stored = yield* Effect.catchIf(storing, SqlError.isSqlError, (error) =>
    Effect.as(
      Effect.logWarning("lines of a batch could not be stored together", described(error)),
      Result.fail([...imports.map(({ end }) => end.line), ...reverts.map(({ line }) => line)])
    )
  )
  if (Result.isFailure(stored)) yield* sql`rollback to savepoint together`
  return Result.map(stored, ({ ended, postponed }): Finishing => ({
    ...finishing,
    ended: [...finishing.ended, ...ended],
    postponed: [...finishing.postponed, ...postponed]
  }))
})
