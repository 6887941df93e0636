import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { formatInstant } from "@data-import/domain/schema/Field"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { domesticPayload, notesPayload } from "@data-import/domain/testing/samples"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { addNotes, bareAccountOf, importedAccount, service } from "./postImportService.ts"

const created = "NOTE_CREATION_SUCCESS"
const existed = "NOTE_ALREADY_EXISTS"
const failed = "request_failed_validation"
const posted = "data_import.import_process.post_import.completed-v1"

interface Line {
  readonly created_at: string
  readonly body: string
  readonly status: string
}

const linesOf = ({ json }: { readonly json: unknown }) => json as ReadonlyArray<Line>
const statusesOf = (reply: { readonly json: unknown }) => linesOf(reply).map((it) => it.status)

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

    it.effect("sent again adds nothing, and is answered with the times that are stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const { notes } = notesPayload()
        const first = yield* addNotes(account, notes)
        const stored = yield* descriptionOf(account.number)
        const again = yield* addNotes(account, notes)
        expect(again.status).toBe(201)
        expect(again.json).toEqual(linesOf(first).map((line) => ({ ...line, status: existed })))
        expect(yield* descriptionOf(account.number)).toEqual(stored)
        const { audit, events } = yield* recordOf(account.key)
        expect(audit.slice(-2)).toEqual(["create_notes created", "create_notes unchanged"])
        expect(events.filter((event) => event === posted)).toHaveLength(1)
      })
    )
  })

  describe("a note", () => {
    it.effect("that was imported with the account exists already", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { notes } = domesticPayload()
        const reply = yield* addNotes(account, [{ body: notes[1]?.body }, ...notes])
        expect(statusesOf(reply)).toEqual([existed, existed, existed])
        expect(linesOf(reply)[0]?.created_at).toBe(notes[1]?.created_at)
      })
    )

    it.effect("keeps any text unchanged, up to 10,000 characters", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const bodies = [
          "<b>&amp;'\"\\",
          "Ünïcödé \u{1F600}",
          "a\r\n\tb",
          "\u{1F600}".repeat(10_000)
        ]
        const reply = yield* addNotes(
          account,
          bodies.map((body) => ({ body }))
        )
        expect(linesOf(reply).map((line) => line.body)).toEqual(bodies)
        const { notes } = yield* descriptionOf(account.number)
        expect(notes.map((note) => note["body"])).toEqual(bodies)
        const longer = yield* addNotes(account, [{ body: "x".repeat(10_001) }])
        expect(errorsOf(longer)).toEqual([failed, "notes.0.body: max_length"])
      })
    )
  })

  describe("an invalid request", () => {
    it.effect("is reported at its place, and nothing is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const reply = yield* addNotes(account, [{ body: "a" }, null, { body: "b", pinned: true }])
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual([failed, "notes.1: null", "notes.2.pinned: unknown_field"])
        expect((yield* recordOf(account.key)).audit.at(-1)).toBe(`create_notes ${failed}`)
        expect((yield* descriptionOf(account.number)).notes).toEqual([])
      })
    )
  })

  describe("a request", () => {
    it.effect("may hold at most 10,000 notes", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const notes = Array.from({ length: 10_001 }, (_, index) => ({ body: `note ${index}` }))
        expect(errorsOf(yield* addNotes(account, notes))).toEqual([failed, "notes: max_length"])
        const full = notes.slice(0, 10_000)
        const reply = yield* addNotes(account, full)
        expect(reply.status).toBe(201)
        expect(statusesOf(reply).filter((status) => status === created)).toHaveLength(10_000)
        const again = yield* addNotes(account, full)
        expect(statusesOf(again).filter((status) => status === existed)).toHaveLength(10_000)
        expect((yield* descriptionOf(account.number)).notes).toHaveLength(10_000)
      })
    )
  })
})
