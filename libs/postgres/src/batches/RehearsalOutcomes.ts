/**
 * What became of the lines of a rehearsal: what judged each, and the first attempt after it that
 * was no dry run. Counts are kept with the chunks, and those are counted anew whose imports have
 * changed. Imports are looked up one by one, because plans are kept while tables grow.
 */
import { DateTime, Duration, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { BatchId } from "@data-import/domain/batches/Batch"
import { ForecastSum } from "@data-import/domain/batches/Rehearsal"
import {
  OutcomeLine,
  type OutcomeQuery,
  RehearsalOutcomes
} from "@data-import/domain/batches/RehearsalOutcomes"
import { missingDocument } from "@data-import/domain/migrations/SupplierSummary"
import { Database, rowsOf } from "../connection/Database.ts"
import { settledStateOf } from "../imports/ImportSource.ts"
import { recordSet } from "../tables/RecordSet.ts"
import { chunkLimits } from "./Lines.ts"
import { codesOf, countedAsOf } from "./Rehearsed.ts"

type Sql = Database["Service"]["sql"]

/** A document that came or went in between is a change like any other. */
const lacksDocument = (sql: Sql, codes: string) =>
  sql`coalesce(${sql.literal(codes)}, '') like ${`% ${missingDocument} %`}`

/**
 * The lines of the chunks, of which `chunks` has `batch` and `first_line`. `import_id` and
 * `created_at` are those of an attempt that created an account whose customer is not erased.
 */
const compared = (sql: Sql, chunks: Statement.Fragment) => sql`
  select chunk.batch, chunk.first_line, chunk.first_line + place::integer - 1 as line,
    named as external_account_number, predicted,
    case when is_erased then 'ERASED'
      when happened.outcome is null then case when present.skipped then 'SKIPPED'
        else 'NOT_TRIED' end
      when of_line.judged_at is null or (hash, of_line.judged_by)
        is distinct from (happened.payload_hash, happened.judged_by) then 'CHANGED'
      when ${lacksDocument(sql, "of_line.codes")} <> ${lacksDocument(sql, "happened.codes")}
        then 'CHANGED'
      when happened.outcome = 'created' then 'CREATED'
      when of_line.codes = happened.codes then 'FAILED_AS_PREDICTED'
      else 'FAILED_OTHERWISE'
    end as happened,
    case when is_erased then 'ERASED'
      when present.id is null then 'NEVER_STAGED'
      when present.account_number is null and present.reverted_at > happened.started_at
        then 'REVERTED'
      else ${settledStateOf(sql)}
    end as finally,
    case when happened.outcome = 'created' and erased_at is null then present.id end as import_id,
    happened.started_at as created_at, batches.started_at as batch_started_at
  from (${chunks}) as asked
  join batch_chunks as chunk using (batch, first_line)
  join batches on batches.id = chunk.batch
  cross join lateral unnest(numbers, outcomes, payload_hashes, chunk.judged_by, chunk.judged_at,
      judged_codes)
    with ordinality as of_line(named, predicted, hash, judged_by, judged_at, codes, place)
  left join lateral (
    select id, skipped, erased_at, reverted_at, account_number, failed_staging, stagings
    from import_processes
    where supplier = batches.supplier and external_account_number = named offset 0
  ) as present on true
  cross join lateral (
    select present.erased_at is not null or named is null and exists (
      select from unnest(results) with ordinality as of_line(result, at)
      where at = place and (result::json ->> 'erased') is not null) as is_erased
  ) as erasure
  left join lateral (
    select outcome, case outcome when 'created' then '' else ${codesOf(sql)} end as codes,
      started_at, payload_hash, judged_by
    from import_attempts
    where import_id = present.id and not dry_run
      and started_at >= coalesce(of_line.judged_at, batches.started_at)
    order by sequence limit 1
  ) as happened on true
  where predicted <> 'CANCELLED'`

/**
 * Whether an earlier chunk of the batch has a line of the account whose first attempt is the same.
 * Only chunks with links have one.
 */
const isCountedEarlier = (sql: Sql) => sql`
  exists (select from batch_links where batch_links.batch = line.batch and later = first_line)
  and exists (
    select from batch_chunks as earlier
      cross join lateral unnest(numbers, outcomes, earlier.judged_at)
        as of_line(number, outcome, judged_at)
    where earlier.batch = line.batch and earlier.first_line < line.first_line
      and numbers @> array[external_account_number] and earlier.judged_at is not null
      and (earlier.lines is not null or earlier.held_lines is not null)
      and number = external_account_number and outcome <> 'CANCELLED'
      and not exists (
        select from import_attempts
        where import_id = line.import_id and not dry_run and started_at < line.created_at
          and started_at >= coalesce(of_line.judged_at, batch_started_at)))`

const Chunk = Schema.Struct({ batch: BatchId, first: Schema.Int })

const chunkRows = rowsOf(Chunk)

/** How many changes are looked up at once. */
const changesAtOnce = 1_000

const changeRows = rowsOf(Schema.Struct({ changes: Schema.Int }))

/**
 * True if no other process follows. It then holds until the end of the transaction, so that two
 * never deadlock, and that counting takes one connection however many workers there are.
 */
const alone = (sql: Sql) => sql`
  select pg_try_advisory_xact_lock(hashtextextended('rehearsals', 0)) as is_alone`

/** Marks the chunks of changes. Returns how many changes there were. */
const mark = Effect.fnUntraced(function* (sql: Sql) {
  const [row] = yield* changeRows(sql`
    with alone as materialized (${alone(sql)}),
    taken as (
      delete from rehearsal_changes where ctid = any(array(
        select change.ctid from alone, rehearsal_changes as change where is_alone
        order by at limit ${changesAtOnce} for update of change skip locked))
      returning at, import_id, batch, first_line
    ),
    imports as (
      select import_id, min(at) as at from taken where import_id is not null group by import_id
    ),
    touched as (
      select batch, first_line, at from taken where batch is not null
      union all
      select chunk.batch, first_line, at
      from imports cross join lateral (
        select supplier, external_account_number collate "default" as number
        from import_processes where id = import_id offset 0
      ) as import cross join lateral (
        select batch, first_line from batch_chunks
        where numbers @> array[number] and judged_at is not null
          and (lines is not null or held_lines is not null) offset 0
      ) as chunk join batches on batches.id = chunk.batch and batches.supplier = import.supplier
    ),
    marked as (
      update rehearsal_counts as present set stale_since = least(stale_since, since)
      from (select batch, first_line, min(at) as since from touched group by 1, 2) as touched
      where present.batch = touched.batch and present.first_line = touched.first_line
    )
    select count(*)::integer as changes from taken`)
  return row?.changes ?? 0
})

/** How many chunks of each rehearsal are counted in a turn. */
const chunksAtOnce = 10

/** How many chunks are counted in one transaction. */
const chunksTogether = 10

/** Chunks of rehearsals that have ended, which have been stale for a while. */
const stale = (sql: Sql, pause: Duration.Duration) =>
  chunkRows(sql`
    select batch, first_line as first
    from followed_rehearsals as followed
    join batches on batches.id = followed.batch and finished_at is not null
    cross join lateral (
      select first_line from rehearsal_counts
      where rehearsal_counts.batch = followed.batch
        and stale_since <= now() - make_interval(secs => ${Duration.toSeconds(pause)})
      order by stale_since limit ${chunksAtOnce}
    ) as chunk
    where followed_until is null and fence <= pg_snapshot_xmin(pg_current_snapshot())`)

/**
 * Counts chunks anew, in a transaction. They are locked by a statement of its own: what was marked
 * before is seen by the next one, and what changes later is marked after it. Returns how many.
 */
const count = Effect.fnUntraced(function* (sql: Sql, chunks: ReadonlyArray<typeof Chunk.Type>) {
  const locked = yield* chunkRows(sql`
    with alone as materialized (${alone(sql)})
    select present.batch, present.first_line as first
    from alone cross join ${recordSet(sql, "chunk", chunks, {
      batch: ["uuid", ({ batch }) => batch],
      first: ["integer", ({ first }) => first]
    })} join rehearsal_counts as present
      on present.batch = chunk.batch and present.first_line = chunk.first
    where is_alone and stale_since is not null
    order by present.batch, present.first_line for no key update of present skip locked`)
  if (locked.length === 0) return 0
  yield* sql`
    with asked as materialized (
      select * from ${recordSet(sql, "chunk", locked, {
        batch: ["uuid", ({ batch }) => batch],
        first_line: ["integer", ({ first }) => first]
      })}
    ),
    compared as materialized (${compared(sql, sql`select * from asked`)}),
    counted as (
      select batch, first_line, jsonb_agg(jsonb_build_object('predicted', predicted,
        'happened', happened, 'finally', finally, 'lines', lines)) as lines
      from (
        select batch, first_line, predicted, happened, finally, count(*) as lines
        from compared group by 1, 2, 3, 4, 5) as counts
      group by 1, 2
    ),
    created as materialized (
      select batch, first_line, account.*
      from (
        select distinct on (batch, first_line, import_id, created_at) * from compared
        where import_id is not null
      ) as line cross join lateral (
        select id, balance from accounts
        where accounts.import_id = line.import_id and accounts.created_at >= line.created_at
        order by id limit 1
      ) as account where not (${isCountedEarlier(sql)})
    ),
    amounts as (
      select batch, first_line, 'account' as kind, '' as name, balance - coalesce((
        select sum(effect_on_balance) from transactions
        where account_id = created.id and origin = 'post_import'), 0) as amount
      from created
      union all
      select batch, first_line, 'ledger', ledger.*
      from created cross join lateral (
        select ledger_code,
          ledger_sum(account_id, position, ledger_balance, last_statement_balance)
        from ledgers where account_id = created.id offset 0) as ledger
    ),
    summed as (
      select batch, first_line, jsonb_agg(jsonb_build_object('kind', kind, 'name', name,
        'count', count, 'hundredths', trunc(amount * 100)::text)) as sums
      from (
        select batch, first_line, kind, name, count(*) as count, sum(amount) as amount
        from amounts group by 1, 2, 3, 4) as sums
      group by 1, 2
    )
    update rehearsal_counts as present
    set lines = coalesce(counted.lines, '[]'), sums = coalesce(summed.sums, '[]'),
      stale_since = null
    from asked left join counted using (batch, first_line)
      left join summed using (batch, first_line)
    where present.batch = asked.batch and present.first_line = asked.first_line`
  return locked.length
})

const follow = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  pause: Duration.Duration
) {
  yield* run(sql`
    update followed_rehearsals set fence = pg_snapshot_xmax(pg_current_snapshot())
    where fence is null`)
  const changes = yield* run(mark(sql))
  const chunks = yield* run(stale(sql, pause))
  let counted = 0
  for (let from = 0; from < chunks.length; from += chunksTogether) {
    const some = chunks.slice(from, from + chunksTogether)
    counted += yield* run(sql.withTransaction(count(sql, some)))
  }
  return changes === changesAtOnce || counted > 0
})

