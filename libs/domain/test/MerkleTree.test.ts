/** Merkle trees against the definition of RFC 9162 and its published vectors. */
import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { inclusionPath, isIncluded, nodeOfLevel, treeHash } from "../src/merkle/InclusionProof.ts"
import { leafHash, makeGrowingTree, nodeHash } from "../src/merkle/MerkleTree.ts"
import { bytesOf, hexOf } from "../src/support/Hexadecimal.ts"
import { hashing } from "../testing/memory/Hashing.ts"

/** The leaves and the roots of their first 0 to 8 in the tests of Certificate Transparency. */
const leaves = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f"
]
const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
]

/** Audit paths of the same tests, by the index of the leaf and the size of the tree. */
const paths = [
  [0, 1, []],
  [
    0,
    8,
    [
      "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
    ]
  ],
  [
    5,
    8,
    [
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
    ]
  ],
  [2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]],
  [
    1,
    5,
    [
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
    ]
  ]
] as const

type Digest = typeof hashing.digest

/** The definition, word for word: k is the largest power of two smaller than n. */
const definedRoot = (digest: Digest, hashes: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = hashes
  if (only === undefined) return digest(new Uint8Array())
  if (hashes.length === 1) return only
  let k = 1
  while (k * 2 < hashes.length) k *= 2
  return nodeHash(
    digest,
    definedRoot(digest, hashes.slice(0, k)),
    definedRoot(digest, hashes.slice(k))
  )
}

const { digest } = hashing

describe("MerkleTree", () => {
  it("has the published roots", () => {
    const tree = makeGrowingTree(digest)
    const found = [hexOf(tree.root())]
    for (const leaf of leaves) {
      tree.append(leafHash(digest, bytesOf(leaf)))
      found.push(hexOf(tree.root()))
    }
    expect(found).toStrictEqual(roots)
  })

  it("grows from any size to the defined root", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.uint8Array({ maxLength: 3 }), { maxLength: 40 }),
        FastCheck.nat(40),
        (entries, at) => {
          const hashes = entries.map((entry) => leafHash(digest, entry))
          const before = makeGrowingTree(digest)
          hashes.slice(0, at).forEach(before.append)
          const after = makeGrowingTree(digest, {
            size: before.size(),
            frontier: before.frontier()
          })
          hashes.slice(at).forEach(after.append)
          expect(after.size()).toBe(entries.length)
          expect(after.root()).toStrictEqual(definedRoot(digest, hashes))
        }
      ),
      { numRuns: 50 }
    )
  })

  it("has the published audit paths", () => {
    const hashes = leaves.map((leaf) => leafHash(digest, bytesOf(leaf)))
    for (const [index, size, path] of paths) {
      const found = inclusionPath(digest, hashes.slice(0, size), index)
      expect(found.map(hexOf)).toStrictEqual(path)
    }
  })

  it("proves the inclusion of every leaf, and of no other", () => {
    const hashes = Array.from({ length: 34 }, (_, at) => leafHash(digest, Uint8Array.of(at)))
    for (const size of [1, 2, 3, 7, 8, 9, 15, 17, 33]) {
      const tree = hashes.slice(0, size)
      const root = treeHash(digest, tree)
      expect(root).toStrictEqual(definedRoot(digest, tree))
      for (const [index, leaf] of tree.entries()) {
        const proof = { leaf, index, size, path: inclusionPath(digest, tree, index) }
        expect(isIncluded(digest, proof, root)).toBe(true)
        const wrong = [
          { ...proof, leaf: hashes[33] as Uint8Array },
          { ...proof, index: index + 1 },
          { ...proof, index: index - size },
          { ...proof, path: [...proof.path, root] },
          { ...proof, size: size * 2 }
        ]
        expect(wrong.filter((each) => isIncluded(digest, each, root))).toEqual([])
      }
      for (const [level, index] of [
        [0, size - 1],
        [1, 0],
        [2, Math.floor((size - 1) / 4)],
        [6, 0]
      ] as const) {
        const covered = tree.slice(index * 2 ** level, (index + 1) * 2 ** level)
        const node = nodeOfLevel(digest, tree, { index, level })
        expect(node).toStrictEqual(definedRoot(digest, covered))
      }
    }
  })
})
