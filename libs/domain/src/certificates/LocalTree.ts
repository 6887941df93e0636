/**
 * The tree of a certificate, made from its entries in any order. Memory holds only the account
 * number and the leaf of each.
 */
import { type Leaves, rangeHash, treeHash } from "../merkle/InclusionProof.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { compareCodePoints } from "../support/CodePoints.ts"

const leafBytes = 32

/** The accounts of a tree in the order of their numbers. */
export class SortedTree {
  readonly leaves: Leaves
  readonly numberAt: (index: number) => string

  constructor(leaves: Leaves, numberAt: SortedTree["numberAt"]) {
    this.leaves = leaves
    this.numberAt = numberAt
  }

  /** The index of the first account whose number is not before this one. */
  indexOf(number: string): number {
    let [low, high] = [0, this.leaves.length]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (compareCodePoints(this.numberAt(middle), number) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The hash of the tree of the accounts from `start` to before `end`. */
  hash({ digest }: Pick<Hashing["Service"], "digest">, start: number, end: number): Uint8Array {
    return rangeHash(digest, this.leaves, start, end)
  }
}

export class LocalTree {
  readonly #numbers: Array<string> = []
  #leaves = new Uint8Array(leafBytes * 1_024)
  #inOrder: SortedTree | null = null

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
    this.#inOrder = null
  }

  get size(): number {
    return this.#numbers.length
  }

  /** The root over the accounts in the order of their numbers. */
  root({ digest }: Pick<Hashing["Service"], "digest">): Uint8Array {
    return treeHash(digest, this.sorted().leaves)
  }

  /** The accounts in the order of their numbers. */
  sorted(): SortedTree {
    this.#inOrder ??= this.#sorted()
    return this.#inOrder
  }

  #sorted(): SortedTree {
    const numbers = this.#numbers
    const order = Uint32Array.from(numbers.keys()).sort((one, other) =>
      compareCodePoints(numbers[one] as string, numbers[other] as string)
    )
    const at = (index: number): Uint8Array => {
      const offset = (order[index] as number) * leafBytes
      return this.#leaves.subarray(offset, offset + leafBytes)
    }
    const numberAt = (index: number): string => numbers[order[index] as number] as string
    return new SortedTree({ length: order.length, at }, numberAt)
  }
}