const asOfRows = rowsOf(Schema.Struct({ at: Schema.DateTimeUtcFromMillis }))

const { finally: _, ...counted } = OutcomeLine.fields
const countRows = rowsOf(
  Schema.Struct({
    predicted: counted.predicted,
    happened: counted.happened,
    finally: OutcomeLine.fields.finally,
    lines: Schema.Int
  })
)

const sumRows = rowsOf(ForecastSum)

/** The instant is read first: what is marked meanwhile only makes the counts newer. */
const counts = Effect.fnUntraced(function* ({ run, sql }: Database["Service"], id: BatchId) {
  const [asOf] = yield* run(
    asOfRows(sql`
      select floor(extract(epoch from coalesce(
        (select followed_until from followed_rehearsals where batch = ${id}),
        ${countedAsOf(sql, id)})) * 1000)::float8 as at`)
  )
  return {
    at: asOf?.at ?? (yield* DateTime.now),
    counts: yield* run(
      countRows(sql`
        select predicted, happened, finally, sum(each.lines)::integer as lines
        from rehearsal_counts, jsonb_to_recordset(rehearsal_counts.lines)
          as each(predicted text, happened text, finally text, lines integer)
        where batch = ${id} group by 1, 2, 3`)
    ),
    sums: yield* run(
      sumRows(sql`
        select kind, name, sum(count)::integer as count, sum(hundredths)::text as hundredths
        from rehearsal_counts, jsonb_to_recordset(sums)
          as each(kind text, name text, count integer, hundredths numeric)
        where batch = ${id} group by kind, name order by kind, name`)
    )
  }
})

