/**
 * How many bytes of request bodies one process holds in memory at once. When they are spent, the
 * bodies that arrive most slowly are given up, so that clients that send slowly cannot keep out one
 * that sends at once.
 */

/** One body that holds a part of the budget. */
export interface BodyReservation {
  bytes: number
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Gives the body up; called at most once, while it is still arriving. */
  readonly evict: () => void
}

/** A body that has been arriving for so long may be given up for another. Milliseconds. */
export const graceMillis = 1_000

/** Slow bodies are given up until this share of the budget is free, so that it happens seldom. */
const freed = 1 / 16

export class BodyBudget {
  readonly limit: number
  #used = 0
  readonly #arriving = new Set<BodyReservation>()

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Bytes that are reserved right now. */
  get used(): number {
    return this.#used
  }

  /** Reserves more bytes for a body of which something arrives at `now`; false if it cannot. */
  reserve(body: BodyReservation, bytes: number, now: number): boolean {
    if (!this.#fits(bytes)) this.#makeRoom(bytes, body, now)
    if (!this.#fits(bytes)) return false
    this.#used += bytes
    body.bytes += bytes
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

  #fits(bytes: number): boolean {
    return this.#used + bytes <= this.limit
  }

  #makeRoom(bytes: number, wanting: BodyReservation, now: number): void {
    const rate = ({ bytes, startedAt }: BodyReservation) => bytes / (now - startedAt)
    const slowestFirst = [...this.#arriving]
      .filter((body) => body !== wanting && now - body.startedAt >= graceMillis)
      .sort((one, other) => rate(one) - rate(other))
    for (const slow of slowestFirst) {
      if (this.#fits(bytes + this.limit * freed)) return
      this.release(slow)
      slow.evict()
    }
  }
}
