/**
 * The state machine of a batch, from its first line to its last result, as pure functions. Storage
 * keeps what these functions decide and nothing else.
 * Source: docs/contract/batches.md#states.
 */
import { type DateTime, Result, Schema } from "effect"
import type { ApiKeyId, OrganisationName } from "../organisation/Organisation.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import * as Counts from "./Counts.ts"

/** Identifier of a batch: a random UUID in lower case. */
export const BatchId = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
).pipe(Schema.brand("BatchId"))
export type BatchId = typeof BatchId.Type

/** What is done with each line. */
export const BatchOperation = Schema.Literals([
  "VALIDATE",
  "STAGE",
  "IMPORT",
  "PROCESS",
  "NOTES",
  "TRANSACTIONS",
  "STATEMENTS",
  "PAYMENT_INSTRUCTIONS"
])
export type BatchOperation = typeof BatchOperation.Type

export const BatchState = Schema.Literals([
  "OPEN",
  "QUEUED",
  "RUNNING",
  "PAUSED",
  "COMPLETED",
  "COMPLETED_WITH_FAILURES",
  "CANCELLED"
])
export type BatchState = typeof BatchState.Type

/**
 * Who or what has paused a batch. Each pause is lifted by itself; the batch goes on when none is
 * left.
 */
export const PauseReason = Schema.Literals(["CALLER", "OPERATOR", "SUPPLIER", "KEY", "FAILURES"])
export type PauseReason = typeof PauseReason.Type

/** Of TRANSACTIONS. */
export const BatchParameters = Schema.Struct({
  check_previously_added: Schema.optionalKey(Schema.Boolean),
  force_add_to_current_statement: Schema.optionalKey(Schema.Boolean)
})
export type BatchParameters = typeof BatchParameters.Type

/** What was asked for when the batch was created. Nothing of it changes later. */
export interface BatchSettings {
  readonly supplier: SupplierCode
  readonly operation: BatchOperation
  readonly name: string | null
  /** Of IMPORT and PROCESS. */
  readonly operationsTeam: string | null
  /** Of IMPORT and PROCESS. */
  readonly dryRun: boolean
  readonly cohort: string | null
  /** The batch whose failed lines these are. */
  readonly retryOf: BatchId | null
  /** Pauses the batch when more lines have failed; null for never. */
  readonly maxFailures: number | null
  /** The query parameters of the single endpoint, with their names. */
  readonly parameters: BatchParameters
}

/** What storage keeps of a batch, apart from its lines. */
export interface Batch {
  readonly id: BatchId
  readonly organisation: OrganisationName
  readonly settings: BatchSettings
  readonly createdAt: DateTime.Utc
  /** When the upload was closed, and by which key; the batch acts as this key. */
  readonly started: { readonly at: DateTime.Utc; readonly apiKey: ApiKeyId } | null
  /** Whether a worker has taken lines. */
  readonly isTaken: boolean
  readonly pausedBy: ReadonlySet<PauseReason>
  /** How many lines had failed when somebody last let the batch go on after its failures. */
  readonly acceptedFailures: number
  readonly isCancelled: boolean
  /** When the last line ended. */
  readonly finishedAt: DateTime.Utc | null
  readonly counts: Counts.Counts
}

/** A batch without lines. */
export const open = (
  created: Pick<Batch, "id" | "organisation" | "settings" | "createdAt">
): Batch => ({
  ...created,
  started: null,
  isTaken: false,
  pausedBy: new Set(),
  acceptedFailures: 0,
  isCancelled: false,
  finishedAt: null,
  counts: Counts.none
})

/** In the batch's present state the request is not possible. */
export interface StateConflict {
  readonly _tag: "StateConflict"
  readonly state: BatchState
}

/** The upload was closed with another number of lines than was received. */
export interface LineCountMismatch {
  readonly _tag: "LineCountMismatch"
  readonly received: number
}

export const stateOf = (batch: Batch): BatchState => {
  if (batch.isCancelled) return "CANCELLED"
  if (batch.finishedAt !== null) {
    return batch.counts.failed > 0 ? "COMPLETED_WITH_FAILURES" : "COMPLETED"
  }
  if (batch.started === null) return "OPEN"
  if (batch.pausedBy.size > 0) return "PAUSED"
  return batch.isTaken ? "RUNNING" : "QUEUED"
}

