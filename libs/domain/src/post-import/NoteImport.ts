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
  noChange,
  type Decision
} from "../account/AccountChange.ts"
import { formatInstant } from "../schema/Field.ts"
import { type Note, pathsOf } from "../account/Note.ts"

export interface NoteResult {
  readonly created_at: DateTime.Utc
  /** Empty for a note without one. */
  readonly body: string
  readonly status: "NOTE_CREATION_SUCCESS" | "NOTE_ALREADY_EXISTS"
}

/** What a note is known by: two notes of the same text are the same note. */
const contentOf = (note: Note): string => JSON.stringify(note.body ?? pathsOf(note))

/** Datetimes of the wire are whole seconds: what is answered must be known when it is sent again. */
const keyOf = (content: string, created_at: DateTime.Utc | undefined): string =>
  created_at === undefined ? content : `${formatInstant(created_at)} ${content}`

/** Notes by what they are known by; of those that are the same, the first. */
const makeKnown = () => {
  const times = new Map<string, DateTime.Utc>()
  const remember = (note: AccountNote): void => {
    const content = contentOf(note)
    for (const key of [content, keyOf(content, note.created_at)]) {
      if (!times.has(key)) times.set(key, note.created_at)
    }
  }
  const timeOf = (note: Note): DateTime.Utc | null =>
    times.get(keyOf(contentOf(note), note.created_at)) ?? null
  return { remember, timeOf }
}

/** What an account with these notes, in the order in which they came, shows of those looked at. */
export const noteTimesOf = (
  onAccount: ReadonlyArray<AccountNote>,
  looked: ReadonlyArray<Note>
): AccountView["noteTimes"] => {
  const known = makeKnown()
  if (looked.length > 0) onAccount.forEach(known.remember)
  return looked.map(known.timeOf)
}

/**
 * Adds the notes that are new, in the order of the request; `now` is when one without a time is
 * made. The account must have been looked at for these notes.
 */
export const decideNotes =
  (sent: ReadonlyArray<Note>, documents: FoundDocuments, now: DateTime.Utc) =>
  (account: AccountView): Result.Result<Decision<ReadonlyArray<NoteResult>>> => {
    const known = makeKnown()
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
