/**
 * What the lines of a rehearsal tell when they end: the sums over the accounts that they would
 * create, and what judged them, by which the outcome is decided later.
 */
import { DateTime, Effect, Schema } from "effect"
import type { Batch, BatchId } from "@data-import/domain/batches/Batch"
import type { EndedLine } from "@data-import/domain/batches/BatchLine"
import { ForecastSum, isRehearsal, sumsOfAccounts } from "@data-import/domain/batches/Rehearsal"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]

/** A chunk with the outcomes that its lines had when it was taken. */
interface TakenChunk {
  readonly firstLine: number
  readonly lines: ReadonlyArray<{
    readonly externalAccountNumber: string | null
    readonly outcome: EndedLine["outcome"] | null
  }>
}

const sumRows = rowsOf(ForecastSum)

export const read = (sql: Sql, id: BatchId) =>
  sumRows(sql`
    select kind, name, count, hundredths::text as hundredths from batch_rehearsed
    where batch = ${id} order by kind, name`)

const successRows = rowsOf(
  Schema.Struct({ chunk: Schema.Int, number: Schema.String, isCreated: Schema.Boolean })
)

/**
 * Those of the numbers whose account an earlier line of another chunk would create. All earlier
 * lines of a number have ended, and a chunk is linked to the last one before it that has it.
 */
const createdEarlier = Effect.fnUntraced(function* (
  sql: Sql,
  batch: BatchId,
  firstLine: number,
  numbers: ReadonlyArray<string>
) {
  const created = new Set<string>()
  let [chunks, open]: [ReadonlyArray<number>, ReadonlyArray<string>] = [[firstLine], numbers]
  while (open.length > 0) {
    const rows = yield* successRows(sql`
      select first_line as chunk, number, bool_or(outcome = 'SUCCEEDED') as "isCreated"
      from batch_chunks cross join lateral unnest(numbers, outcomes) as of_line(number, outcome)
      where batch = ${batch} and number = any(${open}::text[]) and first_line in (
        select earlier from batch_links
        where batch = ${batch} and later = any(${chunks}::integer[]))
      group by 1, 2`)
    for (const { isCreated, number } of rows) if (isCreated) created.add(number)
    chunks = rows.map(({ chunk }) => chunk)
    open = rows.map(({ number }) => number).filter((number) => !created.has(number))
  }
  return created
})

/** What the ended lines would create. An account counts once, with the first line that would. */
const wouldCreate = Effect.fnUntraced(function* (
  sql: Sql,
  id: BatchId,
  { firstLine, lines }: TakenChunk,
  ended: ReadonlyArray<EndedLine>
) {
  const before = lines.filter(({ outcome }) => outcome === "SUCCEEDED")
  const here = new Set(before.map(({ externalAccountNumber }) => externalAccountNumber))
  const due = ended.flatMap(({ externalAccountNumber: number, rehearsed }) =>
    rehearsed && number !== null && !here.has(number) ? [{ number, rehearsed }] : []
  )
  const numbers = due.map(({ number }) => number)
  const earlier = yield* createdEarlier(sql, id, firstLine, numbers)
  return due.flatMap(({ number, rehearsed }) => (earlier.has(number) ? [] : [rehearsed]))
})

/** Adds what lines would create. In order, so that two workers never deadlock. */
const addSums = Effect.fnUntraced(function* (
  sql: Sql,
  id: BatchId,
  chunk: TakenChunk,
  ended: ReadonlyArray<EndedLine>
) {
  const sums = sumsOfAccounts(yield* wouldCreate(sql, id, chunk, ended))
  if (sums.length === 0) return
  yield* sql`
    insert into batch_rehearsed as present (batch, kind, name, count, hundredths)
    select ${id}, kind, name, count, hundredths from ${recordSet(sql, "sum", sums, {
      kind: ["text", ({ kind }) => kind],
      name: ["text", ({ name }) => name],
      count: ["integer", ({ count }) => count],
      hundredths: ["numeric", ({ hundredths }) => String(hundredths)]
    })}
    order by kind, name collate "C"
    on conflict on constraint batch_rehearsed_pkey do update
    set count = present.count + excluded.count,
      hundredths = present.hundredths + excluded.hundredths`
})

