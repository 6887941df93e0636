/**
 * Which notes of a request are new.
 * Source: docs/contract/post-import.md#create-notes, docs/contract/post-import.md#same-notes.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import type { AccountNote } from "../src/accounts/AccountChange.ts"
import {
  accountWith,
  afterChange,
  decideNotesOn,
  instantOf,
  type ModelAccount,
  noteOf
} from "./accountModel.ts"

const now = instantOf("2026-01-15T12:00:00.789Z")
const earlier = "2025-06-01T08:30:00Z"
const other = "2025-06-01T08:30:01Z"

const added = "NOTE_CREATION_SUCCESS"
const known = "NOTE_ALREADY_EXISTS"

const pathsOf = (...paths: ReadonlyArray<string>) => ({
  document_paths: paths.map((document_path) => ({ document_path }))
})

const onAccount = (values: object, created_at = earlier): AccountNote => ({
  ...noteOf(values),
  created_at: instantOf(created_at)
})

const decided = (sent: ReadonlyArray<object>, account: ModelAccount) => {
  const notes = sent.map((values) => noteOf(values))
  const { answer, change } = Result.getOrThrow(decideNotesOn(notes, new Map(), now)(account))
  return { answer, change, account: afterChange(account, change) }
}

const statuses = (sent: ReadonlyArray<object>, there: ReadonlyArray<AccountNote> = []) =>
  decided(sent, accountWith({ notes: there })).answer.map(({ status }) => status)

/** A sent note, the note on the account, and the time of the known or the added note. */
const pairs: ReadonlyArray<[string, object, AccountNote, string]> = [
  ["the same body", { body: "a" }, onAccount({ body: "a" }), known],
  ["another body", { body: "b" }, onAccount({ body: "a" }), added],
  ["another case", { body: "A" }, onAccount({ body: "a" }), added],
  ["blanks around it", { body: " a\n" }, onAccount({ body: "a" }), known],
  ["the same time", { body: "a", created_at: earlier }, onAccount({ body: "a" }), known],
  ["another time", { body: "a", created_at: other }, onAccount({ body: "a" }), added],
  [
    "the same time elsewhere",
    { body: "a", created_at: "2025-06-01T10:30:00+02:00" },
    onAccount({ body: "a" }),
    known
  ],
  ["other documents", { body: "a", ...pathsOf("x") }, onAccount({ body: "a" }), known],
  ["another pin", { body: "a", is_pinned: true }, onAccount({ body: "a" }), known],
  ["the same documents", pathsOf("x", "y"), onAccount(pathsOf("x", "y")), known],
  ["a leading slash", pathsOf("/x", "y"), onAccount(pathsOf("x", "/y")), known],
  ["another order", pathsOf("y", "x"), onAccount(pathsOf("x", "y")), added],
  ["fewer documents", pathsOf("x"), onAccount(pathsOf("x", "y")), added],
  [
    "documents of a note with a body",
    pathsOf("x"),
    onAccount({ body: "a", ...pathsOf("x") }),
    added
  ],
  ["a body that spells paths", { body: '["x"]' }, onAccount(pathsOf("x")), added],
  [
    "the same documents at the same time",
    { ...pathsOf("x"), created_at: earlier },
    onAccount(pathsOf("x")),
    known
  ],
  [
    "the same documents at another time",
    { ...pathsOf("x"), created_at: other },
    onAccount(pathsOf("x")),
    added
  ]
]

describe("a note", () => {
  it.each(pairs)(
    "is compared with existing notes by content and time: %s",
    (_name, sent, there, status) => {
      expect(statuses([sent], [there])).toEqual([status])
    }
  )

  it("without a time is created now, and the response has that time", () => {
    const { answer, change } = decided([{ body: "a" }], accountWith())
    expect(change.notes).toEqual([{ body: "a", created_at: now }])
    expect(answer).toEqual([{ created_at: now, body: "a", status: added }])
  })

  it("is stored as it was sent", () => {
    const sent = {
      body: "a",
      ...pathsOf("/x"),
      is_pinned: true,
      unpin_at: other,
      created_at: earlier
    }
    const { change } = decided([sent], accountWith())
    expect(change.notes).toEqual([noteOf(sent)])
  })

  it("without a body is answered with an empty body", () => {
    expect(decided([pathsOf("x")], accountWith()).answer).toMatchObject([{ body: "" }])
  })

  it.each<[string, object, object, boolean]>([
    ["the same pin", { body: "a", is_pinned: true }, { body: "a", is_pinned: true }, false],
    ["no pin for false", { body: "a" }, { body: "a", is_pinned: false }, false],
    ["a pin", { body: "a", is_pinned: true }, { body: "a" }, true],
    ["another end of the pin", { body: "a", unpin_at: other }, { body: "a" }, true],
    ["a document", { body: "a", ...pathsOf("x") }, { body: "a" }, true],
    ["a leading slash", { body: "a", ...pathsOf("/x") }, { body: "a", ...pathsOf("x") }, false]
  ])("that exists fails the request only if it differs: %s", (_name, sent, there, differs) => {
    const account = accountWith({ notes: [onAccount(there)] })
    const failing = decideNotesOn([noteOf(sent)], new Map(), now, "fail")(account)
    expect(Result.isFailure(failing) ? failing.failure.errors : []).toMatchObject(
      differs ? [{ attr: "notes.0", code: "note_differs" }] : []
    )
    expect(decided([sent], account).answer).toMatchObject([{ status: known }])
  })

  it("that exists already is answered with its own time", () => {
    const there = onAccount({ body: "a" })
    const { answer, change } = decided([{ body: "a" }], accountWith({ notes: [there] }))
    expect(answer).toEqual([{ created_at: there.created_at, body: "a", status: known }])
    expect(change.notes).toEqual([])
  })

  it("is found by its time among several notes with the same body", () => {
    const there = [onAccount({ body: "a" }), onAccount({ body: "a" }, other)]
    const { answer } = decided([{ body: "a", created_at: other }], accountWith({ notes: there }))
    expect(answer).toEqual([{ created_at: instantOf(other), body: "a", status: known }])
  })
})

describe("a request to create notes", () => {
  it("adds each of several equal notes once, and answers all in request order", () => {
    const sent = [{ body: "a" }, { body: "b" }, { body: "a" }, pathsOf("x"), pathsOf("/x")]
    const { answer, change } = decided(sent, accountWith())
    expect(answer.map(({ body, status }) => [body, status])).toEqual([
      ["a", added],
      ["b", added],
      ["a", known],
      ["", added],
      ["", known]
    ])
    expect(change.notes.map(({ body }) => body)).toEqual(["a", "b", undefined])
  })

  it("is decided at the maximum number of notes, also if only their times differ", () => {
    const first = Date.parse(earlier)
    const sent = Array.from({ length: 10_000 }, (_, index) => ({
      body: "a",
      created_at: new Date(first + index * 1_000).toISOString()
    }))
    const once = decided(sent, accountWith())
    expect(once.change.notes).toHaveLength(10_000)
    expect(decided(sent, once.account).change.notes).toEqual([])
  })
})
