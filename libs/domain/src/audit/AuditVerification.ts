/**
 * Verifies that the audit log is as it was written: each entry has the hash that it was sealed
 * with, no position is missing, and the leaves have the root that is kept as their head. An owner
 * of the database who also recomputes the head is found by an export that is kept elsewhere.
 */
import { Effect } from "effect"
import type { ImportKey } from "../imports/ImportProcess.ts"
import { type GrowingTree, makeGrowingTree } from "../merkle/MerkleTree.ts"
import type { Hashing } from "../requests/Hashing.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { bytesOf, hexOf } from "../support/Hexadecimal.ts"
import type { Leaf, Page, SealedAuditLog, SealedEntry, TreeHead } from "./SealedAuditLog.ts"

export type AuditFaultReason =
  /** The entry has not the content that it was sealed with. */
  | "altered"
  /** The entry was deleted, or has another position. */
  | "missing"
  /** The entry has a position after the last one that was sealed. */
  | "beyond_head"
  /** An entry up to this position was altered together with its hash. */
  | "head_differs"
  /** The entry has another hash than the export says. */
  | "kept_leaf_differs"
  /** An entry up to this position, which this export does not have, has another hash. */
  | "kept_head_differs"

/** The first entry of the log that is not as it was written. */
export interface AuditFault {
  readonly position: bigint
  readonly why: AuditFaultReason
  /** The entry that is there now, if it is the one that is meant. */
  readonly entry: Pick<
    SealedEntry,
    "external_account_number" | "id" | "import_supplier" | "organisation"
  > | null
}

/** How many sealed entries were verified, and the first fault. */
export interface AuditVerification {
  readonly entries: number
  readonly fault: AuditFault | null
}

/** Entries of one statement. */
const pageSize = 5_000

/** The fault of an entry, or of a leaf alone, after the entry at this position. */
const faultAt = (leaf: Leaf | SealedEntry, last: bigint): AuditFault | null => {
  const { hash, position } = leaf
  if (position > last + 1n) return { position: last + 1n, why: "missing", entry: null }
  const entry = "present" in leaf ? leaf : null
  const isSame = position === last + 1n && (entry === null || hash === entry.present)
  return isSame ? null : { position, why: "altered", entry }
}

/** The first fault of entries that follow a position; their end is not looked at. */
export const faultAmong = (
  entries: ReadonlyArray<SealedEntry>,
  after: bigint
): AuditFault | null => {
  for (const [index, entry] of entries.entries()) {
    const fault = faultAt(entry, after + BigInt(index))
    if (fault !== null) return fault
  }
  return null
}

/** The fault of a tree whose last entry is at its size; "Continue" if more was sealed meanwhile. */
const faultOfEnd = (tree: GrowingTree, head: TreeHead): AuditFault | "Continue" | null => {
  const size = BigInt(tree.size())
  if (size < head.size) return "Continue"
  if (size > head.size) return { position: head.size + 1n, why: "beyond_head", entry: null }
  const isSame = hexOf(tree.root()) === head.root
  return isSame ? null : { position: size, why: "head_differs", entry: null }
}

/**
 * Grows the tree page by page to its head, up to the first fault. Entries may be sealed meanwhile,
 * but a page that is read after a head has all entries up to it. `onLeaf` gets each leaf with the
 * tree that ends with it.
 */
const grown = Effect.fnUntraced(function* <A extends Leaf>(
  { head: readHead }: SealedAuditLog["Service"],
  { digest }: Hashing["Service"],
  read: (page: Page) => Effect.Effect<ReadonlyArray<A>, StorageUnavailable>,
  onLeaf: (leaf: A, tree: GrowingTree) => AuditFault | null
): Effect.fn.Return<AuditVerification, StorageUnavailable> {
  const tree = makeGrowingTree(digest)
  let head: TreeHead | null = null
  for (;;) {
    const after = BigInt(tree.size())
    const leaves = yield* read({ after, limit: pageSize })
    for (const leaf of leaves) {
      const entries = tree.size()
      const fault = faultAt(leaf, BigInt(entries))
      if (fault !== null) return { entries, fault }
      tree.append(bytesOf(leaf.hash))
      const found = onLeaf(leaf, tree)
      if (found !== null) return { entries, fault: found }
    }
    if (leaves.length === pageSize) continue
    const entries = tree.size()
    if (head !== null && leaves.length === 0 && after < head.size) {
      return { entries, fault: { position: after + 1n, why: "missing", entry: null } }
    }
    head = yield* readHead
    const end = faultOfEnd(tree, head)
    if (end !== "Continue") return { entries, fault: end }
  }
})

const nothing = () => null

/** Compares the root of the leaves with the head. It reads no entries. */
export const verifyRoot = (sealed: SealedAuditLog["Service"], hashing: Hashing["Service"]) =>
  grown(sealed, hashing, sealed.leaves, nothing)

/**
 * Verifies every sealed entry and the head, up to the first fault. Entries may be written and
 * sealed meanwhile. `onEntry` gets each entry with the tree that ends with it.
 */
export const verifyAudit = (
  sealed: SealedAuditLog["Service"],
  hashing: Hashing["Service"],
  onEntry: (entry: SealedEntry, tree: GrowingTree) => AuditFault | null = nothing
) => grown(sealed, hashing, sealed.entries, onEntry)

/** Verifies the entries of one import. What is missing there is found only in the whole log. */
export const verifyImport = Effect.fnUntraced(function* (
  sealed: SealedAuditLog["Service"],
  key: ImportKey
): Effect.fn.Return<AuditVerification, StorageUnavailable> {
  const entries = yield* sealed.entriesOf(key)
  const altered = entries.find(({ hash, present }) => hash !== present)
  if (altered === undefined) return { entries: entries.length, fault: null }
  return {
    entries: entries.length,
    fault: { position: altered.position, why: "altered", entry: altered }
  }
})
