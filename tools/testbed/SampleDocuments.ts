/** The documents that the sample account and the sample additions name. */
import {
  domesticPayload,
  notesPayload,
  statementsPayload
} from "@data-import/domain/testing/samples"

const account = domesticPayload()

export const documentPaths: ReadonlyArray<string> = [
  ...[...account.notes, ...notesPayload().notes].flatMap((note) =>
    (note.document_paths ?? []).map(({ document_path }) => document_path)
  ),
  ...[...account.statements, ...statementsPayload().statements].map(
    ({ statement_path }) => statement_path
  )
]
