/**
 * The Merkle tree of a list, for the sealed audit log and for certificates. Hashes are raw bytes.
 * Source: RFC 9162, section 2.1.1, with SHA-256.
 */
import type { Hashing } from "../requests/Hashing.ts"

type Digest = Hashing["Service"]["digest"]

const prefixed = (prefix: number, ...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 1))
  bytes[0] = prefix
  let at = 1
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

export const leafHash = (digest: Digest, entry: Uint8Array): Uint8Array =>
  digest(prefixed(0, entry))

const encoder = new TextEncoder()

/** The leaf of a text in UTF-8. Its prefix is a character of the text, so that nothing is copied. */
export const leafHashOfText = (digest: Digest, text: string): Uint8Array =>
  digest(encoder.encode(`\0${text}`))

export const nodeHash = (digest: Digest, left: Uint8Array, right: Uint8Array): Uint8Array =>
  digest(prefixed(1, left, right))

/** A tree that grows at its end. It keeps one hash for each perfect subtree: O(log n) memory. */
export interface GrowingTree {
  readonly append: (leaf: Uint8Array) => void
  readonly size: () => number
  readonly root: () => Uint8Array
  /** The hashes of the perfect subtrees, the largest first. With the size, they are the tree. */
  readonly frontier: () => ReadonlyArray<Uint8Array>
}

/** Grows an empty tree, or the tree of this size and frontier. */
export const makeGrowingTree = (
  digest: Digest,
  from: { readonly size: number; readonly frontier: ReadonlyArray<Uint8Array> } = {
    size: 0,
    frontier: []
  }
): GrowingTree => {
  let size = from.size
  const nodes = [...from.frontier]
  return {
    append: (leaf) => {
      size += 1
      let hash = leaf
      for (let width = size; width % 2 === 0; width /= 2) {
        hash = nodeHash(digest, nodes.pop() as Uint8Array, hash)
      }
      nodes.push(hash)
    },
    size: () => size,
    root: () => {
      const last = nodes.at(-1)
      if (last === undefined) return digest(new Uint8Array())
      return nodes.slice(0, -1).reduceRight((right, left) => nodeHash(digest, left, right), last)
    },
    frontier: () => [...nodes]
  }
}
