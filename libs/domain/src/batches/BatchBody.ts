/**
 * The body of a batch in answers.
 * Source: docs/contract/batches.md#the-batch.
 */
import type { DateTime } from "effect"
import { Schema } from "effect"
import { WireCode, wireCode } from "../suppliers/Supplier.ts"
import { Instant } from "../schema/Field.ts"
import {
  type Batch,
  BatchId,
  BatchOperation,
  BatchState,
  isWorkable,
  PauseReason,
  stateOf,
  WaitingFor
} from "./Batch.ts"
import { batchLimits } from "./BatchLine.ts"
import * as Counts from "./Counts.ts"
import * as Throughput from "./Throughput.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: batchLimits.lines }))

export const CountsBody = Schema.Struct({
  received: count,
  succeeded: count,
  already: count,
  failed: count,
  cancelled: count,
  remaining: count
})

export const BatchBody = Schema.Struct({
  batch_id: BatchId,
  import_supplier: WireCode,
  operation: BatchOperation,
  dry_run: Schema.Boolean,
  name: Schema.NullOr(Schema.String),
  cohort: Schema.NullOr(Schema.String),
  state: BatchState,
  paused_by: Schema.Array(PauseReason),
  waiting_for: Schema.NullOr(WaitingFor),
  counts: CountsBody,
  created_at: Instant,
  started_at: Schema.NullOr(Instant),
  finished_at: Schema.NullOr(Instant),
  lines_per_second: Schema.Finite,
  estimated_finish_at: Schema.NullOr(Instant),
  retry_of: Schema.NullOr(BatchId)
})
export type BatchBody = typeof BatchBody.Type

/** The answer to a creation. For a retry it says how many failed lines are left out. */
export const CreatedBatchBody = Schema.Struct({
  ...BatchBody.fields,
  lines_left_out: Schema.optionalKey(count)
})
export type CreatedBatchBody = typeof CreatedBatchBody.Type

const waitingFor = (batch: Batch, isWorkerAlive: boolean): WaitingFor | null => {
  if (!isWorkable(batch)) return null
  return isWorkerAlive ? batch.waitingFor : "WORKER"
}

/** The body of the batch at this time. */
export const bodyOf = (batch: Batch, isWorkerAlive: boolean, now: DateTime.Utc): BatchBody => {
  const { started } = batch
  const state = stateOf(batch)
  const remaining = Counts.remaining(batch.counts)
  const speed = started === null ? 0 : Throughput.perSecond(batch.recent, started.at, now)
  const estimate = isWorkable(batch) ? Throughput.estimatedEnd(remaining, speed, now) : null
  return {
    batch_id: batch.id,
    import_supplier: wireCode(batch.settings.supplier),
    operation: batch.settings.operation,
    dry_run: batch.settings.dryRun,
    name: batch.settings.name,
    cohort: batch.settings.cohort,
    state,
    paused_by: PauseReason.literals.filter(
      (reason) => state === "PAUSED" && batch.pausedBy.has(reason)
    ),
    waiting_for: waitingFor(batch, isWorkerAlive),
    counts: { ...batch.counts, remaining },
    created_at: batch.createdAt,
    started_at: batch.started?.at ?? null,
    finished_at: batch.finishedAt,
    lines_per_second: speed,
    estimated_finish_at: estimate,
    retry_of: batch.settings.retryOf
  }
}

/**
 * The entity tag of a batch. It is weak: it does not change with `lines_per_second` and
 * `estimated_finish_at`, which differ at every moment.
 * Source: docs/contract/batches.md#waiting-for-a-change.
 */
export const entityTagOf = ({ counts, paused_by, state, waiting_for }: BatchBody): string => {
  const parts = [state, paused_by.join("+"), waiting_for ?? "", ...Object.values(counts)]
  return `W/"${parts.join(".")}"`
}
