/** The lines of batches that name a customer: found without a lock, and erased under one. */
import { Effect, Schema } from "effect"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { BatchId } from "@data-import/domain/batch/Batch"
import { erasedResult, unquoted } from "@data-import/domain/batch/ErasedLine"
import { keysOf } from "@data-import/domain/requests/LineKey"
import { type Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

const FoundChunk = Schema.Struct({ batch: BatchId, first: Schema.Int })
export type FoundChunk = typeof FoundChunk.Type

const batchRows = rowsOf(Schema.Struct({ id: BatchId }))
const chunkRows = rowsOf(FoundChunk)

/**
 * Whether a line of a chunk names the number. The bytes of a line are searched only if it could not
 * be read. Bytes outside ASCII are escaped, and are not part of the pattern.
 */
const namesIt = (sql: Sql, number: string) => sql`
  (number = ${number} or number is null
    and (position(convert_to(${JSON.stringify(number)}, 'UTF8') in bytes) > 0
      or encode(bytes, 'escape') ~ ${unquoted(number)}))`

const chunksOf = (sql: Sql, number: string, { id }: { readonly id: BatchId }) =>
  chunkRows(sql`
    select batch, first_line as first from batch_chunks
    where batch = ${id} and (${number} = any (numbers)
      or array_position(numbers, null) is not null and exists (
        select from unnest(lines, numbers) as of_line(bytes, number)
        where ${namesIt(sql, number)}))
    order by first_line`)

/** The chunks with lines of this number. Each batch is one statement. */
export const find = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  { external_account_number: number, import_supplier }: ImportKey
) {
  const batches = yield* run(
    batchRows(sql`select id from batches where supplier = ${import_supplier} order by number`)
  )
  const found = yield* Effect.forEach(batches, (batch) => run(chunksOf(sql, number, batch)))
  return found.flat()
})

/** Whether lines may have been received, or ended, since the search. */
const isRecent = (sql: Sql) => sql`(finished_at is null or finished_at > now() - interval '1 hour')`

/**
 * Locks ended batches, whose lines may be copied into a retry, or be redacted. Both hold a lock on
 * the batch, and write what they read before; the copy cannot be found until they commit.
 */
const lockEnded = (
  sql: Sql,
  { import_supplier }: ImportKey,
  found: ReadonlyArray<FoundChunk>
) => sql`
  select from batches
  where finished_at is not null
    and (id = any(${[...new Set(found.map(({ batch }) => batch))]}::uuid[])
      or supplier = ${import_supplier} and ${isRecent(sql)})
  order by number for no key update nowait`

/** The found chunks, and those that were received or have ended since the search. */
const withNew = Effect.fnUntraced(function* (
  sql: Sql,
  { external_account_number: number, import_supplier }: ImportKey,
  found: ReadonlyArray<FoundChunk>
) {
  const batches = yield* batchRows(sql`
    select id from batches where supplier = ${import_supplier} and ${isRecent(sql)}
    order by number`)
  const late = yield* Effect.forEach(batches, (batch) => chunksOf(sql, number, batch))
  const known = new Set(found.map(({ batch, first }) => `${batch} ${first}`))
  return [...found, ...late.flat().filter(({ batch, first }) => !known.has(`${batch} ${first}`))]
})

const lineRows = rowsOf(
  Schema.Struct({
    line: Schema.Int,
    place: Schema.Int,
    result: Schema.NullOr(Schema.String)
  })
)

/** The lines of a chunk that name the number; no row if a worker holds the chunk. */
const linesIn = (sql: Sql, number: string, { batch, first }: FoundChunk) =>
  lineRows(sql`
    with chunk as (
      select * from batch_chunks where batch = ${batch} and first_line = ${first}
      for no key update skip locked
    )
    select first_line + place::integer - 1 as line, place::integer as place, result
    from chunk, unnest(lines, numbers, results) with ordinality
      as of_line(bytes, number, result, place)
    where ${namesIt(sql, number)} order by place`)

/** Has to run in a transaction, which must be rolled back if a line has not ended. */
export const erase = Effect.fnUntraced(function* (
  sql: Sql,
  key: ImportKey,
  found: ReadonlyArray<FoundChunk>
) {
  const number = key.external_account_number
  yield* lockEnded(sql, key, found)
  const chunks = yield* withNew(sql, key, found)
  const erased = new Map<BatchId, ReadonlyArray<number>>()
  for (const chunk of chunks) {
    const { batch, first } = chunk
    const lines = yield* linesIn(sql, number, chunk)
    const results = lines.flatMap(({ result }) => (result === null ? [] : [erasedResult(result)]))
    if (lines.length === 0 || results.length < lines.length)
      return { _tag: "InBatch", batch } as const
    const numbers = lines.map(({ line }) => line)
    const keys = numbers.flatMap((line) => keysOf(batch, line))
    yield* sql`
      select erase_lines(${batch}::uuid, ${first}, ${lines.map(({ place }) => place)}::integer[],
        ${results}::text[], ${keys}::text[])`
    erased.set(batch, [...(erased.get(batch) ?? []), ...numbers])
  }
  for (const [batch, lines] of erased) {
    yield* sql`select erase_examples(${batch}::uuid, ${lines}::integer[])`
  }
  return { _tag: "Erased", count: [...erased.values()].flat().length } as const
})
