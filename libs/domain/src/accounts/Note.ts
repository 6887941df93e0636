/**
 * Notes on an account, in the account payload and in the notes import.
 * Source: docs/contract/account.md#note.
 */
import { DateTime, Schema } from "effect"
import { DocumentPath, documentExists, relativePath } from "../schema/DocumentPath.ts"
import { formatInstant, Instant, list, nonBlankText } from "../schema/Field.ts"
import type { Rule, RuleSet } from "../schema/Rules.ts"

export const NoteDocument = Schema.Struct({ document_path: DocumentPath })

/** `created_at` defaults to the time of the import. At `unpin_at` the note is no longer pinned. */
export const Note = Schema.Struct({
  body: Schema.optionalKey(nonBlankText(10_000)),
  document_paths: Schema.optionalKey(list(NoteDocument)),
  created_at: Schema.optionalKey(Instant),
  is_pinned: Schema.optionalKey(Schema.Boolean),
  unpin_at: Schema.optionalKey(Instant)
})
export type Note = typeof Note.Type

/** The paths of the note's documents in order, without a leading slash. */
export const pathsOf = ({ document_paths = [] }: Note): ReadonlyArray<string> =>
  document_paths.map(({ document_path }) => relativePath(document_path))

const hasContent: Rule<Note> = (note, _facts, report) => {
  if (note.body === undefined && (note.document_paths ?? []).length === 0) {
    report("note_body_or_document_path_not_found", "A note needs a body or document paths.")
  }
}

const isUnpinnedLater: Rule<Note> = (note, { now }, report) => {
  if (note.unpin_at === undefined) return
  const created = note.created_at ?? now
  if (DateTime.isLessThan(note.unpin_at, created)) {
    report("note_unpin_at_earlier_than_creation_date", {
      detail: "unpin_at is before the note's creation.",
      parameters: { limit: formatInstant(created) }
    })
  }
}

export const noteRules: RuleSet<Note> = {
  rules: [hasContent, isUnpinnedLater],
  members: { document_paths: { rules: [documentExists("document_path")] } }
}
