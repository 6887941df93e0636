import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { BoardSessions } from "@data-import/domain/access/BoardSessions"
import {
  firstUse,
  InvitationId,
  Invitations,
  longestUse,
  mostInvitations,
  subjectOf
} from "@data-import/domain/access/Invitations"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { freshHash, freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import * as TestDatabase from "../testing/TestDatabase.ts"

const after = (duration: typeof firstUse, millis = 0) =>
  DateTime.add(DateTime.addDuration(noon, duration), { milliseconds: millis })

/** An invitation of a new supplier at noon. */
const invited = Effect.gen(function* () {
  const { caller, supplier } = yield* freshSupplier
  const { create, use } = yield* Invitations
  const id = InvitationId.make(crypto.randomUUID())
  const hash = freshHash()
  const invitation = {
    id,
    supplier: supplier.code,
    person: "ann",
    at: noon,
    expiresAt: after(firstUse)
  }
  yield* create({ invitation, hash, caller })
  const useAt = Effect.fnUntraced(function* (at: DateTime.Utc) {
    const sessionHash = freshHash()
    const requestId = RequestId.make(crypto.randomUUID())
    const times = { createdAt: at, lastSeenAt: at, prolongedUntil: null }
    const isUsed = yield* use({
      hash,
      at,
      requestId,
      sessionHash,
      sessionOf: (user) => ({ user, csrfToken: "t", ...times })
    })
    return { isUsed, sessionHash, requestId }
  })
  return { caller, create, hash, id, invitation, supplier, useAt }
})

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "Invitations",
  (it) => {
    it.effect("are used first within a week, and then for 30 days", () =>
      Effect.gen(function* () {
        const { list } = yield* Invitations
        const [late, used] = [yield* invited, yield* invited]
        expect((yield* late.useAt(after(firstUse))).isUsed).toBe(false)
        expect((yield* used.useAt(after(firstUse, -1))).isUsed).toBe(true)
        expect(yield* list(used.supplier.code, noon)).toMatchObject([
          { expiresAt: after(longestUse), usedAt: after(firstUse, -1) }
        ])
        expect((yield* used.useAt(after(longestUse, -1))).isUsed).toBe(true)
        expect((yield* used.useAt(after(longestUse))).isUsed).toBe(false)
        expect(yield* list(used.supplier.code, after(longestUse))).toEqual([])
      })
    )

    it.effect("leave one session, of one supplier, also when used at the same time", () =>
      Effect.gen(function* () {
        const { id, supplier, useAt } = yield* invited
        const { find, list } = yield* BoardSessions
        const uses = yield* Effect.replicateEffect(useAt(noon), 8, { concurrency: "unbounded" })
        expect(uses.every(({ isUsed }) => isUsed)).toBe(true)
        const found = yield* Effect.forEach(uses, ({ sessionHash }) => find(sessionHash))
        expect(found.flatMap(Option.toArray)).toMatchObject([
          { user: { role: "supplier", organisations: [], suppliers: [supplier.code] } }
        ])
        const listed = yield* list
        expect(listed.filter(({ user }) => user.subject === subjectOf(id)).length).toBe(1)
        const { ofRequest } = yield* AuditLog
        const [{ requestId } = { requestId: RequestId.make("none") }] = uses
        expect(yield* ofRequest(requestId)).toMatchObject([
          {
            action: "sign_in",
            organisation: supplier.organisation,
            import_supplier: supplier.code,
            apiKey: "board:ann (invited)"
          }
        ])
      })
    )

    it.effect("are revoked by their own supplier alone, on record", () =>
      Effect.gen(function* () {
        const { caller, id, supplier, useAt } = yield* invited
        const other = yield* invited
        const { revoke } = yield* Invitations
        const { find } = yield* BoardSessions
        const { sessionHash } = yield* useAt(noon)
        const requestId = RequestId.make(crypto.randomUUID())
        const command = { id, supplier: supplier.code, caller: { ...caller, requestId }, at: noon }
        expect(yield* revoke({ ...command, supplier: other.supplier.code })).toBe(false)
        expect(Option.isSome(yield* find(sessionHash))).toBe(true)
        expect([yield* revoke(command), yield* revoke(command)]).toEqual([true, false])
        expect(Option.isSome(yield* find(sessionHash))).toBe(false)
        expect((yield* useAt(noon)).isUsed).toBe(false)
        expect(yield* (yield* AuditLog).ofRequest(requestId)).toMatchObject([
          { action: "revoke_invitation", outcome: "revoked ann", import_supplier: supplier.code }
        ])
      })
    )

    it.effect("are limited for a supplier, and end with all sessions", () =>
      Effect.gen(function* () {
        const { caller, create, invitation, useAt } = yield* invited
        const more = () =>
          create({
            invitation: { ...invitation, id: InvitationId.make(crypto.randomUUID()) },
            hash: freshHash(),
            caller
          })
        const made = yield* Effect.replicateEffect(Effect.suspend(more), mostInvitations)
        expect(made.filter((isMade) => !isMade).length).toBe(1)
        yield* (yield* BoardSessions).endAll("all")
        expect((yield* useAt(noon)).isUsed).toBe(false)
      })
    )
  }
)
