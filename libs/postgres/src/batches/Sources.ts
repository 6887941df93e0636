/**
 * The lines of batches that are created without any: the failed lines of an earlier batch, or the
 * pending imports.
 */
import { type DateTime, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import {
  type Batch,
  type BatchId,
  type BatchSettings,
  endsWithAccount,
  type PendingSelection
} from "@data-import/domain/batch/Batch"
import { isPending } from "../audit/ChangeEntries.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { hasCode, stateOf } from "../imports/ImportSource.ts"
import { chunkLimits } from "./Lines.ts"

type Sql = Database["Service"]["sql"]

const countRows = rowsOf(Schema.Struct({ lines: Schema.Int, bytes: Schema.BigInt }))

const sumOf = (rows: ReadonlyArray<{ readonly lines: number; readonly bytes: bigint }>) =>
  rows.reduce((sum, { bytes, lines }) => ({ lines: sum.lines + lines, bytes: sum.bytes + bytes }), {
    lines: 0,
    bytes: 0n
  })

/**
 * Stores the rows `line`, `number` and `source_line` of the query `source`, which is in the order
 * of `place`, as the chunks of the batch from this line.
 */
const insertChunks = (sql: Sql, id: BatchId, from: number, source: Statement.Fragment) =>
  countRows(sql`
    with source as (${source}),
    measured as (
      select *, row_number() over (order by place) - 1 as position,
        coalesce(sum(octet_length(line)) over (order by place), 0) as size
      from source
    ),
    stored as (
      insert into batch_chunks (batch, first_line, line_count, lines, numbers, source_lines, tries,
        outcomes, results, unfinished)
      select ${id}::uuid, ${from} + min(position), count(*), array_agg(line order by place),
        array_agg(number order by place),
        case when min(source_line) is not null then array_agg(source_line order by place) end,
        array_fill(0::smallint, array[count(*)::integer]),
        array_fill(null::text, array[count(*)::integer]),
        array_fill(null::text, array[count(*)::integer]), count(*)
      from measured group by position / ${chunkLimits.lines}, div(size, ${chunkLimits.bytes})
      returning line_count, lines
    )
    select coalesce(sum(line_count), 0)::integer as lines,
      coalesce(sum((select sum(octet_length(line)) from unnest(stored.lines) as line)), 0)::bigint
        as bytes
    from stored`)

const failureRows = rowsOf(
  Schema.Struct({ first: Schema.Int, last: Schema.Int, failures: Schema.Int })
)

const replacedRows = rowsOf(Schema.Struct({ number: Schema.String, line: Schema.Int }))

/** Chunks that are read at once; a chunk may have one line of 10 MiB. */
const chunksOfPage = 100

/** Whether the line of this result was erased. An erased line has no account number. */
const isErased = (sql: Sql) => sql`
  (number is null and (result::json ->> 'erased')::boolean is not distinct from true)`

/** Numbers whose data came into the platform after a line of theirs had failed. */
const replacedIn = (sql: Sql, old: BatchId) =>
  replacedRows(sql`
    select number, max(line) filter (where outcome in ('SUCCEEDED', 'ALREADY')) as line
    from (
      select number, outcome, first_line + place::integer - 1 as line
      from batch_chunks, unnest(numbers, outcomes) with ordinality
        as of_line(number, outcome, place)
      where batch = ${old} and number is not null
    ) as lines
    group by number
    having max(line) filter (where outcome in ('SUCCEEDED', 'ALREADY'))
      > min(line) filter (where outcome = 'FAILED')`)

/** Whether the account of the line `number` was imported, in any way, so that nothing is left to do. */
const isImported = (sql: Sql, settings: BatchSettings) =>
  endsWithAccount(settings)
    ? sql`exists (
        select from import_processes
        where supplier = ${settings.supplier} and external_account_number = number
          and account_number is not null)`
    : sql`false`

/** Chunks with failed lines, in pages. */
const pagesOf = (sql: Sql, old: BatchId) =>
  failureRows(sql`
    select min(first_line) as first, max(first_line) as last, sum(failures)::integer as failures
    from (
      select first_line, row_number() over (order by first_line) - 1 as position,
        (select count(*) from unnest(outcomes) as outcome where outcome = 'FAILED') as failures
      from batch_chunks where batch = ${old} and 'FAILED' = any(outcomes)
    ) as failed
    group by position / ${chunksOfPage} order by first`)

/**
 * Copies the failed lines of an old batch, except those that were erased, whose data a later line
 * has replaced, or whose account was imported. Has to run in a transaction. Returns what was copied
 * and how many lines were left out.
 */
export const copyFailed = Effect.fnUntraced(function* (
  sql: Sql,
  old: BatchId,
  { id, settings }: Pick<Batch, "id" | "settings">
) {
  const replaced = yield* replacedIn(sql, old)
  const numbers = replaced.map(({ number }) => number)
  const lines = replaced.map(({ line }) => line)
  let copied = { lines: 0, bytes: 0n }
  let failures = 0
  for (const page of yield* pagesOf(sql, old)) {
    failures += page.failures
    const stored = yield* insertChunks(
      sql,
      id,
      copied.lines + 1,
      sql`
        select line, number, source_line, source_line as place
        from (
          select line, number, outcome, result, first_line + place::integer - 1 as source_line
          from batch_chunks, unnest(lines, numbers, outcomes, results) with ordinality
            as of_line(line, number, outcome, result, place)
          where batch = ${old} and first_line between ${page.first} and ${page.last}
        ) as lines
        where outcome = 'FAILED' and not ${isErased(sql)}
          and not ${isImported(sql, settings)} and not exists (
          select from unnest(${numbers}::text[], ${lines}::integer[])
            as replaced(by_number, by_line)
          where by_number = number and by_line > source_line)`
    )
    copied = sumOf([copied, ...stored])
  }
  return { ...copied, leftOut: failures - copied.lines }
})

const filtered = (
  sql: Sql,
  { code, cohort, failed, state }: PendingSelection,
  at: DateTime.Utc
) => {
  const last = sql`(
    select outcome, errors from import_attempts
    where import_id = present.id order by sequence desc limit 1)`
  const hasFailed = sql`last.outcome is not null and last.outcome <> 'dry_run_successful'`
  const conditions = [
    ...(cohort === undefined ? [] : [sql`present.cohort = ${cohort}`]),
    ...(state === undefined ? [] : [sql`${stateOf(sql, at)} = ${state}`]),
    ...(code === undefined
      ? []
      : [
          state === "FAILED"
            ? hasCode(sql, code)
            : sql`${hasFailed} and (last.outcome = ${code} or exists (
            select from jsonb_array_elements(last.errors) as error
            where error ->> 'code' = ${code}))`
        ]),
    ...(failed === undefined
      ? []
      : [
          failed
            ? hasFailed
            : sql`not exists (
          select from import_attempts where import_id = present.id)`
        ])
  ]
  return {
    last: sql`left join lateral ${last} as last on true`,
    where: conditions.map((condition) => sql` and (${condition})`)
  }
}

/** Stores a line for each pending import of the supplier, and returns how many. */
export const fillWithPending = Effect.fnUntraced(function* (
  sql: Sql,
  id: BatchId,
  { pending, supplier }: BatchSettings,
  at: DateTime.Utc,
  limit: number
) {
  const { last, where } = filtered(sql, pending ?? {}, at)
  const [stored] = yield* insertChunks(
    sql,
    id,
    1,
    sql`
      select convert_to(
          '{"external_account_number":' || to_json(external_account_number)::text || '}', 'UTF8'
        ) as line,
        external_account_number as number, null::integer as source_line,
        external_account_number as place
      from import_processes present ${last}
      where present.supplier = ${supplier} and ${isPending(sql, at)}
        ${where.reduce((all, each) => sql`${all}${each}`, sql``)}
      order by external_account_number limit ${limit}`
  )
  return stored?.lines ?? 0
})
