/**
 * Storage of the counts and sums of a supplier's imports. The counts are stored rather than counted
 * at each request, so that reading takes as long for a million imports as for a few.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { SupplierSummary } from "./SupplierSummary.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

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
     * Folds at most `limit` count differences that writes have stored, and returns how many.
     * Returns 0 while another instance does the same. It changes no summary.
     */
    readonly fold: (command: {
      readonly limit: number
      readonly at: DateTime.Utc
    }) => Effect.Effect<number, StorageUnavailable>
  }
>()("@data-import/domain/ports/SupplierSummaries") {}
