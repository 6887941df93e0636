/** The certificates on the board: who issues them, who sees the sums, and why there is none. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { CertificateBoard } from "@data-import/domain/board/CertificateBoard"
import { certificateDocument } from "@data-import/domain/board/CertificateDocument"
import { begun, boardLayer, complete, entriesOf, issueAll, stage, userOf } from "./boardPrograms.ts"

const world = Effect.gen(function* () {
  const made = yield* begun
  const { caller, code, mine } = made
  // Publishes the keys, without which nobody issues.
  yield* issueAll()
  const { issue, list } = yield* CertificateBoard
  const requested = (cohort: string | null, certificate_id: string = crypto.randomUUID()) =>
    issue(caller, code, { certificate_id, cohort })
  const viewer = userOf([mine.supplier.organisation], "viewer")
  return { ...made, list, requested, viewer }
})

const notFound = { _tag: "NotFound" }

layer(boardLayer, { excludeTestServices: true })("the certificates on the board", (it) => {
  it.effect("are issued once for each id that a page chooses, and are in the audit log", () =>
    Effect.gen(function* () {
      const { caller, code, list, mine, requested, user } = yield* world
      yield* stage(mine, ["a"], "wave-1")
      yield* complete(mine, "a")
      const id = crypto.randomUUID()
      expect(yield* requested(null, id)).toMatchObject({ status: "RUNNING", certificate: null })
      expect(yield* requested(null, id)).toMatchObject({ certificate_id: id })
      for (const refused of [requested("wave-1", id), requested(null, "x"), requested("")]) {
        expect(yield* Effect.flip(refused)).toMatchObject({ _tag: "ValidationFailed" })
      }
      yield* issueAll()
      const { certificates } = yield* list(user, code, { limit: 10 })
      expect(certificates).toMatchObject([
        {
          certificate_id: id,
          status: "ISSUED",
          failed: null,
          issued_by: { role: "manager", id: "subject-1" },
          counts: { tree_size: 1 }
        }
      ])
      expect(yield* entriesOf(caller.requestId)).toEqual([
        "board:mia issue_certificate created",
        "board:mia issue_certificate request_failed_validation"
      ])
    })
  )

  it.effect("have sums, roots and records for managers only", () =>
    Effect.gen(function* () {
      const { find, signed } = yield* CertificateBoard
      const { code, mine, requested, user, viewer } = yield* world
      yield* stage(mine, ["a"], "wave-1")
      yield* complete(mine, "a")
      const { certificate_id: id } = yield* requested("wave-1")
      expect(yield* Effect.flip(signed(user, code, id))).toMatchObject(notFound)
      yield* issueAll()
      const shown = yield* find(viewer, code, id)
      expect(shown).toMatchObject({ cohort: "wave-1", counts: { tree_size: 1 } })
      expect(Object.keys(shown)).not.toContain("certificate")
      const { certificate } = yield* find(user, code, id)
      const printed = JSON.stringify(certificateDocument(yield* signed(user, code, id)))
      expect(printed).toContain(certificate?.root.replaceAll(/.{4}(?=.)/g, "$& "))
    })
  )

  it.effect("are listed newest first, by cohort, in pages", () =>
    Effect.gen(function* () {
      const { code, list, requested, user } = yield* world
      const ids: Array<string> = []
      for (const cohort of [null, "wave-1", null])
        ids.unshift((yield* requested(cohort)).certificate_id)
      const listed = (query: object) =>
        Effect.map(list(user, code, { limit: 10, ...query }), ({ certificates, next_before }) => [
          certificates.map(({ certificate_id }) => certificate_id),
          next_before
        ])
      expect(yield* listed({})).toEqual([ids, null])
      expect(yield* listed({ limit: 2 })).toEqual([ids.slice(0, 2), ids[1]])
      expect(yield* listed({ limit: 2, before: ids[1] })).toEqual([ids.slice(2), null])
      expect(yield* listed({ cohort: "wave-1" })).toEqual([[ids[1]], null])
      expect(yield* listed({ before: "no-uuid" })).toEqual([[], null])
    })
  )

  it.effect("say why they have failed, and name no e-mail address", () =>
    Effect.gen(function* () {
      const { find, issue } = yield* CertificateBoard
      const { caller, code, user } = yield* world
      const mail = { ...caller, user: { ...user, subject: "mia@example.com" } }
      const { certificate_id: id } = yield* issue(mail, code, {
        certificate_id: crypto.randomUUID(),
        cohort: null
      })
      yield* issueAll(() => Effect.die(new Error("no key")))
      const found = yield* find(user, code, id)
      expect(found).toMatchObject({
        status: "FAILED",
        failed: { why: "The record could not be signed." }
      })
      expect(JSON.stringify(found)).not.toContain("@")
    })
  )

  it.effect("of suppliers that the user may not see are unknown", () =>
    Effect.gen(function* () {
      const { find, issue, list, signed } = yield* CertificateBoard
      const { caller, code, foreign, requested, user } = yield* world
      const { certificate_id: id } = yield* requested(null)
      const other = foreign.supplier.code
      const hidden = userOf([foreign.supplier.organisation])
      const attempts = [
        list(user, other, { limit: 1 }),
        issue(caller, other, { certificate_id: crypto.randomUUID(), cohort: null }),
        find(hidden, code, id),
        find(hidden, other, id),
        find(user, code, crypto.randomUUID()),
        signed(hidden, other, id)
      ]
      for (const attempt of attempts) {
        expect(yield* Effect.flip<unknown, object, never>(attempt)).toMatchObject(notFound)
      }
    })
  )
})
