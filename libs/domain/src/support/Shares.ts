/**
 * Divides what is scarce over those who hold it, for example permits over organisations. None gets
 * more than half while another wants some, and the last part is never given to one that has half
 * of them: so whoever comes next need not wait for the longest work of somebody else. It counts
 * only; queues and leases decide by it whose turn it is.
 */
import { Rivals } from "./Rivals.ts"

/** Others are considered for so long after they last wanted a part. Milliseconds. */
const rivalFor = 10_000

/** Those that hold half of the parts or more. */
export interface Busy<Key> {
  readonly keys: ReadonlyArray<Key>
  /** Whether they get nothing, because what is left is for others. */
  readonly wait: boolean
}

export class Shares<Key> {
  readonly #total: number
  readonly #half: number
  readonly #held = new Map<Key, number>()
  readonly #rivals = new Rivals<Key>(rivalFor)
  #used = 0

  /** @param total how many parts there are */
  constructor(total: number) {
    this.#total = total
    this.#half = Math.ceil(total / 2)
  }

  /** How many parts nobody holds. */
  get free(): number {
    return this.#total - this.#used
  }

  heldBy(key: Key): number {
    return this.#held.get(key) ?? 0
  }

  /** Notes that the key wants a part now, in milliseconds of any clock. */
  want(key: Key, now: number): void {
    this.#rivals.want(key, now)
  }

  /** Whether another key wanted a part lately. */
  hasRival(key: Key, now: number): boolean {
    return this.#rivals.hasRival(key, now)
  }

  /** Whether the key must leave what is free to others. */
  isFull(key: Key, now: number): boolean {
    if (this.heldBy(key) < this.#half) return false
    return this.free <= 1 || this.hasRival(key, now)
  }

  take(key: Key): void {
    this.#used += 1
    this.#held.set(key, this.heldBy(key) + 1)
  }

  release(key: Key): void {
    const left = this.heldBy(key) - 1
    this.#used -= 1
    if (left === 0) this.#held.delete(key)
    else this.#held.set(key, left)
  }

  /** Who comes after others for the next part. */
  get busy(): Busy<Key> {
    const keys = [...this.#held].flatMap(([key, held]) => (held >= this.#half ? [key] : []))
    return { keys, wait: this.free <= 1 }
  }
}
