/**
 * Erases what is stored of a customer: of the import, of its account, and of what was sent about
 * it. What stays is the money, and the number, so that nobody imports the customer again.
 * Source: docs/contract/operator.md#erasure.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ImportKey, ImportState } from "../account/ImportProcess.ts"
import type { PaymentInstruction } from "../account/PaymentInstruction.ts"
import type { BatchId } from "../batch/Batch.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/** What was erased, as far as something outside of the storage belongs to it. */
export interface Erased {
  readonly _tag: "Erased"
  /** It was erased before. What was sent about it since then is erased now. */
  readonly isRepeated: boolean
  /** The paths of its documents below the supplier's root. The store still has the documents. */
  readonly documents: ReadonlyArray<string>
  /** Those that were not ended. The vendor still has them. */
  readonly instructions: ReadonlyArray<PaymentInstruction>
  /** How many lines of batches named it. */
  readonly lines: number
}

export type Erasing =
  | Erased
  /** Nothing was staged (null), or an attempt holds the import. */
  | { readonly _tag: "Refused"; readonly found: ImportState | null }
  /** A line of this batch names it and has not ended. */
  | { readonly _tag: "InBatch"; readonly batch: BatchId }

export class Erasures extends Context.Service<
  Erasures,
  {
    /**
     * Erases, all or nothing: the payload with its hash, the errors of attempts but for their
     * codes, the personal data of the account, the events, the answers that are kept of requests,
     * and the lines of batches that name it, with their results. The import is Erased from then on.
     * Amounts, dates, balances and counts stay, and so does the audit log, in which the number
     * cannot be read any more, and is not written again. With `rehearse`, it does the same and
     * rolls it back.
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
