/**
 * How a manager invites people of a supplier to the board, and revokes that.
 * Source: docs/contract/board.md#invitations.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { BoardUser } from "../access/BoardUser.ts"
import {
  firstUse,
  type Invitation,
  InvitationId,
  Invitations,
  mostInvitations
} from "../access/Invitations.ts"
import { TokenSecrets } from "../access/TokenSigner.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { type Failure, NotFound } from "../requests/Failure.ts"
import { formatInstant } from "../schema/Field.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { traced } from "../support/Traced.ts"
import { acting, looking } from "./Acting.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { invalid } from "./Selection.ts"

const body = ({ at, by, expiresAt, id, person, usedAt }: Invitation) => ({
  invitation_id: id as string,
  person,
  by,
  at: formatInstant(at),
  expires_at: formatInstant(expiresAt),
  used_at: usedAt && formatInstant(usedAt)
})

export class InvitationBoard extends Context.Service<
  InvitationBoard,
  {
    /** The newest first. */
    readonly list: (
      user: BoardUser,
      supplier: string
    ) => Effect.Effect<{ readonly invitations: ReadonlyArray<ReturnType<typeof body>> }, Failure>
    /** The secret of the link, which is not stored. */
    readonly invite: (
      caller: BoardCaller,
      supplier: string,
      command: { readonly person: string }
    ) => Effect.Effect<{ readonly secret: string; readonly expires_at: string }, Failure>
    readonly revoke: (
      caller: BoardCaller,
      supplier: string,
      id: string
    ) => Effect.Effect<void, Failure>
  }
>()("@data-import/domain/InvitationBoard") {}

const idOf = Schema.decodeUnknownOption(InvitationId)

const tooMany = invalid({
  attr: "person",
  code: "invalid",
  detail: `The supplier has ${mostInvitations} invitations. Revoke some first.`
})

const make = Effect.gen(function* () {
  const deps = { auditLog: yield* AuditLog, configuration: yield* Configuration }
  const invitations = yield* Invitations
  const secrets = yield* TokenSecrets
  const on = acting(deps)
  const seen = looking(deps)

  return InvitationBoard.of({
    list: traced("InvitationBoard.list")((user, named) =>
      seen(user, named, ({ code }) =>
        Effect.gen(function* () {
          const found = yield* invitations.list(code, yield* DateTime.now)
          return { invitations: found.map(body) }
        })
      )
    ),
    invite: traced("InvitationBoard.invite")((caller, named, { person }) =>
      on(caller, named, "invite_supplier", ({ code: supplier, organisation }) =>
        Effect.gen(function* () {
          const secret = yield* secrets.make
          const at = yield* DateTime.now
          const expiresAt = DateTime.addDuration(at, firstUse)
          const id = InvitationId.make(crypto.randomUUID())
          const isInvited = yield* invitations.create({
            invitation: { id, supplier, person, at, expiresAt },
            hash: yield* secrets.hash(secret),
            caller: callerFor(caller, organisation)
          })
          return isInvited ? { secret, expires_at: formatInstant(expiresAt) } : yield* tooMany
        })
      )
    ),
    revoke: traced("InvitationBoard.revoke")((caller, named, invitation) =>
      on(caller, named, "revoke_invitation", ({ code: supplier, organisation }) =>
        Effect.gen(function* () {
          const id = idOf(invitation)
          if (Option.isNone(id)) return yield* new NotFound()
          const isRevoked = yield* invitations.revoke({
            id: id.value,
            supplier,
            caller: callerFor(caller, organisation),
            at: yield* DateTime.now
          })
          if (!isRevoked) return yield* new NotFound()
        })
      )
    )
  })
})

/** Needs the storage ports and the secrets. */
export const layer = Layer.effect(InvitationBoard, make)
