/** The lines of batches that name a customer: found without a lock, and erased under one. */
import { Effect, Schedule, Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { BatchId } from "@data-import/domain/batches/Batch"
import { erasedResult, names, sentNamesIn } from "@data-import/domain/erasure/ErasedLine"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { keysOf } from "@data-import/domain/batches/LineKey"
import { linesIn } from "../batches/Lines.ts"
import { keyOf } from "../batches/Problems.ts"
import { type Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]
type OfStatement = SqlError.SqlError | Schema.SchemaError

const Position = Schema.Struct({ batch: BatchId, first: Schema.Int })
type Position = typeof Position.Type

export interface Found {
  readonly chunks: ReadonlyArray<Position>
  /** The first line of the last chunk that was searched, by batch. Lines are only appended. */
  readonly searched: ReadonlyMap<BatchId, number>
}

const batchRows = rowsOf(Schema.Struct({ id: BatchId }))

/** How many chunks one statement looks at, without their lines. */
const chunksAtOnce = 1_000

const chunkRows = rowsOf(
  Schema.Struct({ first: Schema.Int, isNamed: Schema.Boolean, hasUnread: Schema.Boolean })
)

const unreadRows = rowsOf(Schema.Struct({ bytes: Schema.Uint8Array }))

/** One statement for each chunk with lines that have no readable number, so that none is long. */
const hasUnreadOf = (sql: Sql, number: string, { batch, first }: Position) =>
  Effect.map(
    unreadRows(sql`
      select bytes from batch_chunks, unnest(${linesIn(sql)}, numbers) as of_line(bytes, number)
      where batch = ${batch} and first_line = ${first} and number is null and bytes is not null`),
    (lines) => lines.some(({ bytes }) => names({ bytes, externalAccountNumber: null }, number))
  )

/** Runs a statement alone, or as part of the transaction. */
type Ask<E> = <A>(statement: Effect.Effect<A, OfStatement>) => Effect.Effect<A, E>

/** The chunks of a batch after this line that have lines of the number. */
const chunksOf = Effect.fnUntraced(function* <E>(
  sql: Sql,
  run: Ask<E>,
  number: string,
  batch: BatchId,
  after: number
) {
  const chunks: Array<Position> = []
  let through = after
  for (;;) {
    const page = yield* run(
      chunkRows(sql`
        select first_line as first, ${number} = any (numbers) is true as "isNamed",
          (lines is not null or held_lines is not null)
            and array_position(numbers, null) is not null as "hasUnread"
        from batch_chunks where batch = ${batch} and first_line > ${through}
        order by first_line limit ${chunksAtOnce}`)
    )
    for (const { first, hasUnread, isNamed } of page) {
      const at = { batch, first }
      if (isNamed || (hasUnread && (yield* run(hasUnreadOf(sql, number, at))))) chunks.push(at)
    }
    through = page.at(-1)?.first ?? through
    if (page.length < chunksAtOnce) return { chunks, through }
  }
})

/** Another supplier of the organisation may have sent the number as well. */
const ofOrganisation = (sql: Sql, { import_supplier }: ImportKey) => sql`
  organisation = (select organisation from suppliers where code = ${import_supplier})`

/** A search of gigabytes goes on after a statement that failed, instead of from the beginning. */
const inOutages = { schedule: Schedule.exponential("200 millis"), times: 5 }

/** The chunks with lines of this number. */
export const find = Effect.fnUntraced(function* (database: Database["Service"], key: ImportKey) {
  const { sql } = database
  const run: Ask<StorageUnavailable> = (statement) =>
    Effect.retry(database.run(statement), inOutages)
  const batches = yield* run(
    batchRows(sql`select id from batches where ${ofOrganisation(sql, key)} order by number`)
  )
  const chunks: Array<Position> = []
  const searched = new Map<BatchId, number>()
  for (const { id } of batches) {
    const found = yield* chunksOf(sql, run, key.external_account_number, id, 0)
    chunks.push(...found.chunks)
    searched.set(id, found.through)
  }
  return { chunks, searched } satisfies Found
})

/** Whether lines may have been received, or ended, since the search. */
const isRecent = (sql: Sql) => sql`(finished_at is null or finished_at > now() - interval '1 hour')`

/**
 * Locks ended batches, to which a retry may begin to refer, or which may be redacted. Both hold a
 * lock on the batch, and write what they read before; the retry cannot be found until they commit.
 */
const lockEnded = (sql: Sql, key: ImportKey, { chunks }: Found) => sql`
  select from batches
  where finished_at is not null
    and (id = any(${[...new Set(chunks.map(({ batch }) => batch))]}::uuid[])
      or ${ofOrganisation(sql, key)} and ${isRecent(sql)})
  order by number for no key update nowait`

/** The found chunks, and those that were received or have ended since the search. */
const withNew = Effect.fnUntraced(function* (
  sql: Sql,
  key: ImportKey,
  { chunks, searched }: Found
) {
  const batches = yield* batchRows(sql`
    select id from batches where ${ofOrganisation(sql, key)} and ${isRecent(sql)}
    order by number`)
  const late = yield* Effect.forEach(batches, ({ id }) =>
    chunksOf<OfStatement>(
      sql,
      (statement) => statement,
      key.external_account_number,
      id,
      searched.get(id) ?? 0
    )
  )
  return [...chunks, ...late.flatMap((found) => found.chunks)]
})

const lineRows = rowsOf(
  Schema.Struct({
    line: Schema.Int,
    place: Schema.Int,
    externalAccountNumber: Schema.NullOr(Schema.String),
    bytes: Schema.NullOr(Schema.Uint8Array),
    result: Schema.NullOr(Schema.String)
  })
)

/** The lines of a chunk that name the number; none if a worker holds the chunk. */
const namingIn = (sql: Sql, number: string, { batch, first }: Position) =>
  Effect.map(
    lineRows(sql`
      with chunk as (
        select * from batch_chunks where batch = ${batch} and first_line = ${first}
        for no key update skip locked
      )
      select first_line + place::integer - 1 as line, place::integer as place, result,
        number as "externalAccountNumber", case when number is null then bytes end as bytes
      from chunk, unnest(${linesIn(sql)}, numbers, results) with ordinality
        as of_line(bytes, number, result, place)
      where number = ${number} or number is null and bytes is not null order by place`),
    (lines) => lines.filter((line) => names(line, number))
  )

/** Erases what the problems of the batch tell of these lines, whose results are given. */
const eraseProblems = Effect.fnUntraced(function* (
  sql: Sql,
  batch: BatchId,
  lines: ReadonlyMap<number, string>
) {
  const counts = new Map<string, number>()
  for (const result of lines.values()) {
    for (const key of new Set(sentNamesIn(result).map(keyOf))) {
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  yield* sql`
    select erase_names(${batch}::uuid, ${[...counts.keys()]}::text[],
      ${[...counts.values()]}::integer[])`
  yield* sql`select erase_examples(${batch}::uuid, ${[...lines.keys()]}::integer[])`
})

/**
 * Has to run in a transaction, which must be rolled back if a line has not ended. All lines are
 * read before the first is erased, because retries refer to the lines of other batches.
 */
export const erase = Effect.fnUntraced(function* (sql: Sql, key: ImportKey, found: Found) {
  const number = key.external_account_number
  yield* lockEnded(sql, key, found)
  const chunks = yield* Effect.forEach(yield* withNew(sql, key, found), (chunk) =>
    Effect.map(namingIn(sql, number, chunk), (lines) => ({ ...chunk, lines }))
  )
  const erased = new Map<BatchId, Map<number, string>>()
  for (const { batch, first, lines } of chunks) {
    const results = lines.flatMap(({ result }) => (result === null ? [] : [erasedResult(result)]))
    if (lines.length === 0 || results.length < lines.length)
      return { _tag: "InBatch", batch } as const
    const numbers = lines.map(({ line }) => line)
    const keys = numbers.flatMap((line) => keysOf(batch, line))
    yield* sql`
      select erase_lines(${batch}::uuid, ${first}, ${lines.map(({ place }) => place)}::integer[],
        ${results}::text[], ${keys}::text[])`
    const ofBatch = erased.get(batch) ?? new Map<number, string>()
    for (const { line, result } of lines) ofBatch.set(line, result ?? "")
    erased.set(batch, ofBatch)
  }
  let count = 0
  for (const [batch, lines] of erased) {
    yield* eraseProblems(sql, batch, lines)
    count += lines.size
  }
  return { _tag: "Erased", count } as const
})
