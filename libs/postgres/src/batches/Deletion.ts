/** Deletes the lines of batches that ended long ago, and the personal data in their results. */
import { DateTime, Effect, Schema } from "effect"
import { BatchId } from "@data-import/domain/batches/Batch"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { Batches } from "@data-import/domain/batches/Batches"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"
import { deleteKeys } from "./Chunks.ts"
import * as Problems from "./Problems.ts"
import { unfollow } from "./Rehearsed.ts"

type Sql = Database["Service"]["sql"]
type Command = Parameters<Batches["Service"]["deleteLines"]>[0]

const DueBatch = Schema.Struct({
  id: BatchId,
  organisation: OrganisationName,
  through: Schema.Int,
  received: Schema.Int
})

const batchRows = rowsOf(DueBatch)

const Chunk = Schema.Struct({ firstLine: Schema.Int, results: Schema.Array(Schema.String) })

const chunkRows = rowsOf(Chunk)

/** Keys that a worker reserved, and could not free before it died or was frozen. */
const deleteLeftKeys = (
  sql: Sql,
  { id, organisation }: typeof DueBatch.Type,
  chunks: ReadonlyArray<typeof Chunk.Type>
) => {
  const lines = chunks.flatMap(({ firstLine, results }) =>
    results.map((_, place) => firstLine + place)
  )
  return deleteKeys(sql, id, organisation, lines)
}

/** Chunks that are redacted in one transaction. */
const chunksAtOnce = 20

/** Whether a retry whose lines are not deleted refers to the lines of the batch. */
const isReferredTo = (sql: Sql) => sql`
  exists (select from batches retry
    where retry.lines_of = batches.id and retry.lines_deleted_through < retry.received)`

const referredRows = rowsOf(Schema.Struct({ isReferredTo: Schema.Boolean }))

/**
 * In a transaction. True if there may be more. A retry may have been created until the batch was
 * locked.
 */
export const deleteLines = Effect.fnUntraced(function* (
  sql: Sql,
  { endedBefore, redact }: Command
) {
  const [batch] = yield* batchRows(sql`
    select id, organisation, lines_deleted_through as through, received from batches
    where finished_at < ${DateTime.toDateUtc(endedBefore)} and lines_deleted_through < received
      and not ${isReferredTo(sql)}
    order by finished_at limit 1 for no key update skip locked`)
  if (batch === undefined) return false
  const [now] = yield* referredRows(
    sql`select ${isReferredTo(sql)} as "isReferredTo" from batches where id = ${batch.id}`
  )
  if (now?.isReferredTo === true) return true
  const chunks = yield* chunkRows(sql`
    select first_line as "firstLine", results from batch_chunks
    where batch = ${batch.id} and first_line > ${batch.through}
    order by first_line limit ${chunksAtOnce}`)
  yield* unfollow(sql, batch.id)
  const redacted = chunks.map(({ firstLine, results }) => ({
    firstLine,
    results: JSON.stringify(results.map(redact))
  }))
  yield* sql`
    update batch_chunks set lines = null,
      results = array(select json_array_elements_text(sent.results::json))
    from ${recordSet(sql, "sent", redacted, {
      first: ["integer", ({ firstLine }) => firstLine],
      results: ["text", ({ results }) => results]
    })} where batch = ${batch.id} and first_line = first`
  yield* deleteLeftKeys(sql, batch, chunks)
  if (batch.through === 0) yield* Problems.redact(sql, batch.id)
  const through = chunks.length < chunksAtOnce ? batch.received : (chunks.at(-1)?.firstLine ?? 0)
  yield* sql`update batches set lines_deleted_through = ${through} where id = ${batch.id}`
  return true
})
