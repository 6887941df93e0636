/** What a change of a batch is announced and recorded as. */
import { Schema } from "effect"
import type { Batch, PauseReason } from "./Batch.ts"
import { isRehearsal } from "./Rehearsal.ts"

/** The names of the outbox events. A name never changes. */
export const BatchEventName = Schema.Literals([
  "data_import.batch.started-v1",
  "data_import.batch.paused-v1",
  "data_import.batch.completed-v1",
  "data_import.batch.cancelled-v1",
  "data_import.rehearsal.completed-v1"
])
export type BatchEventName = typeof BatchEventName.Type

/** A change that nobody asked for, as the audit log names it. */
export interface AutomaticChange {
  readonly action: "pause_batch" | "resume_batch" | "cancel_batch"
  /** The reason that was added or lifted, or `FORGOTTEN` for a batch that was never started. */
  readonly outcome: PauseReason | "FORGOTTEN"
}

/** What `end` and `review` have changed. */
export const automaticChanges = (before: Batch, after: Batch): ReadonlyArray<AutomaticChange> => {
  const added = [...after.pausedBy].filter((reason) => !before.pausedBy.has(reason))
  const lifted = [...before.pausedBy].filter((reason) => !after.pausedBy.has(reason))
  return [
    ...added.map((outcome) => ({ action: "pause_batch", outcome }) as const),
    ...lifted.map((outcome) => ({ action: "resume_batch", outcome }) as const),
    ...(after.isCancelled && !before.isCancelled
      ? [{ action: "cancel_batch", outcome: "FORGOTTEN" } as const]
      : [])
  ]
}

/** The events of a state change. Resuming counts as started again. */
export const eventsBetween = (before: Batch, after: Batch): ReadonlyArray<BatchEventName> => {
  const isRunning = (batch: Batch) => batch.started !== null && batch.pausedBy.size === 0
  const events: Array<BatchEventName> = []
  if (!isRunning(before) && isRunning(after)) events.push("data_import.batch.started-v1")
  if (before.pausedBy.size === 0 && after.pausedBy.size > 0) {
    events.push("data_import.batch.paused-v1")
  }
  if (!before.isCancelled && after.isCancelled) events.push("data_import.batch.cancelled-v1")
  if (before.finishedAt === null && after.finishedAt !== null && !after.isCancelled) {
    events.push("data_import.batch.completed-v1")
    if (isRehearsal(after)) events.push("data_import.rehearsal.completed-v1")
  }
  return events
}
