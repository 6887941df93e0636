/**
 * Storage of moves: accounts that a user of the board gave another cohort at once. A move keeps the
 * cohort that each account had before, so that it can be undone exactly. An undo is a move itself.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export const MoveId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("MoveId"))
export type MoveId = typeof MoveId.Type

export interface CohortMove {
  readonly id: MoveId
  readonly supplier: SupplierCode
  /** As the audit log names people. */
  readonly by: string
  readonly at: DateTime.Utc
  /** How many accounts had which cohort before, in code point order; null for none. */
  readonly from: ReadonlyArray<{ readonly cohort: string | null; readonly accounts: number }>
  /** One, unless it is an undo: then the cohorts that the accounts have again. */
  readonly to: ReadonlyArray<string | null>
  readonly undoes: MoveId | null
  readonly undoneBy: MoveId | null
}

/** What a move did to one account. */
export interface AccountMove extends Pick<CohortMove, "at" | "by" | "id"> {
  readonly from: string | null
  readonly to: string | null
  readonly isUndo: boolean
}

interface Writing {
  /** Chosen by the page: a repeat with the same id moves no account twice. */
  readonly id: MoveId
  readonly supplier: SupplierCode
  readonly caller: Caller
  readonly at: DateTime.Utc
}

export class CohortMoves extends Context.Service<
  CohortMoves,
  {
    /**
     * Sets the cohort of these imports, null for none, if they are Pending at `at` and have another
     * one. Returns how many were changed. The first change of a move records it. Audit:
     * `move_accounts` once for each move, outcome `moved` and its id.
     */
    readonly move: (
      command: Writing & {
        /** At most 1,000. */
        readonly numbers: ReadonlyArray<ExternalAccountNumber>
        readonly cohort: string | null
      }
    ) => Effect.Effect<number, StorageUnavailable>

    /**
     * Gives at most 1,000 accounts of a move the cohort again that they had before, as far as that
     * is exact. Audit: `move_accounts` once for each undo, outcome `undone` and the undo's id.
     */
    readonly undo: (
      command: Writing & {
        readonly undoes: MoveId
        /** `next` of the part before; null to begin. */
        readonly after: bigint | null
      }
    ) => Effect.Effect<
      { readonly changed: number; readonly next: bigint | null },
      StorageUnavailable
    >

    /** Those of these moves that there are. */
    readonly find: (
      ids: ReadonlyArray<MoveId>
    ) => Effect.Effect<ReadonlyMap<MoveId, CohortMove>, StorageUnavailable>

    /**
     * Whether an undo would restore exactly what was before: each account, unless it is restored
     * already, is Pending, has the cohort that the move gave it, and was in no later move but one
     * that is undone. It reads the accounts a bounded part at a time.
     */
    readonly isExact: (move: MoveId, at: DateTime.Utc) => Effect.Effect<boolean, StorageUnavailable>

    /** The newest moves that an import was in, the newest first. */
    readonly ofImport: (
      key: ImportKey,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AccountMove>, StorageUnavailable>
  }
>()("@data-import/domain/ports/CohortMoves") {}
