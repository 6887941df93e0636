/**
 * Storage of what is told of many migrations at once. Reading takes as long for a million imports
 * as for a few, because it reads stored counts.
 */
import { type BigDecimal, Context, type DateTime, type Effect } from "effect"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { PastCounts } from "./Migrations.ts"

/** The money of a migration. */
export interface MigrationMoney {
  readonly supplier: SupplierCode
  /** The balances of all accounts as they were imported, and what was added since. */
  readonly imported: BigDecimal.BigDecimal
  readonly added: BigDecimal.BigDecimal
  /** By the newest certificate of all its accounts; null without one. */
  readonly certified: {
    readonly accounts: number
    readonly balance: BigDecimal.BigDecimal
  } | null
}

interface Of {
  readonly suppliers: ReadonlyArray<SupplierCode>
}

interface Since extends Of {
  readonly since: DateTime.Utc
}

export class Programme extends Context.Service<
  Programme,
  {
    /** In the order of the suppliers. */
    readonly money: (query: Of) => Effect.Effect<ReadonlyArray<MigrationMoney>, StorageUnavailable>

    /** The sums of the counts before each of these instants, in ascending order; no codes. */
    readonly history: (
      query: Of & { readonly before: ReadonlyArray<DateTime.Utc> }
    ) => Effect.Effect<ReadonlyArray<PastCounts>, StorageUnavailable>

    /** How many imports have failed with which code, or outcome. */
    readonly codes: (query: Of) => Effect.Effect<
      ReadonlyArray<{
        readonly supplier: SupplierCode
        readonly code: string
        readonly imports: number
      }>,
      StorageUnavailable
    >

    /** The newest sign-offs since then, whatever the status is now. */
    readonly signOffs: (query: Since) => Effect.Effect<
      ReadonlyArray<{
        readonly supplier: SupplierCode
        readonly by: string
        readonly at: DateTime.Utc
      }>,
      StorageUnavailable
    >

    /** The condition of each migration that had one at this instant. */
    readonly conditionsAt: (
      query: Of & { readonly at: DateTime.Utc }
    ) => Effect.Effect<ReadonlyMap<SupplierCode, string>, StorageUnavailable>

    /** Keeps those that differ from the last one of their supplier. Older than 90 days are deleted. */
    readonly keepConditions: (command: {
      readonly conditions: ReadonlyMap<SupplierCode, string>
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
  }
>()("@data-import/domain/ports/Programme") {}
