/**
 * The tenancy check: a caller only sees suppliers of its own organisation. A supplier of another
 * organisation is reported as unknown.
 */
import { Effect, Option } from "effect"
import type { Caller } from "./Organisation.ts"
import { codeIn, type Supplier, type SupplierCode, type WireCode, wireCode } from "./Supplier.ts"
import type { Configuration } from "./Configuration.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"

/** The supplier with this code on the wire, if it belongs to the caller's organisation. */
export type FindOwnSupplier = (
  caller: Caller,
  code: Option.Option<WireCode>
) => Effect.Effect<Option.Option<Supplier>, StorageUnavailable>

/** The supplier with this code, if it belongs to the caller's organisation. */
export const ownSupplier =
  (configuration: Configuration["Service"]) => (caller: Caller, code: SupplierCode) =>
    configuration.supplier(code).pipe(
      Effect.map(Option.filter(({ organisation }) => organisation === caller.organisation)),
      Effect.tap((found) =>
        Option.isSome(found) ? RequestFacts.note({ import_supplier: wireCode(code) }) : Effect.void
      )
    )

/**
 * An organisation has suppliers of one mode only, so at most one of the two suppliers with a code
 * is the caller's own. The answer takes as long for another organisation's supplier as for none.
 */
export const findOwnSupplier = (configuration: Configuration["Service"]): FindOwnSupplier => {
  const own = ownSupplier(configuration)
  return Effect.fnUntraced(function* (caller, code) {
    if (Option.isNone(code)) return Option.none()
    const live = yield* own(caller, codeIn("live", code.value))
    return Option.isSome(live) ? live : yield* own(caller, codeIn("test", code.value))
  })
}
