/**
 * The tree of a certificate, made from its entries in any order. Memory holds only the account
 * number and the leaf of each.
 */
import { type Leaves, treeHash } from "../merkle/InclusionProof.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { compareCodePoints } from "../support/CodePoints.ts"

const leafBytes = 32

export class LocalTree {
  readonly #numbers: Array<string> = []
  #leaves = new Uint8Array(leafBytes * 1_024)

  /** Adds an account, which must not be in the tree. */
  add(number: string, leaf: Uint8Array): void {
    const offset = this.#numbers.length * leafBytes
    if (offset === this.#leaves.length) {
      const larger = new Uint8Array(offset * 2)
      larger.set(this.#leaves)
      this.#leaves = larger
    }
    this.#leaves.set(leaf, offset)
    this.#numbers.push(number)
  }

  get size(): number {
    return this.#numbers.length
  }

  /** The root over the accounts in the order of their numbers. */
  root({ digest }: Pick<Hashing["Service"], "digest">): Uint8Array {
    return treeHash(digest, this.#sorted())
  }

  #sorted(): Leaves {
    const numbers = this.#numbers
    const order = Uint32Array.from(numbers.keys()).sort((one, other) =>
      compareCodePoints(numbers[one] as string, numbers[other] as string)
    )
    const at = (index: number): Uint8Array => {
      const offset = (order[index] as number) * leafBytes
      return this.#leaves.subarray(offset, offset + leafBytes)
    }
    return { length: order.length, at }
  }
}
