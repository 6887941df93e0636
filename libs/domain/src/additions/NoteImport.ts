/**
 * Decides which notes of a request are new to the account. A note exists already if one has the
 * same body (without a body: the same document paths) and the same time of creation, if one was
 * sent. It is never changed: other content is ignored, or refused if the request asks for that.
 * Source: docs/contract/post-import.md#create-notes, docs/contract/post-import.md#same-notes.
 */
import type { FoundDocuments } from "../accounts/StoredDocument.ts"
import { type DateTime, Result } from "effect"
import {
  type AccountNote,
  type AccountView,
  noChange,
  type Decision
} from "../accounts/AccountChange.ts"
import { isSameNote, makeKnownNotes } from "../accounts/KnownNotes.ts"
import { validationFailed, type ValidationFailed } from "../requests/Failure.ts"
import type { OnDifference } from "../schema/OnDifference.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import type { Note } from "../accounts/Note.ts"

export interface NoteResult {
  readonly created_at: DateTime.Utc
  /** Empty for a note without a body. */
  readonly body: string
  readonly status: "NOTE_CREATION_SUCCESS" | "NOTE_ALREADY_EXISTS"
  /** True if the note that was sent has another pin, `unpin_at` or documents. */
  readonly differs?: true
}

const differing = (index: number): FieldError => ({
  attr: `notes.${index}`,
  code: "note_differs",
  detail: "The account has this note with another pin, unpin_at or documents."
})

/**
 * Adds the new notes in the order of the request. A note without a time gets `now`. The account
 * must have been read with these notes as the lookup.
 */
export const decideNotes =
  (
    sent: ReadonlyArray<Note>,
    documents: FoundDocuments,
    { now, onDifference }: { readonly now: DateTime.Utc; readonly onDifference: OnDifference }
  ) =>
  (account: AccountView): Result.Result<Decision<ReadonlyArray<NoteResult>>, ValidationFailed> => {
    const known = makeKnownNotes()
    const notes: Array<AccountNote> = []
    const errors: Array<FieldError> = []
    const answer = sent.map((note, index): NoteResult => {
      const body = note.body ?? ""
      const there = account.knownNotes[index] ?? known.find(note)
      if (there !== null) {
        const differs = !isSameNote(note, there)
        if (differs) errors.push(differing(index))
        const { created_at } = there
        return { created_at, body, status: "NOTE_ALREADY_EXISTS", ...(differs && { differs }) }
      }
      const added = { ...note, created_at: note.created_at ?? now }
      known.remember(added)
      notes.push(added)
      return { created_at: added.created_at, body, status: "NOTE_CREATION_SUCCESS" }
    })
    return onDifference === "fail" && errors.length > 0
      ? Result.fail(validationFailed("request_failed_validation", errors))
      : Result.succeed({ change: { ...noChange(account), notes, documents }, answer })
  }
