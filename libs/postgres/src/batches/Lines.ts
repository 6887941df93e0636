/**
 * Receiving the lines of a batch: appended in chunks, compared if they were received before, and
 * linked when the batch starts, so that a line waits for the earlier ones of its account number.
 */
import { Effect, Schema } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import type { BatchLimits } from "@data-import/domain/batches/BatchLimits"
import type { ReceivedLine } from "@data-import/domain/batches/BatchLine"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { Appending, Batches } from "@data-import/domain/batches/Batches"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"
import * as BatchRow from "./BatchRow.ts"

type Sql = Database["Service"]["sql"]
type Append = Parameters<Batches["Service"]["append"]>[0]
type Line = ReceivedLine

interface Chunk {
  readonly firstLine: number
  readonly lines: ReadonlyArray<Line>
}

/** The limits of a chunk, which one worker takes at once. */
export const chunkLimits = { lines: 100, bytes: 1024 * 1024 }

const sizeOf = ({ bytes }: Line): number => bytes?.length ?? 0

const chunksOf = (lines: ReadonlyArray<Line>, from: number): ReadonlyArray<Chunk> => {
  const chunks: Array<{ firstLine: number; lines: Array<Line>; bytes: number }> = []
  for (const [index, line] of lines.entries()) {
    const last = chunks.at(-1)
    const size = sizeOf(line)
    if (
      last !== undefined &&
      last.lines.length < chunkLimits.lines &&
      last.bytes + size <= chunkLimits.bytes
    ) {
      last.lines.push(line)
      last.bytes += size
    } else {
      chunks.push({ firstLine: from + index, lines: [line], bytes: size })
    }
  }
  return chunks
}

const uploadRows = rowsOf(
  Schema.Struct({
    uploads: Schema.Int,
    bytes: Schema.BigInt,
    ofOrganisation: Schema.BigInt,
    stored: Schema.BigInt,
    isKeyValid: Schema.Boolean
  })
)

const knownRows = rowsOf(
  Schema.Struct({ line: Schema.Int, bytes: Schema.NullOr(Schema.Uint8Array) })
)

const isSame = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null || other === null ? one === other : Buffer.compare(one, other) === 0

/** The number of the first line that was received before with other bytes. */
const firstDifference = Effect.fnUntraced(function* (sql: Sql, { from, id, lines }: Append) {
  const known = yield* knownRows(sql`
    select line, bytes
    from (
      select first_line + place::integer - 1 as line, bytes
      from batch_chunks, unnest(lines) with ordinality as of_line(bytes, place)
      where batch = ${id} and first_line < ${from + lines.length}
        and first_line + line_count > ${from}
    ) as known
    where line between ${from} and ${from + lines.length - 1}
    order by line`)
  const different = known.find(({ bytes, line }) => {
    const sent = lines[line - from]
    return sent !== undefined && !isSame(bytes, sent.bytes)
  })
  return different?.line ?? null
})

/**
 * The lines travel as one value, which the driver sends as it is. In an array each byte of a line
 * would be written in hexadecimal, and parsed again.
 */
const insertChunks = (sql: Sql, id: Batch.BatchId, chunks: ReadonlyArray<Chunk>) => {
  let end = 0
  const rows = chunks.flatMap(({ firstLine, lines }) =>
    lines.map((line, position) => {
      const start = end + 1
      end += sizeOf(line)
      return { ...line, firstLine, position, start }
    })
  )
  const bytes = Buffer.concat(rows.flatMap((row) => row.bytes ?? []))
  return sql`
    insert into batch_chunks (batch, first_line, line_count, lines, numbers, sizes, tries, outcomes,
      results, unfinished)
    select ${id}::uuid, first_line, count(*),
      array_agg(substring(${bytes}::bytea from start for length) order by position),
      array_agg(number order by position), array_agg(length order by position),
      array_fill(0::smallint, array[count(*)::integer]),
      array_fill(null::text, array[count(*)::integer]),
      array_fill(null::text, array[count(*)::integer]), count(*)
    from ${recordSet(sql, "sent", rows, {
      first_line: ["integer", ({ firstLine }) => firstLine],
      position: ["integer", ({ position }) => position],
      start: ["integer", ({ start }) => start],
      length: ["integer", ({ bytes }) => bytes?.length ?? null],
      number: ["text", ({ externalAccountNumber }) => externalAccountNumber]
    })} group by first_line`
}

