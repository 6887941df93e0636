/**
 * The one place where tenancy is checked: a caller has the suppliers of its own organisation. A
 * supplier of another organisation looks like one that does not exist.
 */
import { Effect, Option } from "effect"
import type { Caller } from "../organisation/Organisation.ts"
import type { Supplier } from "../organisation/Supplier.ts"
import type { Configuration } from "../ports/Configuration.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"

/** The supplier of this code, if it is the caller's. */
export type FindOwnSupplier = (
  caller: Caller,
  code: Option.Option<Supplier["code"]>
) => Effect.Effect<Option.Option<Supplier>, StorageUnavailable>

export const findOwnSupplier =
  (configuration: Configuration["Service"]): FindOwnSupplier =>
  (caller, code) =>
    Option.match(code, {
      onNone: () => Effect.succeedNone,
      onSome: (named) =>
        Effect.map(
          configuration.supplier(named),
          Option.filter(({ organisation }) => organisation === caller.organisation)
        )
    })
