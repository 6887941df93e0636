/**
 * When two notes are the same note: the same body, or for notes without a body the same document
 * paths, and the same time of creation where one was sent.
 * Source: docs/contract/post-import.md#same-notes.
 */
import type { DateTime } from "effect"
import type { AccountNote, AccountView } from "./AccountChange.ts"
import { formatInstant } from "../schema/Field.ts"
import { type Note, pathsOf } from "./Note.ts"

/** What a note is known by: two notes of the same text are the same note. */
const contentOf = (note: Note): string => JSON.stringify(note.body ?? pathsOf(note))

/**
 * Datetimes of the wire are whole seconds: what is answered must be known when it is sent again.
 */
const keyOf = (content: string, created_at: DateTime.Utc | undefined): string =>
  created_at === undefined ? content : `${formatInstant(created_at)} ${content}`

/** Notes by what they are known by; of those that are the same, the first. */
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
 * What an account with these notes, in the order in which they came, shows of the notes asked for.
 */
export const noteTimesOf = (
  onAccount: ReadonlyArray<AccountNote>,
  asked: ReadonlyArray<Note>
): AccountView["noteTimes"] => {
  const known = makeKnownNotes()
  if (asked.length > 0) onAccount.forEach(known.remember)
  return asked.map(known.timeOf)
}
