/**
 * The audit log as a Merkle tree. A sealer gives the entries of each second their positions and the
 * hashes that are the leaves of the tree, and keeps its root. Nobody who writes an entry waits for
 * it. An entry that is altered, deleted or inserted later is found by its leaf or by the root.
 * Source: RFC 9162, section 2.1; docs/contract/operator.md#audit-log.
 */
import { Context, type Effect } from "effect"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** The tree after some entries. Hashes are in lower-case hexadecimal. */
export interface TreeHead {
  readonly size: bigint
  readonly root: string
}

export interface Leaf {
  /** From 1. */
  readonly position: bigint
  readonly hash: string
}

/** A sealed entry as it is now. */
export interface SealedEntry extends Leaf {
  readonly id: bigint
  readonly organisation: string
  readonly import_supplier: string | null
  readonly external_account_number: string | null
  /** The hash of its present content. `hash` is the one that it was sealed with. */
  readonly present: string
}

export interface Page {
  /** The last position of the page before; 0 for the first. */
  readonly after: bigint
  readonly limit: number
}

export class SealedAuditLog extends Context.Service<
  SealedAuditLog,
  {
    /**
     * Seals at most so many entries in the order of writing. Returns how many it sealed: 0 also
     * while another process seals.
     */
    readonly seal: (limit: number) => Effect.Effect<number, StorageUnavailable>

    readonly head: Effect.Effect<TreeHead, StorageUnavailable>

    /** The leaves in their order, without the entries. */
    readonly leaves: (page: Page) => Effect.Effect<ReadonlyArray<Leaf>, StorageUnavailable>

    readonly entries: (page: Page) => Effect.Effect<ReadonlyArray<SealedEntry>, StorageUnavailable>

    /** The sealed entries of one import. */
    readonly entriesOf: (
      key: ImportKey
    ) => Effect.Effect<ReadonlyArray<SealedEntry>, StorageUnavailable>
  }
>()("@data-import/domain/ports/SealedAuditLog") {}
