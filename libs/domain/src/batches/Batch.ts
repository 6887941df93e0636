/**
 * The state machine of a batch, from its first line to its last result, as pure functions. Storage
 * keeps what these functions decide and nothing else.
 * Source: docs/contract/batches.md#states.
 */
import { DateTime, Duration, Result, Schema } from "effect"
import type { ApiKeyId, OrganisationName } from "../suppliers/Organisation.ts"
import type { SupplierCode, SupplierStatus } from "../suppliers/Supplier.ts"
import { Instant, nonBlankText } from "../schema/Field.ts"
import { OnDifference } from "../schema/OnDifference.ts"
import * as Counts from "./Counts.ts"
import * as Throughput from "./Throughput.ts"

/** Identifier of a batch: a random UUID in lower case. */
export const BatchId = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
).pipe(Schema.brand("BatchId"))
export type BatchId = typeof BatchId.Type

/** The operation that runs on each line. */
export const BatchOperation = Schema.Literals([
  "VALIDATE",
  "STAGE",
  "IMPORT",
  "PROCESS",
  "NOTES",
  "TRANSACTIONS",
  "STATEMENTS",
  "PAYMENT_INSTRUCTIONS",
  "REVERT"
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
 * Who or what has paused a batch. Each pause is lifted separately; the batch continues when none is
 * left.
 */
export const PauseReason = Schema.Literals(["CALLER", "OPERATOR", "SUPPLIER", "KEY", "FAILURES"])
export type PauseReason = typeof PauseReason.Type

/** What the lines of a batch wait for although it is not paused. */
export const WaitingFor = Schema.Literals(["WORKER", "DATABASE", "DOCUMENTS", "VENDOR", "LIMIT"])
export type WaitingFor = typeof WaitingFor.Type

/** The name of a batch or of a cohort. */
export const ShortName = nonBlankText(64)

/** The pending imports that a batch processes: those that match every condition. */
export const PendingFilter = Schema.Struct({
  cohort: Schema.optionalKey(ShortName),
  /** The longest code has 82 characters. */
  code: Schema.optionalKey(nonBlankText(128)),
  failed: Schema.optionalKey(Schema.Boolean)
})
export type PendingFilter = typeof PendingFilter.Type

/** The board's selection. A cohort of null selects imports without one. */
export const PendingSelection = Schema.Struct({
  ...PendingFilter.fields,
  cohort: Schema.optionalKey(Schema.NullOr(ShortName)),
  state: Schema.optionalKey(Schema.Literals(["PENDING", "FAILED"])),
  corrected: Schema.optionalKey(Schema.Literal(true))
})
export type PendingSelection = typeof PendingSelection.Type

/**
 * The imported accounts that a batch reverts: those that match every condition. `batch_id` is the
 * batch that created them.
 */
export const ImportedFilter = Schema.Struct({
  cohort: Schema.optionalKey(ShortName),
  batch_id: Schema.optionalKey(BatchId),
  created_after: Schema.optionalKey(Instant),
  created_before: Schema.optionalKey(Instant)
})
export type ImportedFilter = typeof ImportedFilter.Type

/** What REVERT does with each account. */
export const RevertSettings = Schema.Struct({
  reason: Schema.String,
  withAdditions: Schema.Boolean
})
export type RevertSettings = typeof RevertSettings.Type

/** The parameters of TRANSACTIONS, the last one also of NOTES, where its default is `fail`. */
export const BatchParameters = Schema.Struct({
  check_previously_added: Schema.optionalKey(Schema.Boolean),
  force_add_to_current_statement: Schema.optionalKey(Schema.Boolean),
  on_difference: Schema.optionalKey(OnDifference)
})
export type BatchParameters = typeof BatchParameters.Type

/** The settings given at creation. They never change. */
export interface BatchSettings {
  readonly supplier: SupplierCode
  readonly operation: BatchOperation
  readonly name: string | null
  /** For IMPORT and PROCESS. */
  readonly operationsTeam: string | null
  /** For IMPORT, PROCESS and REVERT. */
  readonly dryRun: boolean
  readonly cohort: string | null
  /** If not null, the lines are the matching imports that are pending when the batch starts. */
  readonly pending: PendingSelection | null
  /** If not null, the lines are the matching imported accounts when the batch starts. */
  readonly imported: ImportedFilter | null
  /** For REVERT. */
  readonly revert: RevertSettings | null
  /** The batch whose failed lines this one retries. */
  readonly retryOf: BatchId | null
  /** Pauses the batch when more lines than this have failed; null for never. */
  readonly maxFailures: number | null
  /** The query parameters of the single endpoint, with their names. */
  readonly parameters: BatchParameters
}

/** The default settings of a batch. */
export const defaultSettings: Omit<BatchSettings, "supplier" | "operation"> = {
  name: null,
  operationsTeam: null,
  dryRun: false,
  cohort: null,
  pending: null,
  imported: null,
  revert: null,
  retryOf: null,
  maxFailures: null,
  parameters: {}
}

/** Whether the operation has nothing to do for an account that is imported. */
export const endsWithAccount = ({ operation }: Pick<BatchSettings, "operation">): boolean =>
  /^(?:STAGE|IMPORT|PROCESS)$/.test(operation)

/** Whether the batch is to store imports or accounts, so that a failed line leaves one out. */
export const stages = (settings: BatchSettings): boolean =>
  !settings.dryRun && endsWithAccount(settings)

/** Whether a line that succeeds replaces what is staged. */
export const replacesStaged = (settings: BatchSettings): boolean =>
  stages(settings) && settings.operation !== "PROCESS"

/** Whether the batch is to create accounts, or only tries to. */
export const forAccounts = ({ operation }: Pick<BatchSettings, "operation">): boolean =>
  /^(?:IMPORT|PROCESS)$/.test(operation)

/** Whether a line that succeeds has created an account. */
export const createsAccounts = (settings: BatchSettings): boolean =>
  !settings.dryRun && forAccounts(settings)

/** Whether a line that succeeds has changed something. */
export const hasEffect = ({ dryRun, operation }: BatchSettings): boolean =>
  !dryRun && operation !== "VALIDATE"

/** A batch as it is stored, apart from its lines. */
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
  /** How many lines had failed when a FAILURES pause was last lifted. */
  readonly acceptedFailures: number
  readonly isCancelled: boolean
  /** When the last line ended. */
  readonly finishedAt: DateTime.Utc | null
  readonly counts: Counts.Counts
  /** What its lines were waiting for when a worker last had them. */
  readonly waitingFor: WaitingFor | null
  readonly recent: Throughput.RecentLines
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
  counts: Counts.none,
  waitingFor: null,
  recent: []
})

