/**
 * Storage of migrations, apart from their imports: counts by hour, the time of the last change, and
 * plans. A migration is a supplier of a live organisation. Reading takes as long for a million
 * imports as for a few, because it reads stored counts.
 */
import { Context, type DateTime, type Effect, type Option, type Result } from "effect"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import type { CertificateId } from "../certificates/Certificates.ts"
import type { HourCount } from "./Forecast.ts"
import type { WaveDecision } from "./GoNoGo.ts"
import type { Reason } from "./Comments.ts"
import type { SupplierSummary } from "./SupplierSummary.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { SupplierCode, SupplierStatus } from "../suppliers/Supplier.ts"
import type { CalendarDate } from "../schema/Field.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export type StateCounts = SupplierSummary["states"]

/** The counts of the imports of one supplier. */
export interface MigrationCounts {
  readonly supplier: SupplierCode
  readonly states: StateCounts
  /** As in its summary. */
  readonly linesRefused: number
  readonly importedLastHour: number
  /** Accounts that were created in each of the last `hoursShown` hours, the present one last. */
  readonly importedHourly: ReadonlyArray<number>
  /** Whether its sums of money tie: `ties` of its summary. */
  readonly moneyTies: boolean
  /** When a state, a cohort or an error of an import changed last; null if none ever did. */
  readonly changedAt: DateTime.Utc | null
  /** When an account was created last; null if none was. */
  readonly importedAt: DateTime.Utc | null
  readonly takenBack: TakenBack | null
}

/** The cohort that was undone last, among the newest batches, and when. */
export interface TakenBack {
  readonly cohort: string
  readonly at: DateTime.Utc
}

export const hoursShown = 24

/** The counts as they were before an instant. Leases are ignored. */
export interface PastCounts {
  /** Of all states. */
  readonly staged: number
  /** Accounts, including those that were erased since. */
  readonly imported: number
  /** Imports in the state FAILED. */
  readonly failed: number
  /** Failed imports by code; codes without any are left out. */
  readonly codes: Readonly<Record<string, number>>
}

export interface CohortCounts {
  /** Null for imports without a cohort. */
  readonly cohort: string | null
  readonly states: StateCounts
  /** Of batches of this cohort. */
  readonly linesRefused: number
}

export interface CohortsCounted {
  readonly cohorts: ReadonlyArray<CohortCounts>
  /** Cohorts beyond the limit: their number, and the sum of their counts. */
  readonly others: { readonly cohorts: number } & Omit<CohortCounts, "cohort">
}

/** An import that waits: to be processed, or to be corrected since its latest attempt failed. */
export interface OpenImport {
  readonly number: ExternalAccountNumber
  readonly stagedAt: DateTime.Utc
  /** Since when it waits. */
  readonly since: DateTime.Utc
  /** The code with which its latest attempt failed; null if it is pending. */
  readonly code: string | null
}

/** The most failed imports that are read to find those that wait longest. */
export const failedLookedAt = 1_000

/** The accounts to be imported by the end of this day, in the supplier's time zone. */
export interface PlanPoint {
  readonly on: CalendarDate
  readonly accounts: number
}

/** Points in strictly ascending order of dates; `accounts` never decreases. */
export type MigrationPlan = ReadonlyArray<PlanPoint>

/** Who has signed a migration off, and when. */
export interface SignOff {
  /** As the audit log names people. */
  readonly by: string
  readonly at: DateTime.Utc
  /** The one that it was given with; null for none. */
  readonly certificate: CertificateId | null
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
     * The counts before each of these instants, which are whole hours in ascending order. Changes
     * that were not folded by then (`SupplierSummaries.fold`) count in a later hour.
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

    /** The first hour that has counts; none for a supplier without imports. */
    readonly beginning: (query: {
      readonly supplier: SupplierCode
      readonly cohort: string | null
    }) => Effect.Effect<Option.Option<DateTime.Utc>, StorageUnavailable>

    /**
     * The counts of at most `limit` cohorts in code point order; imports without a cohort, if any,
     * come first. Together with `others` they sum up to all imports.
     */
    readonly cohorts: (query: {
      readonly supplier: SupplierCode
      readonly limit: number
      readonly at: DateTime.Utc
    }) => Effect.Effect<CohortsCounted, StorageUnavailable>

    /**
     * The imports that wait longest: PENDING ones in the order of their staging, and FAILED ones
     * whose latest attempt ended before `failedBefore`.
     */
    readonly oldestOpen: (query: {
      readonly supplier: SupplierCode
      readonly failedBefore: DateTime.Utc
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<OpenImport>, StorageUnavailable>

    readonly plans: (
      suppliers: ReadonlyArray<SupplierCode>
    ) => Effect.Effect<ReadonlyMap<SupplierCode, MigrationPlan>, StorageUnavailable>

    /** Replaces the plan; without points it is deleted. Audit: `set_plan`. */
    readonly setPlan: (command: {
      readonly supplier: SupplierCode
      readonly plan: MigrationPlan
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** Who has decided about a cohort, the newest first. */
    readonly decisions: (query: {
      readonly supplier: SupplierCode
      readonly cohort: string
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<WaveDecision>, StorageUnavailable>

    /** Records a decision about a cohort. Audit: `decide_wave` with the decision. */
    readonly recordDecision: (command: {
      readonly supplier: SupplierCode
      readonly cohort: string
      readonly decided: Pick<WaveDecision, "decision" | "note" | "rehearsal">
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** The latest sign-off, whatever the status is now. */
    readonly signOff: (
      supplier: SupplierCode
    ) => Effect.Effect<Option.Option<SignOff>, StorageUnavailable>

    /**
     * Changes the status, and stores the reason in the same step, unless the supplier has this
     * status for a reason already. Audit: `change_supplier_status` of an operator, and `comment`.
     */
    readonly changeStatus: <E>(
      command: {
        readonly supplier: SupplierCode
        readonly about: "pause" | "resume"
        readonly reason: Reason | null
        readonly caller: Caller
        readonly at: DateTime.Utc
      },
      decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
    ) => Effect.Effect<SupplierStatus, E | StorageUnavailable>

    /**
     * Makes the supplier Complete and records who did so and why, in one step. If it was signed off
     * already, returns that sign-off. Audit: `change_supplier_status` of an operator, `sign_off`
     * with the certificate and what was open, and `comment`.
     */
    readonly recordSignOff: (command: {
      readonly supplier: SupplierCode
      readonly certificate: CertificateId | null
      /** Null if nothing is open. */
      readonly reason: Reason | null
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
