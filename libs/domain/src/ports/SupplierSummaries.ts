/**
 * Storage of what the imports of a supplier come to. It keeps the counts, because they cannot be
 * counted anew at each request: a million imports take no longer than a few.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { SupplierSummary } from "../account/SupplierSummary.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

export class SupplierSummaries extends Context.Service<
  SupplierSummaries,
  {
    /** `at` is the instant of the states. */
    readonly read: (query: {
      readonly supplier: SupplierCode
      /** Only imports of this cohort; null for all. It is not empty. */
      readonly cohort: string | null
      readonly at: DateTime.Utc
    }) => Effect.Effect<SupplierSummary, StorageUnavailable>
    /**
     * Adds up at most so many differences that writes have left, and returns how many it was. It
     * returns 0 while another instance does the same. It changes no summary.
     */
    readonly fold: (command: {
      readonly limit: number
      readonly at: DateTime.Utc
    }) => Effect.Effect<number, StorageUnavailable>
  }
>()("@data-import/domain/ports/SupplierSummaries") {}
