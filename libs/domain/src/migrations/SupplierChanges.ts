/**
 * Detects changes of suppliers: cheap enough to poll each second, however many imports there are.
 */
import { Context, type Effect } from "effect"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** A marker of a supplier's state. */
export interface SupplierMarker {
  readonly supplier: SupplierCode
  readonly organisation: OrganisationName
  /**
   * Another text once something has changed: status, counts, comments, an unfinished batch, the
   * outcome of a rehearsal.
   */
  readonly marker: string
}

export class SupplierChanges extends Context.Service<
  SupplierChanges,
  {
    /** The markers of all suppliers of live organisations. */
    readonly markers: Effect.Effect<ReadonlyArray<SupplierMarker>, StorageUnavailable>
  }
>()("@data-import/domain/ports/SupplierChanges") {}
