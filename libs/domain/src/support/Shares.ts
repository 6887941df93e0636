/**
 * Divides what is scarce over those who hold it, for example permits over organisations. None gets
 * more than half while another wants some, and the last part is never given to one that has half
 * of them: so whoever comes next need not wait for the longest work of somebody else. It counts
 * only; queues and leases decide by it whose turn it is.
 */

/** Others are considered for so long after they last wanted a part. Milliseconds. */
const rivalFor = 10_000

/** Those that hold half of the parts or more. */
export interface Busy<Key> {
  readonly keys: ReadonlyArray<Key>
  /** Whether they get nothing, because what is left is for others. */
  readonly wait: boolean
}

interface Wish<Key> {
  readonly key: Key
  at: number
}

export class Shares<Key> {
  readonly #total: number
  readonly #half: number
  readonly #held = new Map<Key, number>()
  #used = 0
  #latest: Wish<Key> | undefined
  /** The latest wish of another key than that of `#latest`. */
  #other: Wish<Key> | undefined

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
    if (this.#latest?.key === key) {
      this.#latest.at = now
      return
    }
    this.#other = this.#latest
    this.#latest = { key, at: now }
  }

  /** Whether another key wanted a part lately. */
  hasRival(key: Key, now: number): boolean {
    const rival = this.#latest?.key === key ? this.#other : this.#latest
    return rival !== undefined && now - rival.at < rivalFor
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