const lineRows = rowsOf(OutcomeLine)

/** Chunks are read one after the other until the limit is reached, without those of other lines. */
const lines = (sql: Sql, id: BatchId, { afterLine, happened, limit, predicted }: OutcomeQuery) => {
  const asked = JSON.stringify([{ predicted, happened }])
  const chunk = sql`select chunk.batch, chunk.first_line`
  return lineRows(sql`
    select line, external_account_number, predicted, happened, finally
    from (
      select batch, first_line from rehearsal_counts
      where batch = ${id} and first_line > ${afterLine - chunkLimits.lines}
        and (stale_since is not null or lines @> ${asked}::jsonb)
      order by first_line offset 0
    ) as chunk cross join lateral (${compared(sql, chunk)} offset 0) as compared
    where line > ${afterLine} and predicted = coalesce(${predicted ?? null}, predicted)
      and happened = coalesce(${happened ?? null}, happened)
    order by chunk.first_line, line limit ${limit}`)
}

export const layer: Layer.Layer<RehearsalOutcomes, never, Database> = Layer.effect(
  RehearsalOutcomes,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    return RehearsalOutcomes.of({
      counts: (id) => counts(database, id),
      lines: (id, query) => run(lines(sql, id, query)),
      follow: (pause) => follow(database, pause)
    })
  })
)
