/**
 * Which notes are equal: the same body, or for notes without a body the same document paths, and
 * the same time of creation if one was sent.
 * Source: docs/contract/post-import.md#same-notes.
 */
import type { DateTime } from "effect"
import type { AccountNote, AccountView } from "./AccountChange.ts"
import { formatInstant } from "../schema/Field.ts"
import { type Note, pathsOf } from "./Note.ts"

/** The content by which notes are compared. */
const contentOf = (note: Note): string => JSON.stringify(note.body ?? pathsOf(note))

/** Rounds down to seconds like the wire, so that a note is recognised by the time in a response. */
const keyOf = (content: string, created_at: DateTime.Utc | undefined): string =>
  created_at === undefined ? content : `${formatInstant(created_at)} ${content}`

/** Notes by content and time. Of equal notes, the first one is kept. */
export const makeKnownNotes = () => {
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

/**
 * For each requested note, the time of creation of the equal one among `notes`, which are in the
 * order in which they were added.
 */
export const noteTimesOf = (
  onAccount: ReadonlyArray<AccountNote>,
  asked: ReadonlyArray<Note>
): AccountView["noteTimes"] => {
  const known = makeKnownNotes()
  if (asked.length > 0) onAccount.forEach(known.remember)
  return asked.map(known.timeOf)
}
