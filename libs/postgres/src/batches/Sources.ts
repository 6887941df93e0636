/**
 * The lines of batches that are created without any: the failed lines of an earlier batch, or the
 * imports of a source.
 */
import { DateTime, Effect, Schema } from "effect"
import {
  type Batch,
  type BatchId,
  type BatchSettings,
  endsWithAccount,
  type ImportedFilter,
  type PendingSelection,
  replacesStaged
} from "@data-import/domain/batches/Batch"
import { isPending } from "../audit/ChangeEntries.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import * as ErasureLock from "../tables/ErasureLock.ts"
import { selectedBy } from "../imports/ImportSource.ts"
import { chunkLimits } from "./Lines.ts"

type Sql = Database["Service"]["sql"]

const countRows = rowsOf(
  Schema.Struct({ lines: Schema.Int, bytes: Schema.BigInt, failures: Schema.Int })
)

/**
 * Stores the rows of `source`, in the order of `place`, as the chunks of the batch. Each has its
 * `number` and the `size` of its line, and either the `line` or the numbers of the line that it
 * refers to, `source_line` and `held_line`.
 */
const insertChunks = (sql: Sql, id: BatchId) => sql`
  measured as (
    select *, row_number() over (order by place) - 1 as position,
      coalesce(sum(size) over (order by place), 0) as bytes_through
    from source
  ),
  stored as (
    insert into batch_chunks (batch, first_line, line_count, lines, numbers, source_lines,
      held_lines, sizes, tries, outcomes, results, unfinished)
    select ${id}::uuid, 1 + min(position), count(*),
      case when min(held_line) is null then array_agg(line order by place) end,
      array_agg(number order by place),
      case when min(source_line) is not null then array_agg(source_line order by place) end,
      case when min(held_line) is not null then array_agg(held_line order by place) end,
      array_agg(size order by place), array_fill(0::smallint, array[count(*)::integer]),
      array_fill(null::text, array[count(*)::integer]),
      array_fill(null::text, array[count(*)::integer]), count(*)
    from measured group by position / ${chunkLimits.lines}, div(bytes_through, ${chunkLimits.bytes})
  )`

/** Whether the line of this result was erased. An erased line has no account number. */
const isErased = (sql: Sql) => sql`
  (number is null and (result::json ->> 'erased')::boolean is not distinct from true)`

/** Whether the account of the line `number` was imported, in any way, so that nothing is left to do. */
const isImported = (sql: Sql, settings: BatchSettings) =>
  endsWithAccount(settings)
    ? sql`exists (
        select from import_processes
        where supplier = ${settings.supplier} and external_account_number = number
          and account_number is not null)`
    : sql`false`

/**
 * Whether something newer than the failed line was staged for its number: after the batch had
 * started, by whatever request. What the batch itself may have staged is no newer before its end:
 * another line that succeeded, or an import that was tried.
 */
const isStagedAnew = (sql: Sql, old: BatchId, settings: BatchSettings) =>
  replacesStaged(settings)
    ? sql`exists (
        select from import_processes present_import
        where supplier = ${settings.supplier} and external_account_number = number
          and staged_at > (
            select case
              when exists (
                  select from present own
                  where own.number = failed.number and own.outcome = 'SUCCEEDED')
                or exists (
                  select from import_attempts
                  where import_id = present_import.id and started_at >= staged_at and not dry_run
                    and ${settings.operation} = 'IMPORT')
              then finished_at else started_at end
            from batches where id = ${old}))`
    : sql`false`

const overtakenRows = rowsOf(Schema.Struct({ isOvertaken: Schema.Boolean }))

const deletedRows = rowsOf(Schema.Struct({ isDeleted: Schema.Boolean }))

/** Whether lines are deleted of what the batch is made of, which stay until the transaction ends. */
export const areDeleted = Effect.fnUntraced(function* (
  sql: Sql,
  { imported, retryOf }: BatchSettings
) {
  const source = retryOf ?? imported?.batch_id ?? null
  if (source === null) return false
  const sources = yield* deletedRows(sql`
    select lines_deleted_through > 0 as "isDeleted" from batches
    where id = ${source} or id = (select lines_of from batches where id = ${source})
    order by number for share`)
  return sources.some(({ isDeleted }) => isDeleted)
})

/** Whether an open batch has lines that would be left out by now, or no longer finds them. */
export const isOvertaken = Effect.fnUntraced(function* (
  sql: Sql,
  { createdAt, id, settings }: Batch
) {
  if (settings.imported !== null) return yield* areDeleted(sql, settings)
  if (settings.retryOf === null || !endsWithAccount(settings)) return false
  const [found] = yield* overtakenRows(sql`
    select exists (
      select from batch_chunks cross join unnest(numbers) as number
        join import_processes
          on supplier = ${settings.supplier} and external_account_number = number
      where batch = ${id} and (account_number is not null
        or (${replacesStaged(settings)} and staged_at > ${DateTime.toDateUtc(createdAt)}))
    ) as "isOvertaken"`)
  return found?.isOvertaken ?? false
})

/**
 * The lines that other retries have done or have yet to do, by their numbers in the batch that
 * holds them. A second retry would repeat their effect. A line that a worker has in hand when its
 * retry is cancelled ends as it would have. Cancelled lines may have lost that number.
 */
