/** Nodes of a tree as the service answers them. */
import type { NodeRange, TreeNode } from "../src/certificates/CertificateTrees.ts"
import type { SortedTree } from "../src/certificates/LocalTree.ts"
import { hexOf } from "../src/support/Hexadecimal.ts"
import { hashing } from "./memory/Hashing.ts"

export const nodesOf = (
  tree: SortedTree,
  { from, level, limit }: NodeRange,
  erased: ReadonlySet<string> = new Set()
): ReadonlyArray<TreeNode> => {
  const size = tree.leaves.length
  const width = 2 ** level
  const count = Math.max(0, Math.min(limit, Math.ceil(size / width) - from))
  const known = (index: number) => {
    const number = tree.numberAt(index)
    return erased.has(number) ? null : number
  }
  return Array.from({ length: count }, (_, at): TreeNode => {
    const index = from + at
    const [start, end] = [index * width, Math.min((index + 1) * width, size)]
    const hash = hexOf(tree.hash(hashing, start, end))
    return { index, first: known(start), last: known(end - 1), count: end - start, hash }
  })
}
