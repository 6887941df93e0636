/**
 * The known facts about the batches of a run: the planned lines, their outcomes, and the answers to
 * the client. It counts lines, and has no states.
 */
import type { Batch, BatchId, BatchOperation } from "@data-import/domain/batches/Batch"
import type { IdempotencyKey } from "@data-import/domain/idempotency/IdempotencyKey"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { readResult } from "./LineResultText.ts"
import type { Order, SentRequest } from "./Request.ts"

/** A line and its requests: an import is staged, and then processed. */
export interface LineRecord {
  readonly number: number
  readonly text: string
  readonly key: ImportKey
  readonly stage: Order<"stage"> | null
  readonly end: Order<"stage" | "process" | "notes" | "transactions" | "revert">
  /** Of a retry: the line's number in the batch that is retried. */
  readonly sourceLine: number | null
  /** Every run of a step by a worker. */
  readonly runs: Array<SentRequest>
  /** Whether its import was stored together with others. */
  isStoredTogether: boolean
  /** Its result, once that is stored. */
  result: string | null
}

export interface BatchRecord {
  readonly name: string
  readonly key: IdempotencyKey
  readonly supplier: SupplierCode
  readonly organisation: OrganisationName
  readonly operation: Extract<
    BatchOperation,
    "STAGE" | "IMPORT" | "PROCESS" | "NOTES" | "TRANSACTIONS" | "REVERT"
  >
  readonly parameters: { readonly check: boolean; readonly force: boolean }
  /** For REVERT. */
  readonly revert: { readonly withAdditions: boolean; readonly dryRun: boolean }
  readonly maxFailures: number | null
  readonly retried: BatchRecord | null
  readonly lines: ReadonlyArray<LineRecord>
  /** Null until it is stored. */
  id: BatchId | null
  /** How it was stored when it was last read, as text. */
  stored: string
  /** When it was started; null until then. */
  startedAt: number | null
  /** How many lines are stored. */
  received: number
  /** The answers to its client; `known` once the creation was acknowledged. */
  readonly heard: {
    known: boolean
    refused: boolean
    received: number
    state: string
    /** The step at which the state was answered. */
    step: number
    /** The counts, and the step at which they were read. */
    readonly counts: Array<{ readonly step: number; readonly counts: Counts }>
    /** Results by their lines. */
    readonly results: Map<number, string>
  }
}

export type Counts = Batch["counts"]

export const emptyHeard = (): BatchRecord["heard"] => ({
  known: false,
  refused: false,
  received: 0,
  state: "OPEN",
  step: 0,
  counts: [],
  results: new Map()
})

type Batches = ReadonlyArray<BatchRecord>

export const batchNamed = (batches: Batches, name: string): BatchRecord => {
  const found = batches.find((batch) => batch.name === name)
  if (found === undefined) throw new Error(`There is no batch ${name}`)
  return found
}

export const batchOf = (batches: Batches, id: string): BatchRecord => {
  const found = batches.find((batch) => batch.id === id)
  if (found === undefined) throw new Error("A batch is unknown")
  return found
}

export const lineOf = (
  { lines, name }: Pick<BatchRecord, "lines" | "name">,
  number: number
): LineRecord => {
  const line = lines[number - 1]
  if (line === undefined) throw new Error(`${name} has no line ${number}`)
  return line
}

/** The counts that follow from the results. */
export const countsOf = ({ lines, received }: BatchRecord): Counts => {
  const outcomes = lines.flatMap(({ result }) =>
    result === null ? [] : [readResult(result).outcome]
  )
  const countOf = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length
  return {
    received,
    succeeded: countOf("SUCCEEDED"),
    already: countOf("ALREADY"),
    failed: countOf("FAILED"),
    cancelled: countOf("CANCELLED")
  }
}

/** The failed lines that a retry copies: those whose data no later line has replaced. */
export const linesToRetry = ({ lines }: BatchRecord): ReadonlyArray<LineRecord> => {
  const hasOutcome = ({ result }: LineRecord, wanted: ReadonlyArray<string>) =>
    result !== null && wanted.includes(readResult(result).outcome)
  return lines.filter(
    (line) =>
      hasOutcome(line, ["FAILED"]) &&
      !lines.some(
        (later) =>
          later.number > line.number &&
          later.key.external_account_number === line.key.external_account_number &&
          hasOutcome(later, ["SUCCEEDED", "ALREADY"])
      )
  )
}
