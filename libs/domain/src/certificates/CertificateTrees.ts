/** What is answered of the tree of a certificate: proofs of accounts, and nodes. */
import { Effect, Option } from "effect"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import { inclusionPath, treeHash } from "../merkle/InclusionProof.ts"
import { NotFound } from "../requests/Failure.ts"
import { Hashing } from "../requests/Hashing.ts"
import { hexOf } from "../support/Hexadecimal.ts"
import { entryHash } from "./AccountEntry.ts"
import { blockSize, type CertificateId, Certificates } from "./Certificates.ts"

/** An account in the tree. Hashes are in hexadecimal. */
export interface Proof {
  readonly leaf_index: number
  readonly entry: string
  readonly path: ReadonlyArray<string>
}

/** A node of the tree; an erased number is null. */
export interface TreeNode {
  readonly index: number
  readonly first: string | null
  readonly last: string | null
  readonly count: number
  readonly hash: string
}

/** Nodes of one level of the tree. */
export interface NodeRange {
  readonly level: number
  readonly from: number
  readonly limit: number
}

/** The level of the nodes that blocks are. */
const blockLevel = Math.log2(blockSize)

export const makeTrees = Effect.gen(function* () {
  const certificates = yield* Certificates
  const hashing = yield* Hashing
  const { digest } = hashing

  const proof = Effect.fnUntraced(function* (id: CertificateId, number: ExternalAccountNumber) {
    const found = yield* certificates.entriesOf(id, number)
    if (Option.isNone(found)) return yield* new NotFound()
    const { block, entries } = found.value
    const [stored] = yield* certificates.blocks(id, { from: block, limit: 1 })
    const leaves = stored?.leaves ?? []
    const hashes = leaves.map(hexOf)
    for (const entry of entries) {
      const inBlock = hashes.indexOf(hexOf(entryHash(hashing, entry)))
      if (inBlock === -1) continue
      const above = inclusionPath(digest, yield* certificates.blockHashes(id), block)
      const path = [...inclusionPath(digest, leaves, inBlock), ...above]
      return { leaf_index: block * blockSize + inBlock, entry, path: path.map(hexOf) }
    }
    return yield* new NotFound()
  })

  /** Nodes of whole blocks. */
  const above = Effect.fnUntraced(function* (
    id: CertificateId,
    size: number,
    { from, level, limit }: NodeRange
  ) {
    const width = 2 ** (level - blockLevel)
    const nodes: Array<TreeNode> = []
    for (let index = from; index < from + limit && index * width * blockSize < size; index++) {
      const start = index * width
      const bounds = yield* certificates.bounds(id, { from: start, limit: width })
      nodes.push({
        index,
        first: bounds.first,
        last: bounds.last,
        count: Math.min(size - start * blockSize, width * blockSize),
        hash: hexOf(treeHash(digest, bounds.hashes))
      })
    }
    return nodes
  })

  /** Nodes within blocks. */
  const within = Effect.fnUntraced(function* (
    id: CertificateId,
    { from, level, limit }: NodeRange
  ) {
    const width = 2 ** level
    const inBlock = blockSize / width
    const first = Math.floor(from / inBlock)
    const count = Math.ceil((from + limit) / inBlock) - first
    const blocks = yield* certificates.blocks(id, { from: first, limit: count })
    const nodes = blocks.flatMap(({ leaves, numbers }, at) =>
      Array.from({ length: Math.ceil(leaves.length / width) }, (_, index): TreeNode => {
        const [start, end] = [index * width, Math.min((index + 1) * width, leaves.length)]
        return {
          index: (first + at) * inBlock + index,
          first: numbers[start] ?? null,
          last: numbers[end - 1] ?? null,
          count: end - start,
          hash: hexOf(treeHash(digest, leaves.slice(start, end)))
        }
      })
    )
    return nodes.filter(({ index }) => index >= from && index < from + limit)
  })

  return {
    proof,
    hashes: (id: CertificateId, size: number, range: NodeRange) =>
      range.level < blockLevel ? within(id, range) : above(id, size, range)
  }
})
