/**
 * Working on the lines of a batch. The lock on the row of a chunk is the lease of its worker: it
 * ends with the connection, so the chunk of a dead worker is free at once.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import * as Batch from "@data-import/domain/batch/Batch"
import type { LineEnd } from "@data-import/domain/batch/BatchLine"
import type { Batches, ChunkInHand } from "@data-import/domain/ports/Batches"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"
import * as BatchRow from "./BatchRow.ts"

type Sql = Database["Service"]["sql"]
type Take = Parameters<Batches["Service"]["take"]>[0]
export type Finishing = Parameters<ChunkInHand["finish"]>[0]

const Chunk = Schema.Struct({
  batch: Batch.BatchId,
  firstLine: Schema.Int,
  lines: Schema.Array(Schema.NullOr(Schema.Uint8Array)),
  numbers: Schema.Array(Schema.NullOr(Schema.String)),
  tries: Schema.Array(Schema.Int),
  outcomes: Schema.Array(Schema.NullOr(Schema.String))
})
export type Chunk = typeof Chunk.Type

const chunkRows = rowsOf(Chunk)

/** Batches in turn: those after the last one of its supplier, and suppliers after the last one. */
const inTurn = (sql: Sql, last: Take["last"]) => {
  const batches = [...(last?.batches ?? [])]
  return sql`
    select id from batches as present left join ${recordSet(sql, "lately", batches, {
      supplier: ["text", ([supplier]) => supplier],
      last_batch: ["uuid", ([, batch]) => batch]
    })} using (supplier)
    where started_at is not null and finished_at is null and not is_cancelled and paused_by = '{}'
    order by supplier > ${last?.supplier ?? ""} desc, supplier,
      number > coalesce((select number from batches where id = last_batch), 0) desc, number`
}

/** Locks a chunk that is ready, in a transaction. */
export const take = (sql: Sql, { at, last }: Take) =>
  Effect.map(
    chunkRows(sql`
      with in_turn as materialized (${inTurn(sql, last)})
      select batch, first_line as "firstLine", chunk.lines, numbers, tries, outcomes
      from in_turn, lateral (
        select * from batch_chunks
        where batch = in_turn.id and unfinished > 0 and blockers = 0
          and (ready_at is null or ready_at <= ${DateTime.toDateUtc(at)})
        order by first_line limit 1 for no key update skip locked
      ) as chunk limit 1`),
    ([chunk]) => Option.fromUndefinedOr(chunk)
  )

/** The lines that have not ended, and of each account number only the first. */
export const linesOf = ({
  firstLine,
  lines,
  numbers,
  outcomes,
  tries
}: Chunk): ChunkInHand["lines"] => {
  const waiting = new Set<string>()
  return lines.flatMap((bytes, index) => {
    const number = numbers[index] ?? null
    const isFirst = number === null || !waiting.has(number)
    if (outcomes[index] !== null || !isFirst) return []
    if (number !== null) waiting.add(number)
    const line = firstLine + index
    return [{ line, bytes, externalAccountNumber: number, tries: tries[index] ?? 0 }]
  })
}

const unfinishedRows = rowsOf(Schema.Struct({ unfinished: Schema.Int }))

/** Stores how lines of the chunk have ended, and which are to be tried again. */
const store = (sql: Sql, { batch, firstLine }: Chunk, finishing: Finishing) => {
  const { ended, postponed, readyAt } = finishing
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
  return unfinishedRows(sql`
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
    )
    update batch_chunks
    set outcomes = merged.outcomes, results = merged.results, tries = merged.tries,
      unfinished = unfinished - ${ended.length},
      ready_at = ${isLater ? DateTime.toDateUtc(readyAt) : null}
    from merged where batch = ${batch} and first_line = ${firstLine}
    returning unfinished`)
}

/** Later chunks no longer wait for this one. */
const unlink = (sql: Sql, { batch, firstLine }: Pick<Chunk, "batch" | "firstLine">) => sql`
  update batch_chunks set blockers = blockers - 1
  from batch_links where batch_links.batch = ${batch} and earlier = ${firstLine}
    and batch_chunks.batch = ${batch} and first_line = later`

const examplesOfProblem = 5

/** Counts each problem once for a line. */
const problemsIn = (ended: ReadonlyArray<LineEnd>) => {
  const found = ended.flatMap((end) =>
    end.problems.map(({ attr, code, detail }) => {
      const { externalAccountNumber, line } = end
      return { code, attr, example: { line, externalAccountNumber, detail } }
    })
  )
  const groups = Map.groupBy(found, ({ attr, code }) => JSON.stringify([code, attr]))
  return [...groups.values()].map((same) => {
    const { attr, code } = same[0] as (typeof same)[number]
    const byLine = new Map(same.map(({ example }) => [example.line, example]))
    return { attr, code, lines: byLine.size, examples: [...byLine.values()] }
  })
}

