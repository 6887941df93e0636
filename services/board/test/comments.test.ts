/** Comments on a migration, a wave and an account, and the reasons of pauses and sign-offs. */
import { expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { AuditBoard } from "@data-import/domain/board/AuditBoard"
import { CommentBoard } from "@data-import/domain/board/CommentBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { noonPlus } from "@data-import/domain/testing/freshNames"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { begun, boardLayer, entriesOf, fail, stage, summaryOf } from "./boardPrograms.ts"

type Commenting = Parameters<CommentBoard["Service"]["add"]>[2]

const saying = (text: string, some: Partial<Commenting> = {}): Commenting => ({
  comment_id: crypto.randomUUID(),
  about: "comment",
  cohort: null,
  external_account_number: null,
  text,
  ...some
})

layer(boardLayer, { excludeTestServices: true })("comments", (it) => {
  it.effect("are listed by migration, wave and account, and told in the audit log", () =>
    Effect.gen(function* () {
      const { add, list } = yield* CommentBoard
      const { caller, code, foreign, mine, user } = yield* begun
      yield* stage(mine, ["a"], "wave-1")
      yield* fail(mine, "a")
      const onAll = saying("Call them on Monday")
      yield* add(caller, code, onAll)
      yield* add(caller, code, onAll)
      yield* add(caller, code, saying("Needs dates", { cohort: "wave-1" }))
      yield* add(caller, code, saying("Asked", { external_account_number: "a" }))
      const sent = saying("Ben at ACME", { about: "corrections_sent", cohort: "wave-1" })
      const open = [
        { what: "FAILED", count: 1 },
        { what: "LINES_REFUSED", count: 0 }
      ]
      expect(yield* add(caller, code, sent)).toMatchObject({ by: "board:mia", open })
      const textsOf = Effect.fnUntraced(function* (query: object) {
        const page = yield* list(user, code, { limit: 100, ...query })
        return page.comments.map(({ text }) => text)
      })
      const all = ["Ben at ACME", "Asked", "Needs dates", "Call them on Monday"]
      expect(yield* textsOf({})).toEqual(all)
      expect(yield* textsOf({ cohort: "wave-1" })).toEqual(["Ben at ACME", "Needs dates"])
      expect(yield* textsOf({ external_account_number: "a" })).toEqual(["Asked"])
      expect(yield* textsOf({ about: "corrections_sent" })).toEqual(["Ben at ACME"])
      const first = yield* list(user, code, { limit: 3 })
      expect(yield* textsOf({ before: first.next_before })).toEqual(all.slice(3))

      const wrongs = [
        [{ ...onAll, text: "Another" }, "comment_id"],
        [saying("x", { comment_id: "1" }), "comment_id"],
        [saying("x", { external_account_number: "a", cohort: "b" }), "external_account_number"]
      ] as const
      for (const [command, attr] of wrongs) {
        const refused = yield* Effect.flip(add(caller, code, command))
        expect(refused).toMatchObject({ errors: [{ attr }] })
      }
      const unknown = saying("x", { external_account_number: "none" })
      for (const [of, command] of [
        [code, unknown],
        [foreign.supplier.code, onAll]
      ] as const) {
        expect(yield* Effect.flip(add(caller, of, command))).toMatchObject({ _tag: "NotFound" })
      }
      const { entries } = yield* (yield* AuditBoard).list(user, { action: "comment", limit: 10 })
      const told = entries.flatMap(({ comment }) => (comment === null ? [] : [comment.text]))
      expect(told).toEqual(all)
      expect(entries.find(({ comment }) => comment?.text === "Ben at ACME")?.outcome).toBe(
        `corrections_sent ${sent.comment_id} with 1 FAILED, 0 LINES_REFUSED`
      )
    })
  )

  it.effect("on an account lose their text with its erasure, and none is added afterwards", () =>
    Effect.gen(function* () {
      const { add, list } = yield* CommentBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a"])
      const onAccount = { external_account_number: "a" }
      yield* add(caller, code, saying("Mrs Example called", onAccount))
      yield* (yield* Erasures).erase({ key: mine.keyOf("a"), at: noonPlus(1) })
      const { comments } = yield* list(user, code, { limit: 10 })
      expect(comments).toMatchObject([{ text: null, by: "board:mia" }])
      const late = yield* Effect.flip(add(caller, code, saying("x", onAccount)))
      expect(late).toMatchObject({ _tag: "NotFound" })
    })
  )
})

layer(boardLayer, { excludeTestServices: true })("the reason of a status", (it) => {
  it.effect("is asked for while something is open, and stays in sight until the next one", () =>
    Effect.gen(function* () {
      const { setStatus } = yield* MigrationActions
      const { list } = yield* MigrationBoard
      const comments = yield* CommentBoard
      const { caller, code, mine, user } = yield* begun
      yield* stage(mine, ["a"])
      const reasonOf = Effect.map(list(user), ({ migrations }) => migrations[0]?.reason)
      const pause = { status: "Paused", reason: null } as const
      expect(yield* Effect.flip(setStatus(caller, code, pause))).toMatchObject({
        errors: [{ attr: "reason", code: "required" }]
      })
      yield* setStatus(caller, code, { ...pause, reason: "Waiting for dates." })
      yield* setStatus(caller, code, { ...pause, reason: "Sent twice" })
      const because = "It is paused, with 1 account open: Waiting for dates (mia, 1 Jan)."
      expect(yield* reasonOf).toBe(because)
      expect((yield* comments.list(user, code, { limit: 10 })).comments).toMatchObject([
        { about: "pause", text: "Waiting for dates.", open: [{ what: "PENDING", count: 1 }] }
      ])
      yield* setStatus(caller, code, { status: "Ongoing", reason: null })
      const configuration = yield* Configuration
      yield* configuration.changeSupplierStatus(code, () => Result.succeed("Paused"))
      expect(yield* reasonOf).toBe("It is paused, with 1 account open.")
      yield* setStatus(caller, code, { ...pause, reason: "The operator paused it" })
      expect(yield* reasonOf).toContain("open: The operator paused it (mia")
      expect(yield* entriesOf(caller.requestId)).toEqual([
        "board:mia change_supplier_status request_failed_validation",
        "board:mia change_supplier_status paused",
        expect.stringMatching(/^board:mia comment pause [-\da-f]{36} with 1 PENDING$/),
        "board:mia change_supplier_status unchanged",
        "board:mia change_supplier_status ongoing",
        "board:mia change_supplier_status unchanged",
        expect.stringMatching(/^board:mia comment pause /)
      ])
    })
  )

  it.effect("of a sign-off is kept with what was accepted, and nothing left open is done", () =>
    Effect.gen(function* () {
      const { signOff, signOffState } = yield* MigrationActions
      const { detail } = yield* MigrationBoard
      const { add } = yield* CommentBoard
      const { caller, code, mine, user } = yield* begun
      const typed = { import_supplier: code, accept_open: true, certificate_id: null }
      expect((yield* signOffState(caller, code)).open).toEqual([
        { what: "NOTHING_STAGED", count: 1 }
      ])
      yield* stage(mine, ["a"])
      const silent = yield* Effect.flip(signOff(caller, code, { ...typed, reason: null }))
      expect(silent).toMatchObject({ errors: [{ attr: "reason", code: "required" }] })
      yield* signOff(caller, code, { ...typed, reason: "Not needed" })
      yield* add(caller, code, saying("They have said so", { cohort: "wave-1" }))
      yield* add(caller, code, saying("Mrs Example agrees", { external_account_number: "a" }))
      const state = yield* signOffState(caller, code)
      expect(state.signed).toMatchObject({
        reason: "Not needed",
        accepted: [{ what: "PENDING", count: 1 }]
      })
      const found = yield* detail(user, code)
      expect(found.migration).toMatchObject({
        condition: "unfinished",
        reason: "It is signed off, with 1 account left open: Not needed (mia, 1 Jan)."
      })
      const text = yield* summaryOf(user, code)
      expect(text).toContain("Accepted,PENDING,1")
      expect(text).toContain("It is signed off, with 1 account left open: Not needed (mia, 1 Jan).")
      expect(text).toContain('"2026-01-01T12:00:00Z, mia, on wave-1",They have said so')
      expect(text).not.toContain("Mrs Example")
      expect(yield* entriesOf(caller.requestId)).toContain(
        "board:mia sign_off signed without_certificate accepting 1 PENDING"
      )
    })
  )
})
