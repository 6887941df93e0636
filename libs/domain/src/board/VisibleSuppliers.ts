/**
 * Which migrations a user of the board may see: the live suppliers of the organisations that the
 * user was given, or those that were named to the user. Every other supplier is reported as
 * unknown.
 * Source: docs/contract/board.md#roles.
 */
import { Effect, Option, Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import { type BoardUser, maySee } from "../access/BoardUser.ts"
import { codeIn, isLive, type Supplier } from "../suppliers/Supplier.ts"
import type { Configuration } from "../suppliers/Configuration.ts"
import { NotFound } from "../requests/Failure.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

/** In code point order. */
export const visibleSuppliers = (configuration: Configuration["Service"], user: BoardUser) =>
  Effect.map(configuration.suppliers, (suppliers) =>
    suppliers.filter((supplier) => isLive(supplier) && maySee(user, supplier))
  )

/** The supplier with this code, which comes from the path. */
export const visibleSupplier = Effect.fnUntraced(function* (
  configuration: Configuration["Service"],
  user: BoardUser,
  named: string
) {
  const code = supplierCode(named)
  if (Option.isNone(code)) return yield* new NotFound()
  const found = yield* configuration.supplier(codeIn("live", code.value))
  return yield* Option.match(
    Option.filter(found, (supplier) => maySee(user, supplier)),
    {
      onNone: () => Effect.fail(new NotFound()),
      onSome: (supplier: Supplier) =>
        Effect.as(
          RequestFacts.note({
            organisation: supplier.organisation,
            import_supplier: code.value
          }),
          supplier
        )
    }
  )
})
