/** Reads the results of a batch in the order of its lines, a page of chunks at a time. */
import { Effect, Option, Schema, Stream } from "effect"
import type { EndedLine } from "@data-import/domain/batches/BatchLine"
import { LineOutcome } from "@data-import/domain/batches/Counts"
import type { LinesQuery, Results, ResultsQuery } from "@data-import/domain/batches/Batches"
import { type Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

const lineRows = rowsOf(
  Schema.Struct({
    line: Schema.Int,
    outcome: Schema.NullOr(Schema.String),
    text: Schema.NullOr(Schema.String)
  })
)

/** The most chunks whose results are read at once. */
const chunksOfPage = 20

/** No further chunk is read with results of this many bytes. */
const bytesOfPage = 256 * 1024

/** SQL for the bytes of the results of a chunk. */
const resultBytes = "coalesce(octet_length(array_to_string(results, '')), 0)"

/** Chunks without a line of this outcome are not read. */
const hasOutcome = (sql: Sql, outcome: LineOutcome | null) =>
  outcome === null ? sql`true` : sql`${outcome} = any(outcomes)`

/**
 * The lines of a page of chunks after the line `after`. The chunks are taken one after the other
 * until they fill the page, so that each is measured once.
 */
const page = (sql: Sql, { id, outcome }: ResultsQuery, after: number) => {
  const bytes = sql.literal(resultBytes)
  return lineRows(sql`
    with recursive taken (first_line, chunks, bytes) as (
        (select first_line, 1, ${bytes} from batch_chunks
          where batch = ${id} and first_line + line_count > ${after + 1}
            and first_line > ${after} - line_count and ${hasOutcome(sql, outcome)}
          order by first_line limit 1)
      union all
        select next.first_line, chunks + 1, taken.bytes + next.bytes
        from taken cross join lateral (
          select first_line, ${bytes} as bytes from batch_chunks
          where batch = ${id} and first_line > taken.first_line and ${hasOutcome(sql, outcome)}
          order by first_line limit 1) as next
        where chunks < ${chunksOfPage} and taken.bytes < ${bytesOfPage}
    )
    select taken.first_line + place::integer - 1 as line, outcome, result as text
    from taken join batch_chunks on batch = ${id} and batch_chunks.first_line = taken.first_line,
      unnest(outcomes, results) with ordinality as of_line(outcome, result, place)
    where taken.first_line + place - 1 > ${after}
    order by line`)
}

const isAsked =
  ({ outcome }: ResultsQuery) =>
  (line: { readonly outcome: string | null }): boolean =>
    line.outcome !== null && (outcome === null || outcome === line.outcome)

/** The results up to a line, at most `limit` of them. */
const stream = ({ run, sql }: Database["Service"], query: ResultsQuery, through: number) => {
  const read = Effect.fnUntraced(function* (after: number) {
    const lines = yield* run(page(sql, query, after))
    const results = lines
      .filter(({ line }) => line <= through)
      .filter(isAsked(query))
      .map(({ line, text }): Pick<EndedLine, "line" | "text"> => ({ line, text: text ?? "" }))
    const last = lines.at(-1)?.line ?? through
    return [results, last < through ? Option.some(last) : Option.none()] as const
  })
  const all = Stream.paginate(query.afterLine, read)
  return query.limit === null ? all : Stream.take(all, query.limit)
}

const standRows = rowsOf(
  Schema.Struct({
    received: Schema.Int,
    isFinished: Schema.Boolean,
    firstOpen: Schema.NullOr(Schema.Int)
  })
)

const cutRows = rowsOf(Schema.Struct({ line: Schema.NullOr(Schema.Int) }))

/** The line of the last result within the limit; null if all results fit. */
const cutOf = (sql: Sql, { afterLine, id, limit, outcome }: ResultsQuery) => {
  if (limit === null) return Effect.succeed(null)
  if (outcome === null) return Effect.succeed(afterLine + limit)
  return Effect.map(
    cutRows(sql`
      select first_line + place::integer - 1 as line
      from (
        select * from batch_chunks
        where batch = ${id} and first_line + line_count > ${afterLine + 1}
          and ${hasOutcome(sql, outcome)}
        order by first_line offset 0
      ) as chunk cross join lateral unnest(outcomes) with ordinality as of_line(outcome, place)
      where outcome = ${outcome} and first_line + place - 1 > ${afterLine}
      order by first_line, place offset ${limit - 1} limit 1`),
    ([row]) => row?.line ?? null
  )
}

export const read = Effect.fnUntraced(function* (
  database: Database["Service"],
  query: ResultsQuery
) {
  const { run, sql } = database
  const { afterLine, id, includesLater } = query
  const [stand] = yield* run(
    standRows(sql`
      select received, finished_at is not null as "isFinished", (
        select first_line + array_position(outcomes, null) - 1 from batch_chunks
        where batch = ${id} and unfinished > 0 order by first_line limit 1
      ) as "firstOpen"
      from batches where id = ${id}`)
  )
  const { firstOpen, isFinished, received } = stand ?? {
    firstOpen: null,
    isFinished: false,
    received: 0
  }
  const done = (firstOpen ?? received + 1) - 1
  const cut = yield* run(cutOf(sql, query))
  const through = Math.max(afterLine, Math.min(cut ?? done, done))
  return {
    through,
    isComplete: isFinished && through >= received,
    results: stream(database, query, includesLater ? received : through)
  } satisfies Results
})

const listedRows = rowsOf(
  Schema.Struct({
    line: Schema.Int,
    externalAccountNumber: Schema.NullOr(Schema.String),
    outcome: Schema.NullOr(LineOutcome),
    text: Schema.NullOr(Schema.String)
  })
)

/** Chunks are read one after the other until the limit is reached, without those of other lines. */
export const list = (sql: Sql, { afterLine, id, limit, outcome }: LinesQuery) => {
  const isAsked =
    outcome === null
      ? sql`true`
      : outcome === "REMAINING"
        ? sql`unfinished > 0`
        : hasOutcome(sql, outcome)
  return listedRows(sql`
    select first_line + place::integer - 1 as line, number as "externalAccountNumber", outcome,
      result as text
    from (
      select * from batch_chunks
      where batch = ${id} and first_line + line_count > ${afterLine + 1} and ${isAsked}
      order by first_line offset 0
    ) as chunk cross join lateral
      unnest(numbers, outcomes, results) with ordinality as of_line(number, outcome, result, place)
    where first_line + place - 1 > ${afterLine}
      and (${outcome}::text is null
        or coalesce(outcome, 'REMAINING') = ${outcome}::text)
    order by first_line, place limit ${limit}`)
}