/** The bytes of all unfinished batches of an organisation. */
export const bytesOf = (sql: Sql, organisation: OrganisationName) => sql`(
  select coalesce(sum(bytes), 0)::bigint from batches
  where organisation = ${organisation} and finished_at is null)`

/** What all its batches store whose lines are not deleted, and the large answers that are kept. */
export const storedBytesOf = (sql: Sql, organisation: OrganisationName) => sql`(
  select coalesce(sum(stored_bytes), 0)::bigint + kept_answer_bytes(${organisation})
  from batches where organisation = ${organisation} and lines_deleted_through < received)`

const exceeded = (
  limits: BatchLimits,
  batch: Batch.Batch,
  {
    bytes,
    ofOrganisation,
    stored
  }: Readonly<Record<"bytes" | "ofOrganisation" | "stored", bigint>>,
  added: ReadonlyArray<Line>
): "lines" | "stored" | null => {
  const more = added.reduce((sum, line) => sum + sizeOf(line), 0)
  const exceeds =
    batch.counts.received + added.length > limits.lines ||
    Number(bytes) + more > limits.bytes ||
    Number(ofOrganisation) + more > limits.bytesOfOrganisation
  if (exceeds) return "lines"
  return Number(stored) + more > limits.storedBytes ? "stored" : null
}

/** In a transaction. The lock on the batch keeps other uploads out until its end. */
export const append = Effect.fnUntraced(function* (sql: Sql, limits: BatchLimits, command: Append) {
  const { apiKey, at, from, id, lines, upload } = command
  const batch = yield* BatchRow.locked(sql, id)
  const [state] = yield* uploadRows(sql`
    select uploads, bytes, ${bytesOf(sql, batch.organisation)} as "ofOrganisation",
      ${storedBytesOf(sql, batch.organisation)} as stored,
      ${BatchRow.isKeyValid(sql, sql`${apiKey}`, at)} as "isKeyValid"
    from batches where id = ${id}`)
  const { received } = batch.counts
  if (state?.isKeyValid === false) return { _tag: "KeyInvalid" } satisfies Appending
  if (state?.uploads !== upload) return { _tag: "Superseded" } satisfies Appending
  if (Batch.stateOf(batch) !== "OPEN") return { _tag: "NotOpen", batch } satisfies Appending
  if (from > received + 1) return { _tag: "Gap", received } satisfies Appending
  const line = from <= received ? yield* firstDifference(sql, command) : null
  if (line !== null) return { _tag: "Differs", line } satisfies Appending
  const added = lines.slice(received + 1 - from)
  const of = added.length === 0 ? null : exceeded(limits, batch, state, added)
  if (of !== null) return { _tag: "LimitExceeded", of } satisfies Appending
  const appended = yield* Effect.fromResult(Batch.receive(batch, added.length)).pipe(Effect.orDie)
  if (added.length > 0) {
    yield* insertChunks(sql, id, chunksOf(added, received + 1))
    const more = added.reduce((sum, each) => sum + sizeOf(each), 0)
    yield* BatchRow.store(sql, appended, more)
    yield* sql`update batches set bytes = bytes + ${more} where id = ${id}`
  }
  return { _tag: "Appended", received: appended.counts.received } satisfies Appending
})

/** The lines of a chunk, also of one that refers to those of another batch. Null once deleted. */
export const linesIn = (sql: Sql) => sql`coalesce(lines, lines_held(batch, held_lines))`

/** Each chunk waits for the last earlier one that has a line of one of its account numbers. */
export const link = (sql: Sql, id: Batch.BatchId) => sql`
  with lines as (
    select first_line, unnest(numbers) as number from batch_chunks where batch = ${id}
  ),
  linked as (
    select first_line as later,
      lag(first_line) over (partition by number order by first_line) as earlier
    from (select distinct number, first_line from lines where number is not null) as of_number
  ),
  stored as (
    insert into batch_links (batch, earlier, later)
    select distinct ${id}::uuid, earlier, later from linked where earlier is not null
    returning later
  )
  update batch_chunks set blockers = counted.blockers
  from (select later, count(*)::integer as blockers from stored group by later) as counted
  where batch = ${id} and first_line = later`