/** The codes of an attempt in order, between blanks, however often each was found. */
export const codesOf = (sql: Sql) => sql`(' ' || array_to_string(array(
  select outcome union
  select error ->> 'code' from jsonb_array_elements(errors) as error order by 1), ' ') || ' ')`

/** The attempt of the rehearsal: the latest dry run since it was started. */
const attemptOf = (sql: Sql, { settings: { supplier }, started }: Batch) => sql`
  select attempt.payload_hash as hash, attempt.judged_by as by, started_at as at,
    ${codesOf(sql)} as codes
  from import_processes as present join import_attempts as attempt on import_id = present.id
  where supplier = ${supplier} and external_account_number = number and dry_run
    and started_at >= ${started && DateTime.toDateUtc(started.at)}
  order by sequence desc limit 1`

/**
 * Keeps what judged lines of a chunk: of PROCESS it is read from the attempt, of IMPORT, which has
 * none, it comes with the end. The chunk is to be counted from now on.
 */
const judge = (sql: Sql, batch: Batch, firstLine: number, ended: ReadonlyArray<EndedLine>) => {
  const { id, settings } = batch
  const judged =
    settings.operation === "PROCESS"
      ? attemptOf(sql, batch)
      : sql`
        select decode(sent_hash, 'hex') as hash, sent_by as by, sent_at as at, null as codes
        where sent_hash is not null`
  return sql`
    with sent as (
      select * from ${recordSet(sql, "ended", ended, {
        line: ["integer", ({ line }) => line],
        sent_hash: ["text", ({ judged }) => judged?.payloadHash ?? null],
        sent_by: ["text", ({ judged }) => judged?.judgedBy ?? null],
        sent_at: ["timestamptz", ({ judged }) => (judged ? DateTime.toDateUtc(judged.at) : null)]
      })}
    ),
    merged as (
      select array_agg(coalesce(judged.hash, present.hash) order by place) as hashes,
        array_agg(coalesce(judged.by, present.by) order by place) as by,
        array_agg(coalesce(judged.at, present.at) order by place) as at,
        array_agg(coalesce(judged.codes, present.codes) order by place) as codes
      from batch_chunks, unnest(numbers, payload_hashes, judged_by, judged_at, judged_codes)
        with ordinality as present(number, hash, by, at, codes, place)
      left join sent on line = ${firstLine} + place - 1
      left join lateral (${judged}) as judged on line is not null
      where batch = ${id} and first_line = ${firstLine}
    ),
    kept as (
      update batch_chunks set payload_hashes = merged.hashes, judged_by = merged.by,
        judged_at = merged.at, judged_codes = merged.codes
      from merged where batch = ${id} and first_line = ${firstLine}
    ),
    followed as (
      insert into followed_rehearsals (batch, supplier) values (${id}, ${settings.supplier})
      on conflict on constraint followed_rehearsals_pkey do nothing
    )
    insert into rehearsal_counts as present (batch, first_line, stale_since)
    values (${id}, ${firstLine}, now())
    on conflict on constraint rehearsal_counts_pkey do update
    set stale_since = coalesce(present.stale_since, excluded.stale_since)`
}

/** Adds the ends of lines of a chunk. Those of a batch that is no rehearsal tell nothing. */
export const add = Effect.fnUntraced(function* (
  sql: Sql,
  batch: Batch,
  chunk: TakenChunk,
  ended: ReadonlyArray<EndedLine>
) {
  if (!isRehearsal(batch) || ended.length === 0) return
  yield* addSums(sql, batch.id, chunk, ended)
  yield* judge(sql, batch, chunk.firstLine, ended)
})

/** SQL for the instant as of which every count of a followed rehearsal is true. */
export const countedAsOf = (sql: Sql, id: BatchId) => sql`least(now(),
  (select min(stale_since) from rehearsal_counts where batch = ${id}),
  (select min(at) from rehearsal_changes))`

/** Has to run before a line is deleted, in the same transaction. */
export const unfollow = (sql: Sql, id: BatchId) => sql`
  update followed_rehearsals set followed_until = ${countedAsOf(sql, id)}
  where batch = ${id} and followed_until is null`