/** In the order of their keys, so that two workers never wait for each other. */
const countProblems = (sql: Sql, batch: Batch.BatchId, ended: ReadonlyArray<LineEnd>) => {
  const problems = problemsIn(ended)
  if (problems.length === 0) return Effect.void
  return sql`
    insert into batch_problems as present (batch, code, attr, lines, examples)
    select ${batch}::uuid, code, attr, lines, examples from ${recordSet(sql, "sent", problems, {
      code: ["text", ({ code }) => code],
      attr: ["text", ({ attr }) => attr],
      lines: ["integer", ({ lines }) => lines],
      examples: ["jsonb", ({ examples }) => JSON.stringify(examples.slice(0, examplesOfProblem))]
    })} order by code, attr
    on conflict on constraint batch_problems_pkey do update
    set lines = present.lines + excluded.lines,
      examples = case
        when jsonb_array_length(present.examples) >= ${examplesOfProblem} then present.examples
        else (
          select jsonb_agg(example order by place) from (
            select example, place from jsonb_array_elements(present.examples || excluded.examples)
              with ordinality as all_examples(example, place) limit ${examplesOfProblem}
          ) as first_examples
        ) end`
}

const event = (sql: Sql, batch: Batch.Batch, name: string, at: DateTime.Utc) => sql`
  insert into outbox (at, name, batch, codes)
  values (${DateTime.toDateUtc(at)}, ${name}, ${batch.id}, '{}')`

/** Counts ended lines. The row of the batch is the hot one, and so is locked last. */
const count = Effect.fnUntraced(function* (
  sql: Sql,
  id: Batch.BatchId,
  outcomes: ReadonlyArray<LineEnd["outcome"]>,
  at: DateTime.Utc
) {
  const before = yield* BatchRow.locked(sql, id)
  const batch = Batch.end(before, outcomes, at)
  yield* BatchRow.store(sql, batch)
  if (batch.pausedBy.has("FAILURES") && !before.pausedBy.has("FAILURES")) {
    yield* event(sql, batch, "data_import.batch.paused-v1", at)
  }
  if (batch.finishedAt !== null && !batch.isCancelled) {
    yield* event(sql, batch, "data_import.batch.completed-v1", at)
  }
})

/** In the transaction that has the lock on the chunk. */
export const finish = Effect.fnUntraced(function* (sql: Sql, chunk: Chunk, finishing: Finishing) {
  const { at, ended } = finishing
  const [stored] = yield* store(sql, chunk, finishing)
  if (stored?.unfinished === 0) yield* unlink(sql, chunk)
  yield* countProblems(sql, chunk.batch, ended)
  yield* count(
    sql,
    chunk.batch,
    ended.map(({ outcome }) => outcome),
    at
  )
})

const cancelledRows = rowsOf(Schema.Struct({ batch: Batch.BatchId, lines: Schema.Int }))

/** Chunks whose lines are cancelled in one transaction. */
const chunksAtOnce = 1_000

/** Ends the lines of cancelled batches that no worker has in hand. True if there may be more. */
export const cancel = Effect.fnUntraced(function* (sql: Sql, at: DateTime.Utc) {
  const cancelled = yield* cancelledRows(sql`
    with open as (
      select batch, first_line from batch_chunks
      where unfinished > 0 and batch in (
        select id from batches where is_cancelled and finished_at is null)
      order by batch, first_line limit ${chunksAtOnce} for no key update skip locked
    ),
    ended as (
      update batch_chunks present
      set unfinished = 0, blockers = 0, lines = null,
        outcomes = array(
          select coalesce(outcome, 'CANCELLED') from unnest(outcomes)
            with ordinality as of_line(outcome, place) order by place),
        results = array(
          select coalesce(result, json_build_object('line', present.first_line + place - 1,
            'external_account_number', numbers[place], 'outcome', 'CANCELLED')::text)
          from unnest(results) with ordinality as of_line(result, place) order by place)
      from open where present.batch = open.batch and present.first_line = open.first_line
      returning present.batch, present.first_line
    )
    select ended.batch, sum(before.unfinished)::integer as lines
    from ended join batch_chunks before using (batch, first_line) group by ended.batch`)
  for (const { batch, lines } of cancelled) {
    yield* count(
      sql,
      batch,
      Array.from({ length: lines }, () => "CANCELLED" as const),
      at
    )
  }
  return cancelled.length > 0
})
