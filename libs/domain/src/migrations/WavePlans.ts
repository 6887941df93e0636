/**
 * Storage of what managers plan of waves, and of what compares them. A wave is the accounts of a
 * cohort, which need not exist when it is planned.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { BatchId } from "../batches/Batch.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { CalendarDate } from "../schema/Field.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { WaveDecision } from "./GoNoGo.ts"

/** How the outcome of a start begins that was not carried out. */
export const notStarted = "not_started"

/** What may begin by itself: a batch with this id, as the user of the board who planned it. */
export interface WaveStart {
  readonly at: DateTime.Utc
  readonly batch: BatchId
  readonly team: string
  /** The name of the user, without the prefix of the audit log. */
  readonly by: string
  /** `started`, or `not_started` and why; null as long as it is to come. */
  readonly outcome: string | null
}

export interface WavePlan {
  readonly startsOn: CalendarDate | null
  readonly owner: string | null
  /** The target: how many accounts it is to have. */
  readonly accounts: number | null
  readonly start: WaveStart | null
}

export interface PlannedWave extends WavePlan {
  readonly supplier: SupplierCode
  readonly cohort: string
}

/** A start that is due, taken by one instance. */
export type DueStart = Pick<PlannedWave, "supplier" | "cohort"> & {
  readonly start: WaveStart
}

/** The problem that most failed lines of a batch have. */
export interface FirstProblem {
  readonly code: string
  readonly attr: string
  readonly lines: number
}

export interface EndedWave {
  readonly supplier: SupplierCode
  readonly cohort: string
  readonly endedAt: DateTime.Utc
}

export class WavePlans extends Context.Service<
  WavePlans,
  {
    /** The planned waves of these suppliers, by supplier and cohort. */
    readonly planned: (
      suppliers: ReadonlyArray<SupplierCode>
    ) => Effect.Effect<ReadonlyArray<PlannedWave>, StorageUnavailable>

    /**
     * Replaces the plan of a wave; null removes it. False, and nothing is changed, if its start is
     * not `before` any more, or is being carried out. Audit: `plan_wave` with `set` or `removed`.
     */
    readonly plan: (command: {
      readonly supplier: SupplierCode
      readonly cohort: string
      readonly before: WaveStart | null
      readonly plan: WavePlan | null
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>

    /**
     * Takes the starts that are due. Nobody else gets one, unless it has no outcome after a minute:
     * then its instance has died, and it is carried out again.
     */
    readonly takeDue: (
      at: DateTime.Utc
    ) => Effect.Effect<ReadonlyArray<DueStart>, StorageUnavailable>

    /** Records what came of a start, once. Audit: `start_wave` with the outcome. */
    readonly endStart: (command: {
      readonly due: DueStart
      readonly outcome: string
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** The newest decisions about each cohort that has some, the newest first. */
    readonly decisions: (
      supplier: SupplierCode
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<WaveDecision>>, StorageUnavailable>

    /** Waves whose last import ended since then, if no other goes on, and it was not undone. */
    readonly ended: (query: {
      readonly suppliers: ReadonlyArray<SupplierCode>
      readonly since: DateTime.Utc
    }) => Effect.Effect<ReadonlyArray<EndedWave>, StorageUnavailable>

    /** The cohorts whose ledgers do not add up to the balances of their accounts. */
    readonly untied: (
      supplier: SupplierCode
    ) => Effect.Effect<ReadonlySet<string>, StorageUnavailable>

    /** Of each of these batches that has one. */
    readonly firstProblems: (
      batches: ReadonlyArray<BatchId>
    ) => Effect.Effect<ReadonlyMap<BatchId, FirstProblem>, StorageUnavailable>
  }
>()("@data-import/domain/ports/WavePlans") {}
