/**
 * Inclusion proofs: a leaf and an audit path show that an entry is in the tree of a known root,
 * without the other entries. Also the hashes of inner nodes, by which two trees are compared.
 * Source: RFC 9162, sections 2.1.3.1 and 2.1.3.2.
 */
import type { Hashing } from "../requests/Hashing.ts"
import { makeGrowingTree, nodeHash } from "./MerkleTree.ts"

type Digest = Hashing["Service"]["digest"]

/** The leaf hashes of a tree, in order. An array is one. */
export type Leaves = Pick<ReadonlyArray<Uint8Array>, "at" | "length">

/** The tree hash of the leaves from `start` to before `end`. */
export const rangeHash = (
  digest: Digest,
  leaves: Leaves,
  start: number,
  end: number
): Uint8Array => {
  const tree = makeGrowingTree(digest)
  for (let index = start; index < end; index++) tree.append(leaves.at(index) as Uint8Array)
  return tree.root()
}

export const treeHash = (digest: Digest, leaves: Leaves): Uint8Array =>
  rangeHash(digest, leaves, 0, leaves.length)

/** The hash of the leaves from `index` × 2^`level` up to the next node of the level or the end. */
export const nodeOfLevel = (
  digest: Digest,
  leaves: Leaves,
  { index, level }: { readonly index: number; readonly level: number }
): Uint8Array => {
  const width = 2 ** level
  const end = Math.min((index + 1) * width, leaves.length)
  return rangeHash(digest, leaves, index * width, end)
}

/** The largest power of two that is smaller than `size`, which is at least 2. */
const splitOf = (size: number): number => {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/** The audit path of the leaf, from its sibling to the child of the root. */
export const inclusionPath = (
  digest: Digest,
  leaves: Leaves,
  index: number
): ReadonlyArray<Uint8Array> => {
  const path: Array<Uint8Array> = []
  let [start, end] = [0, leaves.length]
  while (end - start > 1) {
    const middle = start + splitOf(end - start)
    if (index < middle) {
      path.push(rangeHash(digest, leaves, middle, end))
      end = middle
    } else {
      path.push(rangeHash(digest, leaves, start, middle))
      start = middle
    }
  }
  return path.toReversed()
}

export interface InclusionProof {
  readonly leaf: Uint8Array
  readonly index: number
  readonly size: number
  readonly path: ReadonlyArray<Uint8Array>
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])

const isOdd = (value: number): boolean => value % 2 === 1
// A shift would cut a number to 32 bits.
const half = (value: number): number => Math.floor(value / 2)

/** Whether the tree of this root has the leaf at the index. */
export const isIncluded = (
  digest: Digest,
  { index, leaf, path, size }: InclusionProof,
  root: Uint8Array
): boolean => {
  if (index < 0 || index >= size) return false
  let [node, last] = [index, size - 1]
  let hash = leaf
  for (const sibling of path) {
    if (last === 0) return false
    if (isOdd(node) || node === last) {
      hash = nodeHash(digest, sibling, hash)
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      hash = nodeHash(digest, hash, sibling)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && isEqual(hash, root)
}
