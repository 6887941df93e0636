import { describe, expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { formatInstant } from "@data-import/domain/schema/Field"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { domesticPayload, notesPayload } from "@data-import/domain/testing/samples"
import { errorsOf, putDocument } from "@data-import/server/testing/RunningService"
import { addNotes, bareAccountOf, importedAccount, service } from "./postImportService.ts"

const created = "NOTE_CREATION_SUCCESS"
const existed = "NOTE_ALREADY_EXISTS"
const failed = "request_failed_validation"
const posted = "data_import.import_process.post_import.completed-v1"

const earlier = "2025-06-01T08:30:00Z"
const later = "2025-06-01T08:30:01Z"

interface Line {
  readonly created_at: string
  readonly body: string
  readonly status: string
}

const linesOf = ({ json }: { readonly json: unknown }) => json as ReadonlyArray<Line>
const statusesOf = (reply: { readonly json: unknown }) => linesOf(reply).map((it) => it.status)

const pathsOf = (...names: ReadonlyArray<string>) => ({
  document_paths: names.map((document_path) => ({ document_path }))
})

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
    const repeated: ReadonlyArray<readonly [string, object, object, string]> = [
      [
        "the same text at the same time",
        { body: "a" },
        { body: "a", created_at: earlier },
        existed
      ],
      ["the same text, no time", { body: "a" }, { body: "a" }, existed],
      ["the same text at another time", { body: "a" }, { body: "a", created_at: later }, created],
      ["blanks around the text", { body: "a" }, { body: "\n a " }, existed],
      ["the same text, pinned", { body: "a" }, { body: "a", is_pinned: true }, existed],
      ["the text in capitals", { body: "a" }, { body: "A" }, created],
      ["the text composed otherwise", { body: "å" }, { body: "a\u030a" }, created],
      [
        "the same instant elsewhere",
        { body: "a" },
        { body: "a", created_at: "2025-06-01T10:30:00.999+02:00" },
        existed
      ],
      ["the same documents", pathsOf("a", "b"), pathsOf("/a", "b"), existed],
      [
        "the same documents at another time",
        pathsOf("a"),
        { ...pathsOf("a"), created_at: later },
        created
      ],
      ["the documents in another order", pathsOf("a", "b"), pathsOf("b", "a"), created],
      ["a text more", pathsOf("a"), { body: "a", ...pathsOf("a") }, created]
    ]
    it.effect.each(repeated)(
      "with %s is judged by text, documents and time",
      ([, there, sent, status]) =>
        Effect.gen(function* () {
          const account = yield* importedAccount(bareAccountOf)
          expect(statusesOf(yield* addNotes(account, [{ ...there, created_at: earlier }]))).toEqual(
            [created]
          )
          expect(statusesOf(yield* addNotes(account, [sent]))).toEqual([status])
          const { notes } = yield* descriptionOf(account.number)
          expect(notes).toHaveLength(status === created ? 2 : 1)
        })
    )

    it.effect.each(repeated)(
      "with %s is judged alike inside one request",
      ([, there, sent, status]) =>
        Effect.gen(function* () {
          const account = yield* importedAccount(bareAccountOf)
          const reply = yield* addNotes(account, [{ ...there, created_at: earlier }, sent])
          expect(statusesOf(reply)).toEqual([created, status])
        })
    )

    it.effect("that was imported with the account exists already", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { notes } = domesticPayload()
        const reply = yield* addNotes(account, [{ body: notes[1]?.body }, ...notes])
        expect(statusesOf(reply)).toEqual([existed, existed, existed])
        expect(linesOf(reply)[0]?.created_at).toBe(notes[1]?.created_at)
      })
    )

    it.effect("without a time is identified by the time that was answered", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const [line] = linesOf(yield* addNotes(account, [{ body: "a" }]))
        const again = yield* addNotes(account, [{ body: "a", created_at: line?.created_at }])
        expect(again.json).toEqual([{ ...line, status: existed }])
      })
    )

    it.effect.each([
      ["2025-06-01T10:30:00+02:00", earlier],
      ["2025-06-01T08:30:00.999Z", earlier],
      [" 2025-06-01T08:30:00-00:00 ", earlier],
      ["2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"],
      ["2099-01-01T00:00:00Z", "2099-01-01T00:00:00Z"],
      ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"]
    ])("of %s is answered as of %s", ([sent, answered]) =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const reply = yield* addNotes(account, [{ body: "a", created_at: sent }])
        expect(reply.json).toEqual([{ created_at: answered, body: "a", status: created }])
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

  describe("the documents of a note", () => {
    it.effect("must exist in the store if that is checked, and its answer is kept", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf, { documentCheck: true })
        yield* putDocument(account.tenant, "notes/there.pdf")
        const reply = yield* addNotes(account, [
          { body: "a", ...pathsOf("notes/there.pdf", "notes/away.pdf") },
          pathsOf("notes")
        ])
        const code = "path_does_not_exist_in_file_store"
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual([
          failed,
          `notes.0.document_paths.1.document_path: ${code}`,
          `notes.1.document_paths.0.document_path: ${code}`
        ])
        expect((yield* descriptionOf(account.number)).notes).toEqual([])

        expect((yield* addNotes(account, [pathsOf("/notes/there.pdf")])).status).toBe(201)
        expect((yield* descriptionOf(account.number)).notes).toMatchObject([
          {
            documents: [
              { document_path: "/notes/there.pdf", size: "content of notes/there.pdf".length }
            ]
          }
        ])
      })
    )
  })

  describe("an invalid request", () => {
    const wrong: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
      [[{}], ["notes.0: note_body_or_document_path_not_found"]],
      [[{ document_paths: [] }], ["notes.0: note_body_or_document_path_not_found"]],
      [[{ created_at: earlier }], ["notes.0: note_body_or_document_path_not_found"]],
      [[{ body: "" }], ["notes.0.body: blank"]],
      [[{ body: " \n" }], ["notes.0.body: blank"]],
      [[{ body: null }], ["notes.0.body: null"]],
      [[{ body: 1 }], ["notes.0.body: invalid_type"]],
      [[{ body: "a\0" }], ["notes.0.body: invalid"]],
      [[{ body: "\ud800" }], ["notes.0.body: invalid"]],
      [[{ body: "a", created_at: "2025-06-01" }], ["notes.0.created_at: invalid_datetime"]],
      [
        [{ body: "a", created_at: "2025-06-01T08:30:00" }],
        ["notes.0.created_at: invalid_datetime"]
      ],
      [
        [{ body: "a", created_at: "2025-02-29T08:30:00Z" }],
        ["notes.0.created_at: invalid_datetime"]
      ],
      [[{ body: "a", created_at: null }], ["notes.0.created_at: null"]],
      [[{ body: "a", is_pinned: "true" }], ["notes.0.is_pinned: invalid_type"]],
      [
        [{ body: "a", created_at: later, unpin_at: earlier }],
        ["notes.0: note_unpin_at_earlier_than_creation_date"]
      ],
      [[{ body: "a", unpin_at: earlier }], ["notes.0: note_unpin_at_earlier_than_creation_date"]],
      [[{ body: "a", unpin_at: "soon" }], ["notes.0.unpin_at: invalid_datetime"]],
      [[{ document_paths: ["a"] }], ["notes.0.document_paths.0: not_an_object"]],
      [[{ document_paths: [{}] }], ["notes.0.document_paths.0.document_path: required"]],
      [
        [{ body: "a", document_path: "a", pinned: true }],
        ["notes.0.document_path: unknown_field", "notes.0.pinned: unknown_field"]
      ],
      [
        [{ body: "a" }, null, "b"],
        ["notes.1: null", "notes.2: not_an_object"]
      ]
    ]
    it.effect("is reported at its place, and nothing is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        for (const [notes, places] of wrong) {
          const reply = yield* addNotes(account, notes)
          expect(reply.status).toBe(400)
          expect(errorsOf(reply)).toEqual([failed, ...places])
          expect((yield* recordOf(account.key)).audit.at(-1)).toBe(`create_notes ${failed}`)
        }
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
