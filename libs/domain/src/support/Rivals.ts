/** Who else wants what is scarce. Only where somebody does, must one leave a part of it to others. */

interface Wish<Key> {
  readonly key: Key
  at: number
}

export class Rivals<Key> {
  readonly #lasting: number
  #latest: Wish<Key> | undefined
  /** The latest wish of another key than that of `#latest`. */
  #other: Wish<Key> | undefined

  /** @param lasting for how long others are considered after they last wanted a part */
  constructor(lasting: number) {
    this.#lasting = lasting
  }

  /** Notes that the key wants a part now, in the unit of `lasting`, of any clock. */
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
    return rival !== undefined && now - rival.at < this.#lasting
  }
}
