/**
 * Finds the notes of a request that an account already has. Each is looked up in an index, by the
 * account and a digest of its content, so that the cost does not grow with the notes of the
 * account. The digest is SHA-256, so equal digests mean equal contents. Account and digest are one
 * value in the indexes. Otherwise PostgreSQL could use the primary key, and read all notes of an
 * account whose size its statistics do not know yet.
 */
import { DateTime, Effect, Schema } from "effect"
import { type Note, pathsOf } from "@data-import/domain/accounts/Note"
import type { AccountView } from "@data-import/domain/accounts/AccountChange"
import { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import type { Steps } from "@data-import/domain/support/Steps"
import { rowsOf } from "../connection/Database.ts"
import { instant, integer, optional, text } from "../tables/Column.ts"
import { noteColumns } from "../tables/AccountItemTables.ts"
import { schemaOf, withoutNulls } from "../tables/Table.ts"
import * as Table from "../tables/Table.ts"

/** The text that is hashed for a note without a body. */
export const documentTextOf = (note: Note): string | undefined =>
  note.body === undefined ? JSON.stringify(pathsOf(note)) : undefined

/** SQL for a text as bytes; a backslash is doubled, as the input format of `bytea` requires. */
const bytesOf = (text: string): string => String.raw`replace(${text}, '\', '\\')::bytea`

const bodyDigest = `sha256(${bytesOf("body")})`

/** SQL for the digest of such a text. It begins with a zero byte, which no body has. */
export const documentDigest = String.raw`sha256('\x00'::bytea || ${bytesOf("documents")})`

/** SQL for the lookup key of a stored note, as in its indexes. */
const storedKey = `(int8send(account_id) || coalesce(document_digest, ${bodyDigest}))`

/** The columns by which a note is looked up. */
const lookedUp = {
  position: integer,
  body: optional(text),
  documents: optional(text),
  created_at: optional(instant)
}

/** The notes as the JSON that `foundNotes` looks up. */
export const lookedUpNotes = (notes: ReadonlyArray<Note>): Steps<string> =>
  Table.jsonOf(
    lookedUp,
    notes.values().map((note, position) => ({
      position,
      body: note.body,
      documents: documentTextOf(note),
      created_at: note.created_at && DateTime.startOf(note.created_at, "second")
    }))
  )

const { created_at, is_pinned, unpin_at } = noteColumns

/** What is read of a note besides its body, which is that of the one that was sent. */
const readColumns = { created_at, is_pinned, unpin_at }

const readNames = Object.keys(readColumns).join(", ")
const heldNames = Object.keys(readColumns)
  .map((column) => `held.${column}`)
  .join(", ")

const foundRows = rowsOf(
  Schema.Struct({
    position: Schema.Int,
    sequence: Schema.Int,
    note: schemaOf(readColumns),
    document_paths: Schema.NullOr(Schema.Array(Schema.Struct({ document_path: DocumentPath })))
  })
)

const isInSecond = (stored: string): string =>
  `${stored}.created_at >= sought.created_at
    and ${stored}.created_at < sought.created_at + interval '1 second'`

/**
 * SQL that finds notes on the account of the SQL id: one value for `knownNotesOf`, null if none is
 * found. `sent` is SQL for the JSON of `lookedUpNotes`. If several notes match within one second,
 * it finds any of them, since a response has no fractions of a second.
 */
export const foundNotes = (id: string, sent: string): string => {
  const isSame = `${storedKey} = int8send(${id}) || digest`
  return `(
    with sought as materialized (
      select *, coalesce(${documentDigest}, ${bodyDigest}) as digest
      from json_to_recordset(${sent}) as note(${Table.typesOf(lookedUp)})
    ), found as (
      select position, sequence, ${heldNames} from sought cross join lateral (
        select sequence, ${readNames} from notes where ${isSame}
        order by sequence limit 1) as held
      where sought.created_at is null
      union all
      select position, sequence, ${heldNames} from sought cross join lateral (
        select sequence, ${readNames} from notes where ${isSame} and ${isInSecond("notes")}
        order by created_at limit 1) as held
      where sought.created_at is not null
    )
    select json_agg(json_build_object(
      'position', position, 'sequence', sequence, 'note', ${withoutNulls(readColumns)},
      'document_paths', (
        select json_agg(json_build_object('document_path', document_path)
          order by documented.position)
        from note_documents documented
        where documented.account_id = ${id} and documented.note_sequence = found.sequence)))
    from found)`
}

/** For each note, the first one on the account that it names; null if there is none. */
export const knownNotesOf = (notes: ReadonlyArray<Note>, value: ReadonlyArray<unknown> | null) =>
  Effect.map(foundRows(Effect.succeed(value ?? [])), (found): AccountView["knownNotes"] => {
    const first = new Map<number, (typeof found)[number]>()
    for (const row of found) {
      const { position, sequence } = row
      if (sequence < (first.get(position)?.sequence ?? Infinity)) first.set(position, row)
    }
    return notes.map(({ body }, position) => {
      const known = first.get(position)
      if (known === undefined) return null
      const { document_paths, note } = known
      return {
        ...note,
        ...(body !== undefined && { body }),
        ...(document_paths !== null && { document_paths })
      }
    })
  })
