/**
 * Working on the lines of a batch. The lock on the row of a chunk is the lease of its worker: it
 * ends with the connection, so the chunk of a dead worker is free at once.
 */
import { Array, DateTime, Duration, Effect, Option, Result, Schema, Semaphore } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import type { EndedLine } from "@data-import/domain/batches/BatchLine"
import { LineOutcome } from "@data-import/domain/batches/Counts"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { keysOf } from "@data-import/domain/batches/LineKey"
import type { Batches, ChunkInHand } from "@data-import/domain/batches/Batches"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { type Database, rowsOf } from "../connection/Database.ts"
import { answeredWithin } from "../connection/Deadline.ts"
import { recordSet } from "../tables/RecordSet.ts"
import * as BatchRow from "./BatchRow.ts"
import * as Problems from "./Problems.ts"
import * as Rehearsed from "./Rehearsed.ts"
import { storeTogether } from "./StoredTogether.ts"

type Sql = Database["Service"]["sql"]
type Take = Parameters<Batches["Service"]["take"]>[0]
type Finishing = Parameters<ChunkInHand["finish"]>[0]

const ChunkKey = Schema.Struct({ batch: Batch.BatchId, firstLine: Schema.Int })
type ChunkKey = typeof ChunkKey.Type

const Line = Schema.Struct({
  line: Schema.Int,
  bytes: Schema.NullOr(Schema.Uint8Array),
  externalAccountNumber: Schema.NullOr(Schema.String),
  sourceLine: Schema.NullOr(Schema.Int),
  tries: Schema.Int,
  waits: Schema.Int,
  outcome: Schema.NullOr(LineOutcome)
})
type Line = typeof Line.Type

const lineRows = rowsOf(Schema.Struct({ ...ChunkKey.fields, ...Line.fields }))

/**
 * The order of batches, round-robin: after the last organisation, within it after its last
 * supplier, and within a supplier after its last batch. Busy organisations come last.
 */
const inTurn = (sql: Sql, { busy, last }: Take) => {
  const names = busy?.keys ?? []
  const isBusy = sql`organisation = any(${names}::text[])`
  return sql`
    select id from batches left join ${recordSet(sql, "lately", [...(last?.batches ?? [])], {
      supplier: ["text", ([supplier]) => supplier],
      last_batch: ["uuid", ([, batch]) => batch]
    })} using (supplier) left join ${recordSet(sql, "served", [...(last?.suppliers ?? [])], {
      organisation: ["text", ([organisation]) => organisation],
      last_supplier: ["text", ([, supplier]) => supplier]
    })} using (organisation)
    where started_at is not null and finished_at is null and not is_cancelled and paused_by = '{}'
      and ${BatchRow.isKnown(sql)} ${busy?.wait === true ? sql`and not ${isBusy}` : sql``}
    order by ${isBusy}, organisation > ${last?.organisation ?? ""} desc, organisation,
      supplier > coalesce(last_supplier, '') desc, supplier,
      number > coalesce((select number from batches where id = last_batch), 0) desc, number`
}

interface Chunk extends ChunkKey {
  readonly lines: ReadonlyArray<Line>
}

/** Of the lines that `linesOf` gives: each may be in another chunk, which has to be decompressed. */
const heldToRun = (sql: Sql) => sql`array(
  select case when is_open and (number is null or row_number() over (
      partition by number, is_open order by place) = 1) then held end
  from unnest(held_lines, numbers, outcomes)
      with ordinality as of_line(held, number, outcome, place)
    cross join lateral (select outcome is null as is_open) as state order by place)`

/**
 * Locks a chunk that is ready, in a transaction. Its lines come as rows, because the driver parses
 * arrays character by character.
 */
