/**
 * A user of the migration board: a person, whereas a `Caller` is a program with an API key. A
 * viewer may look, a manager may also act, both only for their organisations. A supplier looks at
 * some suppliers, of which less is shown.
 * Source: docs/contract/board.md#roles.
 */
import { Schema } from "effect"
import { OrganisationName } from "../suppliers/Organisation.ts"
import { type Supplier, SupplierCode } from "../suppliers/Supplier.ts"

/** The strongest last. */
export const boardRoles = ["supplier", "viewer", "manager"] as const
export const BoardRole = Schema.Literals(boardRoles)
export type BoardRole = typeof BoardRole.Type

export const BoardUser = Schema.Struct({
  /** The id of the user at the identity provider. */
  subject: Schema.String,
  /** The name in the audit log, after `board:`. */
  name: Schema.String,
  role: BoardRole,
  /** Null for all organisations. Empty for the role `supplier`, which has no whole organisation. */
  organisations: Schema.NullOr(Schema.Array(OrganisationName)),
  /** All that the role `supplier` may see; null for the other roles. */
  suppliers: Schema.NullOr(Schema.Array(SupplierCode))
})
export type BoardUser = typeof BoardUser.Type

/** Whether the user may see what belongs to this supplier. */
export const maySee = (
  { organisations, suppliers }: Pick<BoardUser, "organisations" | "suppliers">,
  { code, organisation }: Pick<Supplier, "code" | "organisation">
): boolean =>
  suppliers === null
    ? organisations === null || organisations.includes(organisation)
    : suppliers.includes(code)

/**
 * Whether the user is of the supplier: then nothing is told of people of the operator and of what
 * they write.
 */
export const isOfSupplier = ({ suppliers }: Pick<BoardUser, "suppliers">): boolean =>
  suppliers !== null
