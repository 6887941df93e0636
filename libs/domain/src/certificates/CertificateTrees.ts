/** What is answered of the tree of a certificate: proofs of accounts, and nodes. */
import { Effect, Option } from "effect"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import { inclusionPath, treeHash } from "../merkle/InclusionProof.ts"
import { NotFound } from "../requests/Failure.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { hexOf } from "../support/Hexadecimal.ts"
import { entryHash } from "./AccountEntry.ts"
import { blockSize, type CertificateId, type Certificates } from "./Certificates.ts"

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

interface Ports {
  readonly certificates: Certificates["Service"]
  readonly hashing: Hashing["Service"]
}

/** The proof of an account in an issued certificate. */
export const proofOf = Effect.fnUntraced(function* (
  { certificates, hashing }: Ports,
  id: CertificateId,
  size: number,
  number: ExternalAccountNumber
) {
  const { digest } = hashing
  const found = yield* certificates.entriesOf(id, number)
  if (Option.isNone(found)) return yield* new NotFound()
  const { block, entries } = found.value
  const [{ leaves } = { leaves: [] }] = yield* certificates.blocks(id, { from: block, limit: 1 })
  const hashes = leaves.map(hexOf)
  const indexOf = (entry: string) => hashes.indexOf(hexOf(entryHash(hashing, entry)))
  const entry = entries.find((each) => indexOf(each) !== -1)
  if (entry === undefined) return yield* new NotFound()
  const inBlock = indexOf(entry)
  const blocks = yield* certificates.bounds(id, { from: 0, limit: Math.ceil(size / blockSize) })
  const above = inclusionPath(
    digest,
    blocks.map(({ hash }) => hash),
    block
  )
  const path = [...inclusionPath(digest, leaves, inBlock), ...above].map(hexOf)
  return { leaf_index: block * blockSize + inBlock, entry, path } satisfies Proof
})

/** Nodes of whole blocks. */
const nodesOfBlocks = Effect.fnUntraced(function* (
  { certificates, hashing }: Ports,
  id: CertificateId,
  size: number,
  { from, level, limit }: NodeRange
) {
  const width = 2 ** (level - blockLevel)
  const all = Math.ceil(size / blockSize)
  const start = Math.min(from * width, all)
  const count = Math.min(limit * width, all - start)
  const blocks = yield* certificates.bounds(id, { from: start, limit: count })
  return Array.from({ length: Math.ceil(blocks.length / width) }, (_, index): TreeNode => {
    const own = blocks.slice(index * width, (index + 1) * width)
    const before = (start + index * width) * blockSize
    return {
      index: from + index,
      first: own[0]?.first ?? null,
      last: own.at(-1)?.last ?? null,
      count: Math.min(size - before, width * blockSize),
      hash: hexOf(
        treeHash(
          hashing.digest,
          own.map(({ hash }) => hash)
        )
      )
    }
  })
})

/** Nodes within blocks. */
const nodesInBlocks = Effect.fnUntraced(function* (
  { certificates, hashing }: Ports,
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
        hash: hexOf(treeHash(hashing.digest, leaves.slice(start, end)))
      }
    })
  )
  return nodes.filter(({ index }) => index >= from && index < from + limit)
})

/** Nodes of an issued certificate. */
export const nodesOf = (ports: Ports, id: CertificateId, size: number, range: NodeRange) =>
  range.level < blockLevel ? nodesInBlocks(ports, id, range) : nodesOfBlocks(ports, id, size, range)
