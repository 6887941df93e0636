/**
 * Which note on an account a note that is sent names: one with the same body, or for notes without
 * a body the same document paths, and the same time of creation if one was sent.
 * Source: docs/contract/post-import.md#same-notes.
 */
import type { DateTime } from "effect"
import type { AccountNote, AccountView } from "./AccountChange.ts"
import { formatInstant } from "../schema/Field.ts"
import { type Note, pathsOf } from "./Note.ts"

/** The content that names a note. */
const contentOf = (note: Note): string => JSON.stringify(note.body ?? pathsOf(note))

/** Rounds down to seconds like the wire, so that a note is recognised by the time in a response. */
const keyOf = (content: string, created_at: DateTime.Utc | undefined): string =>
  created_at === undefined ? content : `${formatInstant(created_at)} ${content}`

/** Notes by content and time. Of several with the same name, the first one is kept. */
export const makeKnownNotes = () => {
  const known = new Map<string, AccountNote>()
  const remember = (note: AccountNote): void => {
    const content = contentOf(note)
    for (const key of [content, keyOf(content, note.created_at)]) {
      if (!known.has(key)) known.set(key, note)
    }
  }
  const find = (note: Note): AccountNote | null =>
    known.get(keyOf(contentOf(note), note.created_at)) ?? null
  return { remember, find }
}

/** For each requested note, the one it names among `notes`, which are in the order of addition. */
export const knownNotesOf = (
  onAccount: ReadonlyArray<AccountNote>,
  asked: ReadonlyArray<Note>
): AccountView["knownNotes"] => {
  const known = makeKnownNotes()
  if (asked.length > 0) onAccount.forEach(known.remember)
  return asked.map(known.find)
}

/** Beyond the content that names it: the pin, its end, and the documents in order. */
const restOf = (note: Note): string =>
  JSON.stringify([
    note.is_pinned ?? false,
    note.unpin_at === undefined ? null : formatInstant(note.unpin_at),
    pathsOf(note)
  ])

/** Whether the note on the account that `sent` names has all of its content. */
export const isSameNote = (sent: Note, there: AccountNote): boolean =>
  restOf(sent) === restOf(there)
