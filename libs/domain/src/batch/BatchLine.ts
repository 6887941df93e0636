/**
 * The lines of a batch: as they are received, as a worker has them in hand, and as they end.
 * Source: docs/contract/batches.md#upload, docs/contract/batches.md#results.
 */
import type { Code, FieldCode } from "../codes/Code.ts"
import type { LineOutcome } from "./Counts.ts"

/** What limits a batch, and what an organisation has unfinished. */
export const batchLimits = {
  lines: 1_000_000,
  /** Uncompressed. */
  bytes: 8 * 1024 ** 3,
  lineBytes: 10 * 1024 ** 2,
  unfinishedBatches: 20,
  bytesOfOrganisation: 32 * 1024 ** 3
} as const

/** At most so many errors are kept for a line. */
export const errorsOfLine = 100

/** A line as it was sent, without its end. */
export interface BatchLine {
  /** From 1. */
  readonly line: number
  /** Null for a line that was too long to be kept: it fails by itself. */
  readonly bytes: Uint8Array | null
  /** The account number that the line names; null where it names none that could be one. */
  readonly externalAccountNumber: string | null
  /** The number of the line in the batch that is retried; null in any other batch. */
  readonly sourceLine: number | null
}

/** A line as it is received. */
export type ReceivedLine = Pick<BatchLine, "bytes" | "externalAccountNumber">

/** What is wrong with a failed line, without the indexes of lists: `attr` has `*` for each. */
export interface LineProblem {
  readonly code: FieldCode | Code
  readonly attr: string
  /** For a person. It is personal data, and null once the lines are deleted. */
  readonly detail: string | null
}

/** A line that has ended. */
export interface LineEnd {
  readonly line: number
  readonly externalAccountNumber: string | null
  readonly outcome: LineOutcome
  /** The result as it is answered: a JSON object without the end of its line. */
  readonly text: string
  /** Empty unless it has failed. */
  readonly problems: ReadonlyArray<LineProblem>
}

/** A line that is to be tried again. */
export interface LinePostponed {
  readonly line: number
  /** Whether the try counts: a 500 of its own does, a dependency that is away does not. */
  readonly isCounted: boolean
}
