/**
 * Which notes of a request are new to the account. A note is there already if one has the same
 * body, or for a note without a body the same document paths, and the same time of creation where
 * one was sent. Source: specification, "Create notes"; decisions, "Notes" and "Comparison".
 */
import { type DateTime, Result } from "effect"
import {
  type AccountNote,
  type AccountView,
  type FoundDocuments,
  type Looked,
  noChange,
  type Decision
} from "./AccountChange.ts"
import { relativePath } from "./Document.ts"
import { formatInstant } from "./Field.ts"
import type { Note } from "./Note.ts"

export interface NoteResult {
  readonly created_at: DateTime.Utc
  /** Empty for a note without one. */
  readonly body: string
  readonly status: "NOTE_CREATION_SUCCESS" | "NOTE_ALREADY_EXISTS"
}

/** What has to be read of the account to decide on these notes. */
export const notesToLookAt = (notes: ReadonlyArray<Note>): Looked => ({
  noteBodies: [...new Set(notes.flatMap(({ body }) => body ?? []))],
  notesWithoutBody: notes.some(({ body }) => body === undefined)
})

/** What a note is known by: two notes of the same text are the same note. */
const contentOf = ({ body, document_paths }: Note): string =>
  JSON.stringify(
    body === undefined
      ? (document_paths ?? []).map(({ document_path }) => relativePath(document_path))
      : body
  )

/** Datetimes of the wire are whole seconds: what is answered must be known when it is sent again. */
const keyOf = (content: string, created_at: DateTime.Utc | undefined): string =>
  created_at === undefined ? content : `${formatInstant(created_at)} ${content}`

/**
 * Adds the notes that are new, in the order of the request; `now` is when one without a time is
 * made.
 */
export const decideNotes =
  (sent: ReadonlyArray<Note>, documents: FoundDocuments, now: DateTime.Utc) =>
  (account: AccountView): Result.Result<Decision<ReadonlyArray<NoteResult>>> => {
    const known = new Map<string, AccountNote>()
    const remember = (note: AccountNote) => {
      const content = contentOf(note)
      for (const key of [content, keyOf(content, note.created_at)]) {
        if (!known.has(key)) known.set(key, note)
      }
    }
    account.notes.forEach(remember)

    const notes: Array<AccountNote> = []
    const answer = sent.map((note): NoteResult => {
      const body = note.body ?? ""
      const there = known.get(keyOf(contentOf(note), note.created_at))
      if (there !== undefined) {
        return { created_at: there.created_at, body, status: "NOTE_ALREADY_EXISTS" }
      }
      const added = { ...note, created_at: note.created_at ?? now }
      remember(added)
      notes.push(added)
      return { created_at: added.created_at, body, status: "NOTE_CREATION_SUCCESS" }
    })
    return Result.succeed({ change: { ...noChange(account), notes, documents }, answer })
  }
