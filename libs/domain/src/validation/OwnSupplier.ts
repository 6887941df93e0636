/**
 * The tenancy check: a caller only sees suppliers of its own organisation. A supplier of another
 * organisation is reported as unknown.
 */
import { Effect, Option } from "effect"
import type { Caller } from "../organisation/Organisation.ts"
import type { Supplier } from "../organisation/Supplier.ts"
import type { Configuration } from "../ports/Configuration.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"

/** The supplier with this code, if it belongs to the caller's organisation. */
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