const lockNext = (sql: Sql, command: Take) =>
  Effect.map(
    lineRows(sql`
      with in_turn as materialized (${inTurn(sql, command)}),
      taken as (
        select chunk.* from in_turn, lateral (
          select * from batch_chunks
          where batch = in_turn.id and unfinished > 0 and blockers = 0
            and (ready_at is null or ready_at <= ${DateTime.toDateUtc(command.at)})
          order by first_line limit 1 for no key update skip locked
        ) as chunk limit 1
      )
      select batch, first_line as "firstLine", first_line + place::integer - 1 as line, bytes,
        waits, number as "externalAccountNumber", source_line as "sourceLine", tried as tries,
        outcome
      from taken, unnest(coalesce(lines, lines_held(batch, ${heldToRun(sql)})),
          numbers, source_lines, tries, outcomes)
        with ordinality as of_line(bytes, number, source_line, tried, outcome, place)
      order by place`),
    (lines) => Option.map(Array.head(lines), (first): Chunk => ({ ...first, lines }))
  )

/** The unfinished lines, but only the first one of each account number. */
const linesOf = ({ lines }: Chunk): ChunkInHand["lines"] => {
  const waiting = new Set<string>()
  return lines.filter(({ externalAccountNumber: number, outcome }) => {
    const isFirst = number === null || !waiting.has(number)
    if (outcome === null && number !== null) waiting.add(number)
    return outcome === null && isFirst
  })
}

/**
 * Stores how lines of the chunk have ended and which are to be tried again, and deletes the keys
 * under which they ran. When the last line has ended, later chunks no longer wait for this one, and
 * its takes are deleted. Otherwise their row stays, since other lines may have done something.
 */
const store = (
  sql: Sql,
  { batch, firstLine }: Chunk,
  organisation: OrganisationName,
  { ended, postponed, readyAt, waits }: Finishing
) => {
  const changes = [
    ...ended.map(({ line, outcome, text }) => ({ line, outcome, text, tries: 0 })),
    ...postponed.map(({ isCounted, line }) => ({
      line,
      outcome: null,
      text: null,
      tries: isCounted ? 1 : 0
    }))
  ]
  const isLater = postponed.length > 0
  const keys = ended.flatMap(({ line }) => keysOf(batch, line))
  return sql`
    with sent as (
      select * from ${recordSet(sql, "change", changes, {
        line: ["integer", ({ line }) => line],
        outcome: ["text", ({ outcome }) => outcome],
        result: ["text", ({ text }) => text],
        more_tries: ["smallint", ({ tries }) => tries]
      })}
    ),
    merged as (
      select array_agg(coalesce(sent.outcome, present.outcome) order by place) as outcomes,
        array_agg(coalesce(sent.result, present.result) order by place) as results,
        array_agg((present.tries + coalesce(more_tries, 0))::smallint order by place) as tries
      from batch_chunks, unnest(outcomes, results, batch_chunks.tries)
        with ordinality as present(outcome, result, tries, place)
      left join sent on sent.line = ${firstLine} + place - 1
      where batch = ${batch} and first_line = ${firstLine}
    ),
    stored as (
      update batch_chunks
      set outcomes = merged.outcomes, results = merged.results, tries = merged.tries,
        unfinished = unfinished - ${ended.length}, waits = ${Math.min(waits, 100)},
        ready_at = ${isLater ? DateTime.toDateUtc(readyAt) : null}
      from merged where batch = ${batch} and first_line = ${firstLine}
      returning unfinished = 0 as has_ended
    ),
    unlinked as (
      update batch_chunks set blockers = blockers - 1
      from batch_links, stored where has_ended and batch_links.batch = ${batch}
        and earlier = ${firstLine} and batch_chunks.batch = ${batch} and first_line = later
    ),
    forgotten as (
      delete from batch_takes using stored
      where has_ended and batch = ${batch} and first_line = ${firstLine}
    ),
    kept as (
      update batch_takes set takes = 0 from stored
      where not has_ended and batch = ${batch} and first_line = ${firstLine}
    )
    delete from idempotency_keys where organisation = ${organisation}
      and key = any(${keys}::text[])`
}

