/**
 * Finds the notes of a request that an account already has. Each is looked up in an index, by the
 * account and a digest of its content, so that the cost does not grow with the notes of the
 * account. The digest is SHA-256, so equal digests mean equal contents. Account and digest are one
 * value in the indexes. Otherwise PostgreSQL could use the primary key, and read all notes of an
 * account whose size its statistics do not know yet.
 */
import { DateTime, Effect, Schema } from "effect"
import { type Note, pathsOf } from "@data-import/domain/account/Note"
import { inTimeSlices } from "@data-import/domain/support/Steps"
import { type Database, rowsOf } from "../connection/Database.ts"
import { instant, integer, optional, text } from "../tables/Column.ts"
import * as Table from "../tables/Table.ts"

type Sql = Database["Service"]["sql"]

/** The text of which the digest of a note without a body is made. */
export const documentTextOf = (note: Note): string | undefined =>
  note.body === undefined ? JSON.stringify(pathsOf(note)) : undefined

/** SQL for a text as bytes; a backslash is doubled, as the input of `bytea` wants it. */
const bytesOf = (text: string): string => String.raw`replace(${text}, '\', '\\')::bytea`

const bodyDigest = `sha256(${bytesOf("body")})`

/** SQL for the digest of such a text. It begins with a zero byte, which no body has. */
export const documentDigest = String.raw`sha256('\x00'::bytea || ${bytesOf("documents")})`

/** SQL for what a stored note is found by; null for one without a body that has no digest. */
const storedKey = `(int8send(account_id) || coalesce(document_digest, ${bodyDigest}))`

const withoutDigest = "body is null and document_digest is null"

/** The indexes by which notes are found, by name: what they are on. */
export const noteIndexes: Readonly<Record<string, string>> = {
  notes_by_content: `notes (${storedKey}, sequence)`,
  notes_by_content_and_time: `notes (${storedKey}, created_at)`,
  notes_without_digest: `notes (account_id) where ${withoutDigest}`
}

/** What a note is looked up by. */
const lookedUp = {
  position: integer,
  body: optional(text),
  documents: optional(text),
  created_at: optional(instant)
}

const foundRows = rowsOf(
  Schema.Struct({
    position: Schema.Int,
    sequence: Schema.Int,
    created_at: Schema.DateTimeUtcFromDate
  })
)

const isInSecond = (stored: string): string =>
  `${stored}.created_at >= sent.created_at
    and ${stored}.created_at < sent.created_at + interval '1 second'`

/** Notes of earlier releases have no digest. An account has few of them, and gets no more. */
const ofEarlierReleases = (sql: Sql, id: bigint) => sql`
  union all
  select position, sequence, held.created_at from sent join (
    select sequence, created_at, array(
      select regexp_replace(document_path, '^/', '') from note_documents
      where note_documents.account_id = ${id} and note_sequence = sequence
      order by note_documents.position) as paths
    from notes where account_id = ${id} and ${sql.literal(withoutDigest)}
  ) as held on array(select json_array_elements_text(documents::json)) = paths
  where body is null and (sent.created_at is null or ${sql.literal(isInSecond("held"))})`

/**
 * For each of the notes: when the first one on the account that is the same was created, null where
 * there is none. Of several in one second it is any, since an answer has no parts of a second.
 */
export const readNoteTimes = Effect.fnUntraced(function* (
  sql: Sql,
  id: bigint,
  notes: ReadonlyArray<Note>
) {
  const rows = notes.values().map((note, position) => ({
    position,
    body: note.body,
    documents: documentTextOf(note),
    created_at: note.created_at && DateTime.startOf(note.created_at, "second")
  }))
  const sent = yield* inTimeSlices(() => Table.records(sql, lookedUp, rows))
  const isSame = sql`${sql.literal(storedKey)} = int8send(${id}::bigint) || digest`
  const found = yield* foundRows(sql`
    with sent as materialized (
      select *, coalesce(${sql.literal(documentDigest)}, ${sql.literal(bodyDigest)}) as digest
      from (${sent}) as sent
    )
    select position, sequence, found.created_at from sent cross join lateral (
      select sequence, created_at from notes where ${isSame} order by sequence limit 1) as found
    where sent.created_at is null
    union all
    select position, sequence, found.created_at from sent cross join lateral (
      select sequence, created_at from notes
      where ${isSame} and ${sql.literal(isInSecond("notes"))}
      order by created_at limit 1) as found
    where sent.created_at is not null
    ${notes.some(({ body }) => body === undefined) ? ofEarlierReleases(sql, id) : sql``}`)
  const first = new Map<number, (typeof found)[number]>()
  for (const row of found) {
    const { position, sequence } = row
    if (sequence < (first.get(position)?.sequence ?? Infinity)) first.set(position, row)
  }
  return notes.map((_, position) => first.get(position)?.created_at ?? null)
})
