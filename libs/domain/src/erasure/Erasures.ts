/**
 * Erases the stored data of a customer: the import, its account, and everything sent about it. The
 * money stays, and the number, so that the customer is not imported again.
 * Source: docs/contract/operator.md#erasure.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ImportKey, ImportState } from "../imports/ImportProcess.ts"
import type { PaymentInstruction } from "../accounts/PaymentInstruction.ts"
import type { BatchId } from "../batches/Batch.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** The result of an erasure, with what is left to do outside of storage. */
export interface Erased {
  readonly _tag: "Erased"
  /** Whether it was erased before. Data sent about it since then is erased now. */
  readonly isRepeated: boolean
  /** The paths of its documents below the supplier's root. The store still has the documents. */
  readonly documents: ReadonlyArray<string>
  /** The instructions that were not ended. The vendor still has them. */
  readonly instructions: ReadonlyArray<PaymentInstruction>
  /** How many lines of batches named the import. */
  readonly lines: number
}

export type Erasing =
  | Erased
  /** Nothing was staged (null), or an attempt holds the import. */
  | { readonly _tag: "Refused"; readonly found: ImportState | null }
  /** A line of this batch names the import and has not ended. */
  | { readonly _tag: "InBatch"; readonly batch: BatchId }

export class Erasures extends Context.Service<
  Erasures,
  {
    /**
     * Erases, all or nothing: the payload with its hash, the errors of attempts except their codes,
     * the personal data of the account, the events, the kept answers to requests, and the lines of
     * batches that name it, with their results. The import is Erased from then on. Amounts, dates,
     * balances and counts stay. So does the audit log, but the number can no longer be read in it,
     * and is not written to it again. With `rehearse`, everything is rolled back.
     * Event: erased, the first time. Audit, in a command of the operator: `erase_import`, with the
     * outcome `erased`, or `unchanged` if it was erased before.
     */
    readonly erase: (command: {
      readonly key: ImportKey
      readonly rehearse?: boolean
      readonly at: DateTime.Utc
    }) => Effect.Effect<Erasing, StorageUnavailable>
  }
>()("@data-import/domain/ports/Erasures") {}
