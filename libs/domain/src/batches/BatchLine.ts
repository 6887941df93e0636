/**
 * The lines of a batch: as received, as in the hands of a worker, and as ended.
 * Source: docs/contract/batches.md#upload, docs/contract/batches.md#results.
 */
import type { DateTime } from "effect"
import type { AccountSums } from "../certificates/Certificate.ts"
import type { Code, FieldCode } from "../codes/Code.ts"
import type { PayloadHash } from "../imports/ImportProcess.ts"
import type { LineOutcome } from "./Counts.ts"

/** The limits of a batch, of an organisation's unfinished batches, and of all that is stored. */
export const batchLimits = {
  lines: 1_000_000,
  /** Uncompressed. */
  bytes: 8 * 1024 ** 3,
  lineBytes: 10 * 1024 ** 2,
  unfinishedBatches: 20,
  bytesOfOrganisation: 32 * 1024 ** 3,
  storedBytes: 128 * 1024 ** 3
} as const

/** The maximum number of errors that are kept for a line. */
export const errorsOfLine = 100

/** A line as it was sent, without its end. */
export interface BatchLine {
  /** From 1. */
  readonly line: number
  /** Null for a line that was too long to be kept: only this line fails. */
  readonly bytes: Uint8Array | null
  /** The account number that the line names; null if it names none, or an invalid one. */
  readonly externalAccountNumber: string | null
  /** The number of the line in the batch that is retried; null in any other batch. */
  readonly sourceLine: number | null
}

/** A line as it is received. */
export type ReceivedLine = Pick<BatchLine, "bytes" | "externalAccountNumber">

/** What is wrong with a failed line. `attr` has `*` for list indexes. */
export interface LineProblem {
  readonly code: FieldCode | Code
  readonly attr: string
  /** For a person. It is personal data, and null once the lines are deleted. */
  readonly detail: string | null
  /** The day by which the line was judged; on another day it may be valid. */
  readonly businessDay?: string
}

/** What was judged, and by what: as of `ImportProcesses.claim`. */
export interface Judged {
  readonly payloadHash: PayloadHash
  readonly judgedBy: string
  readonly at: DateTime.Utc
}

/** A line that has ended. */
export interface EndedLine {
  readonly line: number
  readonly externalAccountNumber: string | null
  readonly outcome: LineOutcome
  /** The result as it is answered: a JSON object without a line break. */
  readonly text: string
  /** Empty unless it has failed. */
  readonly problems: ReadonlyArray<LineProblem>
  /** Of a rehearsal: the sums of the account that the line would create. */
  readonly rehearsed?: AccountSums
  /** Of such an account that was not staged, so that no attempt tells it. */
  readonly judged?: Judged
}

/** A line that is to be tried again. */
export interface LinePostponed {
  readonly line: number
  /** Whether the try counts: an internal error (500) does, an unavailable dependency does not. */
  readonly isCounted: boolean
}
