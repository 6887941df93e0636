/**
 * Decides which notes of a request are new to the account. A note exists already if one has the
 * same body (without a body: the same document paths) and the same time of creation, if one was
 * sent.
 * Source: docs/contract/post-import.md#create-notes, docs/contract/post-import.md#same-notes.
 */
import type { FoundDocuments } from "../account/StoredDocument.ts"
import { type DateTime, Result } from "effect"
import {
  type AccountNote,
  type AccountView,
  noChange,
  type Decision
} from "../account/AccountChange.ts"
import { makeKnownNotes } from "../account/KnownNotes.ts"
import type { Note } from "../account/Note.ts"

export interface NoteResult {
  readonly created_at: DateTime.Utc
  /** Empty for a note without a body. */
  readonly body: string
  readonly status: "NOTE_CREATION_SUCCESS" | "NOTE_ALREADY_EXISTS"
}

/**
 * Adds the new notes in the order of the request. A note without a time gets `now`. The account
 * must have been read with these notes as the lookup.
 */
export const decideNotes =
  (sent: ReadonlyArray<Note>, documents: FoundDocuments, now: DateTime.Utc) =>
  (account: AccountView): Result.Result<Decision<ReadonlyArray<NoteResult>>> => {
    const known = makeKnownNotes()
    const notes: Array<AccountNote> = []
    const answer = sent.map((note, index): NoteResult => {
      const body = note.body ?? ""
      const there = account.noteTimes[index] ?? known.timeOf(note)
      if (there !== null) return { created_at: there, body, status: "NOTE_ALREADY_EXISTS" }
      const added = { ...note, created_at: note.created_at ?? now }
      known.remember(added)
      notes.push(added)
      return { created_at: added.created_at, body, status: "NOTE_CREATION_SUCCESS" }
    })
    return Result.succeed({ change: { ...noChange(account), notes, documents }, answer })
  }
