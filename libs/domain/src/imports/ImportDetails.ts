/**
 * The details of an import besides its account: its state, what is staged, and how its attempts
 * ended. Pure functions of stored data.
 * Source: docs/contract/queries.md#an-import.
 */
import { DateTime, Schema } from "effect"
import type { AccountNumber } from "../accounts/Account.ts"
import { type Code, registry } from "../codes/Code.ts"
import type { ErrorParameters } from "../codes/CodeEntry.ts"
import { wholePayload } from "../schema/Rules.ts"
import { type AttemptId, type ImportProcess, type PayloadHash, stateAt } from "./ImportProcess.ts"

/** Why an attempt failed; without `detail` once the payload was deleted. */
export interface AttemptError {
  readonly code: string
  readonly attr: string
  readonly detail?: string
  readonly parameters?: ErrorParameters
}

/** An error after the payload was deleted: without detail and path, which can have sent data. */
export const withoutContent = ({ code }: AttemptError): AttemptError => ({
  code,
  attr: wholePayload
})

export interface Attempt {
  readonly id: AttemptId
  readonly dryRun: boolean
  readonly startedAt: DateTime.Utc
  readonly endedAt: DateTime.Utc | null
  /** `created`, a refusal's code, `lease_expired`, or null while it runs. */
  readonly outcome: string | null
  readonly errors: ReadonlyArray<AttemptError>
}

export interface ImportDetails {
  readonly process: ImportProcess
  readonly stagedAt: DateTime.Utc
  /** How often it was staged. */
  readonly stagings: number
  /** Null once the import is erased. */
  readonly hash: PayloadHash | null
  readonly cohort: string | null
  /**
   * Whether the latest attempt that was no dry run has ended in a failure, and nothing was staged
   * since.
   */
  readonly hasFailed: boolean
  /** The latest attempts in the order of their start, as many as were requested. */
  readonly attempts: ReadonlyArray<Attempt>
  /** Its accounts of the past, the oldest first. */
  readonly reverted: ReadonlyArray<RevertedAccount>
}

/** An account that ended, so that its import can be corrected. */
export interface RevertedAccount {
  readonly number: AccountNumber
  readonly createdAt: DateTime.Utc
  readonly revertedAt: DateTime.Utc
  /** Null once the import is erased. */
  readonly reason: string | null
}

/** How many of the latest attempts the details of a single import have. */
export const attemptsOfImport = 10

/** `ERASED`: the operator has erased the data of the import. */
export const DetailedState = Schema.Literals([
  "PENDING",
  "FAILED",
  "IN_PROGRESS",
  "SKIPPED",
  "IMPORTED",
  "ERASED"
])
export type DetailedState = typeof DetailedState.Type

/** Whether the outcome of an ended attempt is a failure. */
export const isFailure = (outcome: string): boolean =>
  outcome !== "created" && outcome !== "dry_run_successful"

/**
 * The state at this instant, which dry runs leave as it was. An expired lease means that its
 * attempt broke off.
 */
export const detailedStateOf = (
  { hasFailed, process }: Pick<ImportDetails, "hasFailed" | "process">,
  now: DateTime.Utc
): DetailedState => {
  switch (stateAt(process, now)._tag) {
    case "Erased":
      return "ERASED"
    case "Imported":
      return "IMPORTED"
    case "Skipped":
      return "SKIPPED"
    case "InProgress":
      return "IN_PROGRESS"
    case "Pending":
    case "Reverted":
      return process.lease?.isDryRun === false || hasFailed ? "FAILED" : "PENDING"
  }
}

/** The filter of a list: imports that match every condition. */
export interface ImportFilter {
  readonly state?: DetailedState
  readonly failed?: boolean
  /** A code of the latest attempt of a failed import. */
  readonly code?: string
  readonly stagedAfter?: DateTime.Utc
  readonly cohort?: string
}

const codesOf = ({ attempts }: ImportDetails): ReadonlyArray<string> => {
  const last = attempts.findLast(({ dryRun }) => !dryRun)
  if (last === undefined) return []
  return [last.outcome ?? "lease_expired", ...last.errors.map(({ code }) => code)]
}

/** Whether the import matches. `details` must have at least the latest attempt that was no dry run. */
export const meets = (
  details: ImportDetails,
  { code, cohort, failed, stagedAfter, state }: ImportFilter,
  now: DateTime.Utc
): boolean => {
  const present = detailedStateOf(details, now)
  const hasFailed = present === "FAILED"
  return (
    (state === undefined || state === present) &&
    (failed === undefined || failed === hasFailed) &&
    (code === undefined || (hasFailed && codesOf(details).includes(code))) &&
    (stagedAfter === undefined || DateTime.isGreaterThan(details.stagedAt, stagedAfter)) &&
    (cohort === undefined || cohort === details.cohort)
  )
}

export const AttemptOutcome = Schema.Literals([
  "RUNNING",
  "CREATED",
  "DRY_RUN_SUCCESSFUL",
  "FAILED",
  "BROKEN_OFF"
])
export type AttemptOutcome = typeof AttemptOutcome.Type

const outcomeOf = (outcome: string): AttemptOutcome => {
  switch (outcome) {
    case "created":
      return "CREATED"
    case "dry_run_successful":
      return "DRY_RUN_SUCCESSFUL"
    case "lease_expired":
      return "BROKEN_OFF"
    default:
      return "FAILED"
  }
}

/** An attempt as it is answered. */
export interface AttemptRecord {
  readonly started_at: DateTime.Utc
  readonly ended_at: DateTime.Utc | null
  readonly dry_run: boolean
  readonly outcome: AttemptOutcome
  /** The code of the answer; null if it created an account, runs or broke off. */
  readonly code: Code | null
  readonly errors: ReadonlyArray<Required<Omit<AttemptError, "parameters">> & AttemptError>
}

const isCode = (text: string): text is Code => Object.hasOwn(registry, text)

/** The error with a detail; without its own, with the meaning of its code. */
const errorOf = (error: AttemptError): AttemptRecord["errors"][number] => ({
  ...error,
  detail: error.detail ?? (isCode(error.code) ? registry[error.code].meaning : error.code)
})

/** The record of an attempt. One that was never ended broke off when its lease expired. */
export const recordOfAttempt = (
  { process: { lease } }: Pick<ImportDetails, "process">,
  { dryRun, endedAt, errors, id, outcome, startedAt }: Attempt,
  now: DateTime.Utc
): AttemptRecord => {
  const expiry = lease?.attempt === id ? lease.expiresAt : null
  const isRunning = outcome === null && expiry !== null && DateTime.isGreaterThan(expiry, now)
  return {
    started_at: startedAt,
    ended_at: endedAt ?? (isRunning ? null : expiry),
    dry_run: dryRun,
    outcome: isRunning ? "RUNNING" : outcomeOf(outcome ?? "lease_expired"),
    code: outcome !== null && isCode(outcome) ? outcome : null,
    errors: errors.map(errorOf)
  }
}