const doneAgain = (sql: Sql, id: BatchId) => sql`
  select coalesce(of_line.held, of_line.source) as held_again
  from batches join batch_chunks on batch = batches.id
    cross join unnest(held_lines, outcomes, source_lines) as of_line(held, outcome, source)
  where lines_of = (select lines_of from batches where id = ${id})
    and (held is not null or retry_of = lines_of)
    and not dry_run and operation <> 'VALIDATE'
    and (outcome is null or outcome in ('SUCCEEDED', 'ALREADY'))`

/**
 * Fills a retry with the failed lines of an old batch, except those that were erased, whose data a
 * later line or another request has replaced, that another retry has, or whose account was
 * imported. Returns what it refers to, and how many lines were left out. Results are read
 * only of chunks with a line that has no number.
 */
export const fillAgain = Effect.fnUntraced(function* (
  sql: Sql,
  old: BatchId,
  { id, settings }: Pick<Batch, "id" | "settings">
) {
  const [filled] = yield* countRows(sql`
    with present as (
      select number, outcome, result, size, held_line, first_line + place::integer - 1 as line
      from batch_chunks, unnest(numbers, outcomes,
        case when 'FAILED' = any(outcomes) and array_position(numbers, null) is not null
          then results end,
        sizes, held_lines) with ordinality
        as of_line(number, outcome, result, size, held_line, place)
      where batch = ${old}
    ),
    replaced as (
      select number as by_number, max(line) as by_line from present
      where outcome in ('SUCCEEDED', 'ALREADY') and number is not null
        and ${endsWithAccount(settings)} and (select not dry_run from batches where id = ${old})
      group by number
    ),
    again as (${doneAgain(sql, id)}),
    failed as (select * from present where outcome = 'FAILED'),
    source as materialized (
      select null::bytea as line, number, line as source_line,
        coalesce(held_line, line) as held_line, size, line as place
      from failed
      where not ${isErased(sql)} and not ${isImported(sql, settings)}
        and not ${isStagedAnew(sql, old, settings)}
        and not exists (select from replaced where by_number = number and by_line > failed.line)
        and not exists (select from again where held_again = coalesce(held_line, failed.line))
    ),
    ${insertChunks(sql, id)}
    select count(*)::integer as lines, coalesce(sum(size), 0)::bigint as bytes,
      (select count(*)::integer from failed) as failures
    from source`)
  if (filled === undefined) throw new Error("An aggregate gave no row")
  const { bytes, failures, lines } = filled
  return { bytes, lines, leftOut: failures - lines }
})

/** Whether `present` was tried, or its latest attempt has failed; dry runs do not count. */
const wasTried = (sql: Sql, failed: boolean) => {
  const attempts = sql`from import_attempts where import_id = present.id and not dry_run`
  return failed
    ? sql`exists (
        select from (select outcome ${attempts} order by sequence desc limit 1) as last
        where outcome <> 'created')`
    : sql`not exists (select ${attempts})`
}

const filledRows = rowsOf(Schema.Struct({ lines: Schema.Int, bytes: Schema.BigInt }))

/** The pending imports that the batch processes, called `present`. */
const pendingOf = (sql: Sql, { failed, ...selection }: PendingSelection, at: DateTime.Utc) => sql`
  where ${isPending(sql, at)} and ${selectedBy(sql, selection, at)}
    ${failed === undefined ? sql`` : sql`and ${wasTried(sql, failed)}`}`

/** The accounts that the batch has created, from the results of its lines. */
const createdBy = (sql: Sql, id: BatchId) => sql`
  select result::json ->> 'kraken_account_number'
  from batch_chunks cross join unnest(outcomes, results) as of_line(outcome, result)
  where batch = ${id} and outcome = 'SUCCEEDED'`

/** The imported accounts that the batch reverts, called `present`. */
const importedOf = (
  sql: Sql,
  { batch_id: creator, cohort, created_after: after, created_before: before }: ImportedFilter
) => sql`
  where account_number is not null
    ${creator === undefined ? sql`` : sql`and account_number in (${createdBy(sql, creator)})`}
    ${cohort === undefined ? sql`` : sql`and present.cohort = ${cohort}`}
    ${after === undefined ? sql`` : sql`and account_created_at > ${DateTime.toDateUtc(after)}`}
    ${before === undefined ? sql`` : sql`and account_created_at < ${DateTime.toDateUtc(before)}`}`

/** Stores a line for each import of the source. Returns how many, and their bytes. */
export const fillFromSource = Effect.fnUntraced(function* (
  sql: Sql,
  id: BatchId,
  { imported, pending, supplier }: BatchSettings,
  at: DateTime.Utc,
  limit: number
) {
  yield* ErasureLock.copying(sql, supplier)
  const chosen = imported ? importedOf(sql, imported) : pendingOf(sql, pending ?? {}, at)
  const account = imported
    ? sql`|| ',"kraken_account_number":' || to_json(account_number)::text`
    : sql``
  const [stored] = yield* filledRows(sql`
    with selected as (
      select convert_to(
          '{"external_account_number":' || to_json(external_account_number)::text
            ${account} || '}', 'UTF8'
        ) as line, external_account_number as number
      from import_processes present ${chosen} and present.supplier = ${supplier}
      order by external_account_number limit ${limit}
    ),
    source as materialized (
      select line, number, null::integer as source_line, null::integer as held_line,
        octet_length(line) as size, number as place
      from selected
    ),
    ${insertChunks(sql, id)}
    select count(*)::integer as lines, coalesce(sum(size), 0)::bigint as bytes from source`)
  return { lines: stored?.lines ?? 0, bytes: stored?.bytes ?? 0n }
})