const finalStates: ReadonlySet<BatchState> = new Set([
  "COMPLETED",
  "COMPLETED_WITH_FAILURES",
  "CANCELLED"
])

/** Whether the batch has ended for good. */
export const isFinal = (batch: Batch): boolean => finalStates.has(stateOf(batch))

/** Whether workers may take lines of it. */
export const isWorkable = (batch: Batch): boolean => {
  const state = stateOf(batch)
  return state === "QUEUED" || state === "RUNNING"
}

const conflict = (batch: Batch): Result.Result<never, StateConflict> =>
  Result.fail({ _tag: "StateConflict", state: stateOf(batch) })

/** The batch with further lines. Lines come only while it is open. */
export const receive = (batch: Batch, lines: number): Result.Result<Batch, StateConflict> =>
  stateOf(batch) === "OPEN"
    ? Result.succeed({ ...batch, counts: Counts.receive(batch.counts, lines) })
    : conflict(batch)

/** Ended at once if there is no line to wait for. */
const finishedIfDone = (batch: Batch, at: DateTime.Utc): Batch =>
  Counts.remaining(batch.counts) === 0 ? { ...batch, finishedAt: at } : batch

/**
 * Closes the upload and queues the work. Starting a batch again with the same number of lines
 * changes nothing.
 */
export const start = (
  batch: Batch,
  totalLines: number,
  by: { readonly at: DateTime.Utc; readonly apiKey: ApiKeyId }
): Result.Result<Batch, StateConflict | LineCountMismatch> => {
  if (batch.isCancelled) return conflict(batch)
  const { received } = batch.counts
  if (totalLines !== received) return Result.fail({ _tag: "LineCountMismatch", received })
  if (batch.started !== null) return Result.succeed(batch)
  return Result.succeed(finishedIfDone({ ...batch, started: by }, by.at))
}

/** Adds a reason to pause. Repeating it changes nothing. */
export const pause = (batch: Batch, reason: PauseReason): Result.Result<Batch, StateConflict> => {
  if (batch.started === null || isFinal(batch)) return conflict(batch)
  return Result.succeed({ ...batch, pausedBy: new Set([...batch.pausedBy, reason]) })
}

/** Takes reasons to pause away. Repeating it changes nothing. */
export const resume = (
  batch: Batch,
  reasons: ReadonlyArray<PauseReason>
): Result.Result<Batch, StateConflict> => {
  if (batch.started === null || isFinal(batch)) return conflict(batch)
  const lifted = reasons.filter((reason) => batch.pausedBy.has(reason))
  const acceptedFailures = lifted.includes("FAILURES")
    ? batch.counts.failed
    : batch.acceptedFailures
  const pausedBy = batch.pausedBy.difference(new Set(lifted))
  return Result.succeed({ ...batch, pausedBy, acceptedFailures })
}

/**
 * Workers take no further lines. The lines that none of them has in hand end as cancelled (`end`).
 * Cancelling again changes nothing.
 */
export const cancel = (batch: Batch, at: DateTime.Utc): Result.Result<Batch, StateConflict> => {
  if (batch.isCancelled) return Result.succeed(batch)
  if (isFinal(batch)) return conflict(batch)
  return Result.succeed(finishedIfDone({ ...batch, isCancelled: true }, at))
}

const hasTooManyFailures = ({ acceptedFailures, counts, settings }: Batch): boolean =>
  settings.maxFailures !== null && counts.failed - acceptedFailures > settings.maxFailures

/**
 * The batch after lines have ended with these outcomes.
 * @throws when more lines end than remain.
 */
export const end = (
  batch: Batch,
  outcomes: ReadonlyArray<Counts.LineOutcome>,
  at: DateTime.Utc
): Batch => {
  const counts = Counts.add(batch.counts, outcomes)
  const counted = finishedIfDone({ ...batch, counts }, at)
  const isPaused = !isFinal(counted) && hasTooManyFailures(counted)
  return isPaused ? { ...counted, pausedBy: new Set([...counted.pausedBy, "FAILURES"]) } : counted
}
