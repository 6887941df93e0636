/** Merkle trees against the definition of RFC 9162 and its published vectors. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as FastCheck from "fast-check"
import { leafHash, makeGrowingTree, nodeHash } from "../src/merkle/MerkleTree.ts"
import { Hashing } from "../src/requests/Hashing.ts"
import { bytesOf, hexOf } from "../src/support/Hexadecimal.ts"
import { layerMemory } from "../testing/memory/Hashing.ts"

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

type Digest = Hashing["Service"]["digest"]

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

const digested = Effect.map(Hashing, ({ digest }) => digest).pipe(Effect.provide(layerMemory))

describe("MerkleTree", () => {
  it.effect("has the published roots", () =>
    Effect.gen(function* () {
      const digest = yield* digested
      const tree = makeGrowingTree(digest)
      const found = [hexOf(tree.root())]
      for (const leaf of leaves) {
        tree.append(leafHash(digest, bytesOf(leaf)))
        found.push(hexOf(tree.root()))
      }
      expect(found).toStrictEqual(roots)
    })
  )

  it.effect("grows from any size to the defined root", () =>
    Effect.gen(function* () {
      const digest = yield* digested
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
  )
})
