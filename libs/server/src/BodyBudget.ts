/**
 * How many bytes of request bodies one process holds in memory at once. Whoever wants more than is
 * left makes room first at the cost of the bodies that have stalled the longest, so that clients
 * that send slowly cannot keep out one that sends at once.
 */

/** One body: what it holds of the budget, and since when nothing of it has arrived. */
export interface BodyReservation {
  bytes: number
  /** Epoch milliseconds. */
  lastProgressAt: number
  /** Gives the body up; called at most once, while it is still arriving. */
  readonly evict: () => void
}

/** A body on which nothing arrived for so long may be given up for another. Milliseconds. */
export const stalledAfter = 1_000

export class BodyBudget {
  readonly limit: number
  #used = 0
  /** Those still arriving; the one whose last progress is longest ago stands first. */
  readonly #arriving = new Set<BodyReservation>()

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Bytes that are reserved right now. */
  get used(): number {
    return this.#used
  }

  /** Reserves more bytes for a body of which something has arrived at `now`; false if it cannot. */
  reserve(body: BodyReservation, bytes: number, now: number): boolean {
    this.#arriving.delete(body)
    if (!this.#makeRoom(bytes, now)) return false
    this.#used += bytes
    body.bytes += bytes
    body.lastProgressAt = now
    this.#arriving.add(body)
    return true
  }

  /** The body has arrived; it keeps what it holds and is not given up any more. */
  complete(body: BodyReservation): void {
    this.#arriving.delete(body)
  }

  /** Gives back all that the body holds. A second time changes nothing. */
  release(body: BodyReservation): void {
    this.#arriving.delete(body)
    this.#used -= body.bytes
    body.bytes = 0
  }

  #makeRoom(bytes: number, now: number): boolean {
    for (const stalled of this.#arriving) {
      if (this.#used + bytes <= this.limit || now - stalled.lastProgressAt < stalledAfter) break
      this.release(stalled)
      stalled.evict()
    }
    return this.#used + bytes <= this.limit
  }
}
