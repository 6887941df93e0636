/**
 * The parts of a supplier's configuration that validation uses. Read-only. A supplier of another
 * organisation is reported as unknown.
 * Source: docs/contract/queries.md#configuration.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import type { TimeZone } from "./BusinessDay.ts"
import type { Caller } from "./Organisation.ts"
import type { SupplierCode } from "./Supplier.ts"
import { Configuration } from "./Configuration.ts"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import type { CodeLists } from "../schema/CodeLists.ts"
import { findOwnSupplier } from "./OwnSupplier.ts"
import { traced } from "../support/Traced.ts"

/** The configuration that the rules use to validate accounts of the supplier. */
export interface SupplierConfiguration {
  readonly supplier: SupplierCode
  readonly timeZone: TimeZone
  readonly codeLists: CodeLists
}

export class ConfigurationQuery extends Context.Service<
  ConfigurationQuery,
  {
    /** `supplier` comes from the path. An invalid one is reported as not found. */
    readonly read: (
      caller: Caller,
      supplier: string
    ) => Effect.Effect<SupplierConfiguration, Failure>
  }
>()("@data-import/domain/ConfigurationQuery") {}

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

const make = Effect.gen(function* () {
  const configuration = yield* Configuration
  const findSupplier = findOwnSupplier(configuration)

  const read = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const [found, codeLists] = yield* Effect.all(
      [findSupplier(caller, supplierCode(named)), configuration.codeLists],
      { concurrency: 2 }
    )
    if (Option.isNone(found)) return yield* new NotFound()
    const { code: supplier, timeZone } = found.value
    return { supplier, timeZone, codeLists }
  })

  return ConfigurationQuery.of({
    read: traced("ConfigurationQuery.read")((caller, supplier) =>
      Effect.catchTag(read(caller, supplier), "StorageUnavailable", () => unavailable)
    )
  })
})

export const layer = Layer.effect(ConfigurationQuery, make)