/** The request is not possible in the present state of the batch. */
export interface StateConflict {
  readonly _tag: "StateConflict"
  readonly state: BatchState
  /** Set for an open retry that may not start, because what it would write is no longer the newest. */
  readonly isOvertaken?: boolean
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

/** Whether the batch is in a final state. */
export const isFinal = (batch: Batch): boolean => finalStates.has(stateOf(batch))

/** Whether workers may take lines of the batch. */
export const isWorkable = (batch: Batch): boolean => {
  const state = stateOf(batch)
  return state === "QUEUED" || state === "RUNNING"
}

const conflict = (batch: Batch): Result.Result<never, StateConflict> =>
  Result.fail({ _tag: "StateConflict", state: stateOf(batch) })

/** Whether the lines are chosen when the batch starts. */
export const hasSource = ({
  imported,
  pending
}: Pick<BatchSettings, "imported" | "pending">): boolean => pending !== null || imported !== null

/** Whether a caller may send lines to the batch. */
export const takesLines = (batch: Batch): boolean =>
  stateOf(batch) === "OPEN" && batch.settings.retryOf === null && !hasSource(batch.settings)

/** The batch with further lines. Fails unless it is open. */
export const receive = (batch: Batch, lines: number): Result.Result<Batch, StateConflict> =>
  stateOf(batch) === "OPEN"
    ? Result.succeed({ ...batch, counts: Counts.receive(batch.counts, lines) })
    : conflict(batch)

/** The batch, finished now if no line remains. */
const finishedIfDone = (batch: Batch, at: DateTime.Utc): Batch =>
  Counts.remaining(batch.counts) === 0 ? { ...batch, finishedAt: at } : batch

/** What the storage knows of a batch that is about to start. */
export interface StartCircumstances {
  /** Whether what its lines are made of has changed since it was created, or was deleted. */
  readonly isOvertaken: boolean
}

/**
 * Closes the upload and queues the work. Starting a batch again with the same number of lines
 * changes nothing. A batch with a source receives no lines; it is `filled` when it starts. A
 * retry does not start if it has a line that would be left out by now, nor a revert of what another
 * batch has created if that batch no longer tells.
 */
export const start = (
  batch: Batch,
  totalLines: number,
  {
    isOvertaken = false,
    ...by
  }: { readonly at: DateTime.Utc; readonly apiKey: ApiKeyId } & Partial<StartCircumstances>
): Result.Result<Batch, StateConflict | LineCountMismatch> => {
  if (batch.isCancelled) return conflict(batch)
  const received = hasSource(batch.settings) ? 0 : batch.counts.received
  if (totalLines !== received) return Result.fail({ _tag: "LineCountMismatch", received })
  if (batch.started !== null) return Result.succeed(batch)
  if (isOvertaken) return Result.fail({ _tag: "StateConflict", state: stateOf(batch), isOvertaken })
  const started = { ...batch, started: by }
  return Result.succeed(isToBeFilled(started) ? started : finishedIfDone(started, by.at))
}

/** Whether the batch is started and still lacks the lines of its source. */
export const isToBeFilled = (batch: Batch): boolean =>
  hasSource(batch.settings) && batch.started !== null && batch.counts.received === 0

/** A started batch with its lines; zero lines finish it. */
export const filled = (batch: Batch, lines: number, at: DateTime.Utc): Batch =>
  finishedIfDone({ ...batch, counts: Counts.receive(batch.counts, lines) }, at)

const withReason = (batch: Batch, reason: PauseReason): Batch =>
  batch.pausedBy.has(reason) ? batch : { ...batch, pausedBy: new Set([...batch.pausedBy, reason]) }

/** Adds a reason to pause. Repeating it changes nothing. */
export const pause = (batch: Batch, reason: PauseReason): Result.Result<Batch, StateConflict> => {
  if (batch.started === null || isFinal(batch)) return conflict(batch)
  return Result.succeed(withReason(batch, reason))
}

/** Lifts pauses. Repeating it changes nothing. Lifting KEY makes the batch act as `apiKey`. */
export const resume = (
  batch: Batch,
  reasons: ReadonlyArray<PauseReason>,
  apiKey: ApiKeyId
): Result.Result<Batch, StateConflict> => {
  if (batch.started === null || isFinal(batch)) return conflict(batch)
  const lifted = reasons.filter((reason) => batch.pausedBy.has(reason))
  if (lifted.length === 0) return Result.succeed(batch)
  const started = lifted.includes("KEY") ? { ...batch.started, apiKey } : batch.started
  const acceptedFailures = lifted.includes("FAILURES")
    ? batch.counts.failed
    : batch.acceptedFailures
  const pausedBy = batch.pausedBy.difference(new Set(lifted))
  return Result.succeed({ ...batch, started, pausedBy, acceptedFailures })
}

/**
 * Cancels the batch: workers take no further lines. Lines that no worker has in hand end as
 * cancelled (`end`). Cancelling again changes nothing.
 */
export const cancel = (batch: Batch, at: DateTime.Utc): Result.Result<Batch, StateConflict> => {
  if (batch.isCancelled) return Result.succeed(batch)
  if (isFinal(batch)) return conflict(batch)
  return Result.succeed(finishedIfDone({ ...batch, isCancelled: true }, at))
}

const hasTooManyFailures = ({ acceptedFailures, counts, settings }: Batch): boolean =>
  settings.maxFailures !== null && counts.failed - acceptedFailures > settings.maxFailures

/**
 * The batch after a worker has worked on some of its lines: the ended ones have these outcomes, the
 * others wait for `waitingFor`.
 * @throws when more lines end than remain.
 */
export const end = (
  batch: Batch,
  outcomes: ReadonlyArray<Counts.LineOutcome>,
  at: DateTime.Utc,
  waitingFor: WaitingFor | null = null
): Batch => {
  const counts = Counts.add(batch.counts, outcomes)
  const worked = outcomes.filter((outcome) => outcome !== "CANCELLED").length
  const recent = Throughput.add(batch.recent, worked, at)
  const counted = finishedIfDone({ ...batch, counts, recent, waitingFor }, at)
  const isPaused = !isFinal(counted) && hasTooManyFailures(counted)
  return isPaused ? withReason(counted, "FAILURES") : counted
}

/** Facts that a batch depends on, and that change without a request for it. */
export interface Circumstances {
  readonly supplierStatus: SupplierStatus
  /** Whether the key that started it is neither revoked nor expired. */
  readonly isKeyValid: boolean
}

/** An open batch is cancelled after this time. */
const openFor = Duration.days(7)

const isForgotten = (batch: Batch, at: DateTime.Utc): boolean =>
  stateOf(batch) === "OPEN" &&
  !DateTime.isGreaterThan(DateTime.addDuration(batch.createdAt, openFor), at)

/** A wave is taken back while its supplier is paused. */
const isHeldBy = (status: SupplierStatus, { operation }: BatchSettings): boolean => {
  if (operation === "VALIDATE") return false
  return operation === "REVERT" ? status === "Complete" : status !== "Ongoing"
}

/**
 * Adapts the batch to the circumstances: pauses it for its supplier or its key, lifts the
 * supplier's pause, or cancels it because it was never started. Returns the same batch if nothing
 * changes.
 */
export const review = (
  batch: Batch,
  { isKeyValid, supplierStatus }: Circumstances,
  at: DateTime.Utc
): Batch => {
  if (isFinal(batch)) return batch
  if (batch.started === null) {
    return isForgotten(batch, at) ? Result.getOrElse(cancel(batch, at), () => batch) : batch
  }
  const isHeld = isHeldBy(supplierStatus, batch.settings)
  const ofKey = isKeyValid ? batch : withReason(batch, "KEY")
  if (isHeld) return withReason(ofKey, "SUPPLIER")
  return Result.getOrElse(resume(ofKey, ["SUPPLIER"], batch.started.apiKey), () => ofKey)
}
