/**
 * Storage as whoever waits for a change asks it: cheap enough to be asked each second, however many
 * imports there are.
 */
import { Context, type Effect } from "effect"
import type { OrganisationName } from "../organisation/Organisation.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/** What a supplier looks like from afar. */
export interface SupplierMarker {
  readonly supplier: SupplierCode
  readonly organisation: OrganisationName
  /** Another text once something has changed: the status, the counts, or an unfinished batch. */
  readonly marker: string
}

export class SupplierChanges extends Context.Service<
  SupplierChanges,
  {
    /** Of every supplier of a live organisation. */
    readonly markers: Effect.Effect<ReadonlyArray<SupplierMarker>, StorageUnavailable>
  }
>()("@data-import/domain/ports/SupplierChanges") {}