/**
 * Counts ended lines, and `more` bytes that were stored. The row of the batch is the most
 * contended, so it is locked last.
 */
export const count = Effect.fnUntraced(function* (
  sql: Sql,
  id: Batch.BatchId,
  outcomes: ReadonlyArray<EndedLine["outcome"]>,
  {
    at,
    more = 0,
    waitingFor = null
  }: { readonly at: DateTime.Utc; more?: number; waitingFor?: Batch.WaitingFor | null }
) {
  // A batch with work left is not deleted.
  const before = yield* Effect.catchTag(BatchRow.locked(sql, id), "NotFound", Effect.die)
  const after = Batch.end(before, outcomes, at, waitingFor)
  yield* BatchRow.storeAutomatic(sql, before, after, at, more)
})

const keptRows = rowsOf(Schema.Struct({ key: Schema.String, answer: Schema.NullOr(Schema.String) }))

/**
 * Deletes the keys under which the lines ran, and returns the responses that were kept under them.
 */
export const deleteKeys = (
  sql: Sql,
  batch: Batch.BatchId,
  organisation: OrganisationName,
  lines: ReadonlyArray<number>
) =>
  keptRows(sql`
    delete from idempotency_keys where organisation = ${organisation}
      and key = any(${lines.flatMap((line) => keysOf(batch, line))}::text[])
    returning key, answer`).pipe(
    Effect.map((rows) => new Map(rows.map(({ answer, key }) => [key, answer])))
  )

/** Has to run in the transaction that has the lock on the chunk. */
const finish = Effect.fnUntraced(function* (
  sql: Sql,
  chunk: Chunk,
  batch: Batch.Batch,
  finishing: Finishing
) {
  const { at, ended, waitingFor } = finishing
  yield* store(sql, chunk, batch.organisation, finishing)
  const ofProblems = yield* Problems.add(sql, chunk.batch, ended)
  yield* Rehearsed.add(sql, batch, chunk, ended)
  const more = ended.reduce((sum, { text }) => sum + Buffer.byteLength(text), ofProblems)
  const outcomes = ended.map(({ outcome }) => outcome)
  yield* count(sql, chunk.batch, outcomes, { at, more, waitingFor })
})

const takeRows = rowsOf(Schema.Struct({ takes: Schema.Int }))

/**
 * Returns the batch of the chunk, and marks it as one whose lines workers have taken. Counts the
 * takes of the chunk since PostgreSQL was started, on a separate connection, so that the count
 * stays if the worker dies; `abandoned` is how many were counted before.
 */
const countTake = Effect.fnUntraced(function* (sql: Sql, { batch: id, firstLine }: ChunkKey) {
  const rows = yield* sql`
    with counted as (
      insert into batch_takes as present (batch, first_line, takes)
      values (${id}, ${firstLine}, 1)
      on conflict on constraint batch_takes_pkey do update
      set server_started_at = excluded.server_started_at,
        takes = case when present.server_started_at = excluded.server_started_at
          then present.takes + 1 else 1 end
      returning takes
    ),
    marked as (update batches set is_taken = true where id = ${id} and not is_taken)
    select ${sql.literal(BatchRow.batchColumns)}, takes from batches, counted where id = ${id}`
  const [batch] = yield* BatchRow.batchesIn(Effect.succeed(rows))
  const [counted] = yield* takeRows(Effect.succeed(rows))
  if (batch === undefined || counted === undefined) return null
  return { batch: { ...batch, isTaken: true }, abandoned: counted.takes - 1 }
})

/**
 * Uncounts takes of a worker that is alive. Those that fail while the database is away are
 * remembered; `settle` tries them again. A worker that was frozen may have counted its take after
 * another one finished the lines.
 */
