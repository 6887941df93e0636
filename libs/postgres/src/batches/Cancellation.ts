/**
 * Ending the lines of cancelled batches. Work that a worker did before it died or released them is
 * not lost: the outcome is kept under the idempotency keys of the lines.
 * Source: docs/contract/batches.md#cancelling.
 */
import { type DateTime, Effect, Schema } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import type { EndedLine } from "@data-import/domain/batches/BatchLine"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { lastStoredEnd } from "@data-import/domain/batches/LineKey"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"
import * as BatchRow from "./BatchRow.ts"
import { count, deleteKeys } from "./Chunks.ts"

type Sql = Database["Service"]["sql"]

const OpenChunk = Schema.Struct({
  batch: Batch.BatchId,
  organisation: OrganisationName,
  firstLine: Schema.Int,
  lineCount: Schema.Int,
  unfinished: Schema.Int,
  bytes: Schema.Int,
  wasTaken: Schema.Boolean
})
type OpenChunk = typeof OpenChunk.Type

const openRows = rowsOf(OpenChunk)

/** Of the results and lines of a chunk with work left, whose lines are all there; none is read. */
const bytesBefore = (sql: Sql) => sql`(
  select coalesce(sum(octet_length(result)), 0)::integer
    + coalesce(sum(size) filter (where held_lines is null), 0)::integer
  from unnest(results, sizes) as of_line(result, size))`

/** The same after the cancellation, with the lines that are left. */
const bytesAfter = (sql: Sql) => sql`(
  select coalesce(sum(octet_length(result)), 0)::integer
    + coalesce(sum(size) filter (where bytes is not null), 0)::integer
  from unnest(results, sizes, lines) as of_line(result, size, bytes))`

/** Chunks whose lines are cancelled in one transaction. */
const chunksAtOnce = 1_000

/** Locks chunks of cancelled batches that no worker holds. */
const lockOpen = (sql: Sql) =>
  openRows(sql`
    select batch, organisation, first_line as "firstLine", line_count as "lineCount", unfinished,
      ${bytesBefore(sql)} as bytes,
      exists (select from batch_takes
        where batch = chunk.batch and first_line = chunk.first_line) as "wasTaken"
    from batch_chunks chunk join batches on batches.id = batch
    where unfinished > 0 and batch in (
      select id from batches
      where is_cancelled and finished_at is null and ${BatchRow.isKnown(sql)})
    order by batch, first_line limit ${chunksAtOnce} for no key update of chunk skip locked`)

/**
 * The outcomes of lines whose worker died or stopped before it stored them, or between two steps.
 */
const keptEnds = Effect.fnUntraced(function* (sql: Sql, chunk: OpenChunk) {
  const { batch, firstLine, lineCount, organisation } = chunk
  const lines = Array.from({ length: lineCount }, (_, place) => firstLine + place)
  const kept = yield* deleteKeys(sql, batch, organisation, lines)
  return lines.flatMap((line) => {
    const end = lastStoredEnd(batch, line, (key) => kept.get(key) ?? null)
    return end === null ? [] : [{ line, ...end }]
  })
})

const cancelledRows = rowsOf(Schema.Struct({ bytes: Schema.Int }))

/**
 * The elements of lines that have ended; those of the others are deleted. Most chunks have no such
 * line, and theirs are not read.
 */
const ofEndedLines = (sql: Sql, column: "held_lines" | "lines") => {
  const elements = sql.literal(column)
  return sql`case when ${elements} is not null and (
      num_nonnulls(variadic outcomes) > 0 or exists (select from kept
        where line between present.first_line and present.first_line + line_count - 1))
    then array(
      select case when outcome is not null or kept_outcome is not null then element end
      from unnest(${elements}, outcomes) with ordinality as of_line(element, outcome, place)
        left join kept on line = present.first_line + place - 1 order by place) end`
}

/**
 * Cancels the unfinished lines of chunks, except those in `kept`, which get their kept outcomes.
 * What failed before can be retried as it was sent. Returns how many bytes each chunk has left.
 */
const cancelChunks = (
  sql: Sql,
  batch: Batch.BatchId,
  chunks: ReadonlyArray<number>,
  kept: ReadonlyArray<Pick<EndedLine, "line" | "outcome" | "text">>
) =>
  cancelledRows(sql`
  with kept as materialized (
    select * from ${recordSet(sql, "ended", kept, {
      line: ["integer", ({ line }) => line],
      kept_outcome: ["text", ({ outcome }) => outcome],
      kept_result: ["text", ({ text }) => text]
    })}
  )
  update batch_chunks present
  set unfinished = 0, blockers = 0,
    lines = ${ofEndedLines(sql, "lines")},
    held_lines = ${ofEndedLines(sql, "held_lines")},
    outcomes = array(
      select coalesce(outcome, kept_outcome, 'CANCELLED') from unnest(outcomes)
        with ordinality as of_line(outcome, place)
        left join kept on line = present.first_line + place - 1 order by place),
    results = array(
      select coalesce(result, kept_result, (
        jsonb_build_object('line', present.first_line + place - 1,
          'external_account_number', numbers[place], 'outcome', 'CANCELLED', 'status', null)
        || case when source_lines is null then '{}'
          else jsonb_build_object('source_line', source_lines[place]) end)::text)
      from unnest(results) with ordinality as of_line(result, place)
      left join kept on line = present.first_line + place - 1 order by place)
  where batch = ${batch} and first_line = any(${chunks}::integer[])
  returning ${bytesAfter(sql)} as bytes`)

const forgetTakes = (sql: Sql, batch: Batch.BatchId, chunks: ReadonlyArray<number>) => sql`
  delete from batch_takes where batch = ${batch} and first_line = any(${chunks}::integer[])`

const bytesIn = (chunks: ReadonlyArray<{ readonly bytes: number }>): number =>
  chunks.reduce((sum, { bytes }) => sum + bytes, 0)

/** Ends the lines of cancelled batches that no worker holds. True if there may be more. */
export const cancel = Effect.fnUntraced(function* (sql: Sql, at: DateTime.Utc) {
  const open = yield* lockOpen(sql)
  for (const [batch, chunks] of Map.groupBy(open, (chunk) => chunk.batch)) {
    const firstLines = chunks.map(({ firstLine }) => firstLine)
    const taken = chunks.filter(({ wasTaken }) => wasTaken)
    const kept = (yield* Effect.forEach(taken, (chunk) => keptEnds(sql, chunk))).flat()
    const left = yield* cancelChunks(sql, batch, firstLines, kept)
    if (taken.length > 0) yield* forgetTakes(sql, batch, firstLines)
    const lines = chunks.reduce((sum, { unfinished }) => sum + unfinished, 0)
    const cancelled = Array.from({ length: lines - kept.length }, () => "CANCELLED" as const)
    const more = bytesIn(left) - bytesIn(chunks)
    yield* count(sql, batch, [...kept.map(({ outcome }) => outcome), ...cancelled], { at, more })
  }
  return open.length > 0
})
