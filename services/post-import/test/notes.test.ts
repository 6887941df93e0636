import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { formatInstant } from "@data-import/domain/schema/Field"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { notesPayload } from "@data-import/domain/testing/samples"
import { addNotes, bareAccountOf, importedAccount, service } from "./postImportService.ts"

const created = "NOTE_CREATION_SUCCESS"

interface Line {
  readonly created_at: string
  readonly body: string
  readonly status: string
}

const linesOf = ({ json }: { readonly json: unknown }) => json as ReadonlyArray<Line>

layer(service, { excludeTestServices: true })("notes over HTTP", (it) => {
  describe("the sample", () => {
    it.effect("is created with 201, each note answered with exactly three members", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const { notes } = notesPayload()
        const before = formatInstant(yield* DateTime.now)
        const reply = yield* addNotes(account, notes)
        const after = formatInstant(yield* DateTime.now)
        expect(reply.status).toBe(201)
        const now = linesOf(reply)[2]?.created_at ?? ""
        expect(before <= now && now <= after, `${before} ${now} ${after}`).toBe(true)
        expect(reply.text).toBe(
          JSON.stringify([
            { created_at: notes[0]?.created_at, body: notes[0]?.body, status: created },
            { created_at: notes[1]?.created_at, body: "", status: created },
            { created_at: now, body: notes[2]?.body, status: created }
          ])
        )
        const plain = { documents: [], is_pinned: false, unpin_at: null }
        const unknown = { size: null, etag: null, checksum: null }
        expect((yield* descriptionOf(account.number)).notes).toEqual([
          { ...plain, ...notes[0] },
          {
            ...plain,
            body: null,
            created_at: notes[1]?.created_at,
            documents: notes[1]?.document_paths?.map((path) => ({ ...path, ...unknown }))
          },
          { ...plain, body: notes[2]?.body, created_at: now }
        ])
      })
    )
  })
})