const makeUncounting = ({ run, sql }: Database["Service"]) => {
  const pendingDecrements = new Set<ChunkKey>()
  const uncount = (chunk: ChunkKey) => {
    const { batch, firstLine } = chunk
    return run(sql`
      merge into batch_takes as present
      using batch_chunks as chunk
        on chunk.batch = present.batch and chunk.first_line = present.first_line
          and present.batch = ${batch} and present.first_line = ${firstLine}
      when matched and unfinished = 0 then delete
      when matched and takes > 0 then update set takes = takes - 1`).pipe(
      Effect.onError(() => Effect.sync(() => pendingDecrements.add(chunk)))
    )
  }
  const settle = Effect.suspend(() =>
    Effect.forEach(
      [...pendingDecrements],
      (chunk) => (pendingDecrements.delete(chunk) ? uncount(chunk) : Effect.void),
      {
        discard: true
      }
    )
  )
  return { uncount, settle }
}

/** A frozen worker, which runs no statement, loses its chunk after this time. */
const workerTimeout = Duration.seconds(5)

/** How often a statement keeps the connection from being idle. */
const heartbeat = Duration.seconds(1)

/**
 * Takes a chunk in a transaction of its own connection, which lasts until the chunk is finished or
 * the scope ends.
 */
const take = Effect.fnUntraced(function* (
  { run, runOnce, sql }: Database["Service"],
  uncount: (chunk: ChunkKey) => Effect.Effect<unknown, StorageUnavailable>,
  command: Take
) {
  const connection = yield* run(sql.reserve)
  const onConnection = Effect.provideService(sql.transactionService, [connection, 0] as const)
  const inTransaction = <A, E>(effect: Effect.Effect<A, E>) => runOnce(onConnection(effect))
  yield* inTransaction(sql`begin`)
  // Bypasses load shedding, so that no open transaction goes back to the pool.
  const atOnce = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.ignore(answeredWithin(onConnection(effect), workerTimeout))
  yield* Effect.addFinalizer(() => atOnce(sql`rollback`))
  // Other workers hold the problems and the counts of a batch for one commit.
  const timeout = String(Duration.toMillis(workerTimeout))
  yield* inTransaction(sql`
    select set_config('idle_in_transaction_session_timeout', ${timeout}, true),
      set_config('lock_timeout', ${timeout}, true)`)
  const found = yield* inTransaction(lockNext(sql, command))
  if (Option.isNone(found)) return Option.none()
  const chunk = found.value
  const beats = yield* Semaphore.make(1)
  yield* beats
    .withPermit(atOnce(sql`select`))
    .pipe(Effect.delay(heartbeat), Effect.forever, Effect.forkScoped)
  let isFinished = false
  yield* Effect.addFinalizer(() => (isFinished ? Effect.void : Effect.ignore(uncount(chunk))))
  const taken = yield* run(countTake(sql, chunk))
  if (taken === null) return Option.none()
  const { abandoned, batch } = taken
  const inHand: ChunkInHand = {
    batch,
    firstLine: chunk.firstLine,
    lines: linesOf(chunk),
    abandoned,
    waits: chunk.lines[0]?.waits ?? 0,
    confirm: Effect.asVoid(inTransaction(sql`select`)),
    finish: Effect.fnUntraced(function* (finishing) {
      const all = yield* inTransaction(storeTogether(sql, batch, finishing))
      if (Result.isFailure(all)) return new Set(all.failure)
      // An interrupted statement would end the transaction.
      yield* beats.take(1)
      const storing = finish(sql, chunk, batch, all.success)
      yield* inTransaction(Effect.andThen(storing, sql`commit`))
      isFinished = true
      return new Set()
    })
  }
  return Option.some(inHand)
})

/** Makes the function that takes a chunk. It first retries failed uncounts. */
export const makeTake = (database: Database["Service"]) => {
  const { settle, uncount } = makeUncounting(database)
  return (command: Take) => Effect.andThen(settle, take(database, uncount, command))
}
