/**
 * A user of the migration board: a person, whereas a `Caller` is a program with an API key. A
 * viewer may look, a manager may also act, both only for their organisations.
 * Source: docs/contract/board.md#roles.
 */
import { Schema } from "effect"
import { OrganisationName } from "../suppliers/Organisation.ts"

export const BoardRole = Schema.Literals(["viewer", "manager"])
export type BoardRole = typeof BoardRole.Type

export const BoardUser = Schema.Struct({
  /** The id of the user at the identity provider. */
  subject: Schema.String,
  /** The name in the audit log, after `board:`. */
  name: Schema.String,
  role: BoardRole,
  /** Null for all organisations. */
  organisations: Schema.NullOr(Schema.Array(OrganisationName))
})
export type BoardUser = typeof BoardUser.Type

/** Whether the user may see what belongs to this organisation. */
export const maySee = (
  { organisations }: Pick<BoardUser, "organisations">,
  organisation: OrganisationName
): boolean => organisations === null || organisations.includes(organisation)
