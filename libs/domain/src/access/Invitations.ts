/**
 * Storage of invitations: links that sign people of a supplier in, with the role `supplier`. The
 * secrets of links are stored as hashes.
 * Source: docs/contract/board.md#invitations.
 */
import { Context, type DateTime, Duration, type Effect, Schema } from "effect"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { formed } from "../schema/Field.ts"
import type { Caller, RequestId } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { BoardSession } from "./BoardSessions.ts"
import type { BoardUser } from "./BoardUser.ts"

export const InvitationId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type

const longestPerson = 50

/** Who is invited. It becomes a name in the audit log, so it has no invisible characters. */
export const Invited = formed(
  (text) => Array.from(text).length <= longestPerson && !/\p{C}/u.test(text),
  {
    code: "invalid",
    detail: `Must have 1 to ${longestPerson} visible characters.`,
    jsonSchema: { minLength: 1, maxLength: longestPerson }
  }
)

/** Until when a link must be used for the first time. */
export const firstUse = Duration.days(7)

/** Until when it works once it was used. */
export const longestUse = Duration.days(30)

/** The most that a supplier has at the same time. */
export const mostInvitations = 100

export interface Invitation {
  readonly id: InvitationId
  readonly supplier: SupplierCode
  readonly person: string
  /** As `who` of the audit log. */
  readonly by: string
  readonly at: DateTime.Utc
  readonly expiresAt: DateTime.Utc
  readonly usedAt: DateTime.Utc | null
}

export const subjectOf = (id: InvitationId): string => `invitation:${id}`

/** The mark keeps the name of an invited person apart from those of users of the board. */
export const invitedUser = ({
  id,
  person,
  supplier
}: Pick<Invitation, "id" | "person" | "supplier">): BoardUser => ({
  subject: subjectOf(id),
  name: `${person} (invited)`,
  role: "supplier",
  organisations: [],
  suppliers: [supplier]
})

export class Invitations extends Context.Service<
  Invitations,
  {
    /** False if the supplier has `mostInvitations`. Audit: `invite_supplier`. */
    readonly create: (command: {
      readonly invitation: Omit<Invitation, "by" | "usedAt">
      readonly hash: string
      readonly caller: Caller
    }) => Effect.Effect<boolean, StorageUnavailable>
    /** Those that have not expired, the newest first. */
    readonly list: (
      supplier: SupplierCode,
      at: DateTime.Utc
    ) => Effect.Effect<ReadonlyArray<Invitation>, StorageUnavailable>
    /**
     * Deletes it and ends its session. False if the supplier has none with this id that has not
     * expired. Audit: `revoke_invitation`.
     */
    readonly revoke: (command: {
      readonly id: InvitationId
      readonly supplier: SupplierCode
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>
    /**
     * Begins a session of the invited user in place of the one before. False if there is no such
     * invitation, or it has expired. Audit: `sign_in`.
     */
    readonly use: (command: {
      /** Of the secret in the link. */
      readonly hash: string
      readonly at: DateTime.Utc
      readonly requestId: RequestId
      readonly sessionHash: string
      readonly sessionOf: (user: BoardUser) => BoardSession
    }) => Effect.Effect<boolean, StorageUnavailable>
  }
>()("@data-import/domain/ports/Invitations") {}
