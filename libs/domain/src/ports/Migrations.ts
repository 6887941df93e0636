/**
 * Storage of what is kept of migrations beside their imports: counts by hour, when something
 * changed last, and plans. A migration is a supplier of a live organisation. What is read here
 * takes as long for a million imports as for a few, because it reads counts that are kept.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ExternalAccountNumber } from "../account/Account.ts"
import type { HourCount } from "../account/Forecast.ts"
import type { SupplierSummary } from "../account/SupplierSummary.ts"
import type { Caller } from "../organisation/Organisation.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { CalendarDate } from "../schema/Field.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

export type StateCounts = SupplierSummary["states"]

/** What the imports of one supplier come to. */
export interface MigrationCounts {
  readonly supplier: SupplierCode
  readonly states: StateCounts
  readonly importedLastHour: number
  /** Accounts that were created in each of the last `hoursShown` hours, the present one last. */
  readonly importedHourly: ReadonlyArray<number>
  /** Whether its sums of money tie, as `ties` says of its summary. */
  readonly moneyTies: boolean
  /** When a state, a cohort or an error of an import changed last; null if none ever did. */
  readonly changedAt: DateTime.Utc | null
  /** When an account was created last; null if none was. */
  readonly importedAt: DateTime.Utc | null
}

export const hoursShown = 24

/** The counts as they were before an instant, without leases: who has one is as before it. */
export interface PastCounts {
  /** Of all states. */
  readonly staged: number
  /** Accounts, also those that were erased since. */
  readonly imported: number
  /** Imports in the state FAILED. */
  readonly failed: number
  /** Failed imports by code, without codes that none had. */
  readonly codes: Readonly<Record<string, number>>
}

export interface CohortCounts {
  /** Null for imports without one. */
  readonly cohort: string | null
  readonly states: StateCounts
}

export interface CohortsCounted {
  readonly cohorts: ReadonlyArray<CohortCounts>
  /** Cohorts beyond the limit: how many there are, and what their imports come to. */
  readonly others: { readonly cohorts: number; readonly states: StateCounts }
}

/** An import that waits: to be processed, or to be corrected since its latest attempt failed. */
export interface OpenImport {
  readonly number: ExternalAccountNumber
  readonly stagedAt: DateTime.Utc
  /** Since when it waits. */
  readonly since: DateTime.Utc
  /** With which its latest attempt failed; null if it is pending. */
  readonly code: string | null
}

/** With more failed imports, so many of them are looked at for those that wait longest. */
export const failedLookedAt = 1_000

/** So many accounts are to be imported by the end of this day, in the supplier's time zone. */
export interface PlanPoint {
  readonly on: CalendarDate
  readonly accounts: number
}

/** In the order of dates, which differ; accounts never become fewer. */
export type MigrationPlan = ReadonlyArray<PlanPoint>

/** Who has signed a migration off, and when. */
export interface SignOff {
  /** As the audit log names people. */
  readonly by: string
  readonly at: DateTime.Utc
}

export class Migrations extends Context.Service<
  Migrations,
  {
    /** In the order of the suppliers. */
    readonly overview: (query: {
      readonly suppliers: ReadonlyArray<SupplierCode>
      readonly at: DateTime.Utc
    }) => Effect.Effect<ReadonlyArray<MigrationCounts>, StorageUnavailable>

    /**
     * The counts before each of these instants, which are whole hours in ascending order. What
     * nobody had folded by then (`SupplierSummaries.fold`) is in a later hour.
     */
    readonly history: (query: {
      readonly supplier: SupplierCode
      /** Only imports of this cohort; null for all. */
      readonly cohort: string | null
      readonly before: ReadonlyArray<DateTime.Utc>
    }) => Effect.Effect<ReadonlyArray<PastCounts>, StorageUnavailable>

    /**
     * Accounts that were created in each hour since this one, the oldest first; hours without any
     * are left out.
     */
    readonly importedByHour: (query: {
      readonly suppliers: ReadonlyArray<SupplierCode>
      readonly since: DateTime.Utc
    }) => Effect.Effect<ReadonlyMap<SupplierCode, ReadonlyArray<HourCount>>, StorageUnavailable>

    /** The first hour of which there are counts; none for a supplier without imports. */
    readonly beginning: (query: {
      readonly supplier: SupplierCode
      readonly cohort: string | null
    }) => Effect.Effect<Option.Option<DateTime.Utc>, StorageUnavailable>

    /**
     * Of at most `limit` cohorts in code point order, and first of all imports without one, if
     * there are any. With the others it comes to all imports.
     */
    readonly cohorts: (query: {
      readonly supplier: SupplierCode
      readonly limit: number
      readonly at: DateTime.Utc
    }) => Effect.Effect<CohortsCounted, StorageUnavailable>

    /**
     * Those that wait longest: of the imports in the state PENDING the ones that were staged first,
     * and those in the state FAILED whose latest attempt ended before `failedBefore`.
     */
    readonly oldestOpen: (query: {
      readonly supplier: SupplierCode
      readonly failedBefore: DateTime.Utc
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<OpenImport>, StorageUnavailable>

    readonly plans: (
      suppliers: ReadonlyArray<SupplierCode>
    ) => Effect.Effect<ReadonlyMap<SupplierCode, MigrationPlan>, StorageUnavailable>

    /** Replaces the plan; one without points is none. Audit: `set_plan`. */
    readonly setPlan: (command: {
      readonly supplier: SupplierCode
      readonly plan: MigrationPlan
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /**
     * Sets the cohort of those of these imports that are Pending at `at` and have another one; null
     * for none. Returns how many it were. Audit: `change_import` of each, outcome `changed`.
     */
    readonly setCohorts: (command: {
      readonly supplier: SupplierCode
      /** At most 1,000. */
      readonly numbers: ReadonlyArray<ExternalAccountNumber>
      readonly cohort: string | null
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<number, StorageUnavailable>

    /** The latest one, whatever the status is now. */
    readonly signOff: (
      supplier: SupplierCode
    ) => Effect.Effect<Option.Option<SignOff>, StorageUnavailable>

    /**
     * Makes the supplier Complete and keeps who did so, in one step. Where that was done already,
     * it gives who did. Audit: `change_supplier_status` of an operator, and `sign_off`.
     */
    readonly recordSignOff: (command: {
      readonly supplier: SupplierCode
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<SignOff, StorageUnavailable>
  }
>()("@data-import/domain/ports/Migrations") {}

export const noCounts: StateCounts = {
  PENDING: 0,
  FAILED: 0,
  IN_PROGRESS: 0,
  SKIPPED: 0,
  IMPORTED: 0,
  ERASED: 0
}

/** What a count was at the end of an hour; hours in which it did not change are left out. */
export interface HourlyCount {
  readonly hour: DateTime.Utc
  readonly count: number
}
