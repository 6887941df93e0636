/**
 * How many bytes of request bodies one process holds in memory at once. A body holds its part until
 * the answer has left, which may be as large as the body. When the budget is spent, the exchanges
 * are given up whose bodies arrive, or whose answers are read, most slowly: so clients that are
 * slow cannot keep out one that is not.
 */

/** One body that holds a part of the budget. */
export interface BodyReservation {
  bytes: number
  /** When it began to arrive, or its answer to leave. Epoch milliseconds. */
  startedAt: number
  /** Gives the exchange up; called at most once, while something of it arrives or leaves. */
  readonly evict: () => void
}

/** What has been arriving or leaving for so long may be given up for another. Milliseconds. */
export const graceMillis = 1_000

/** Slow exchanges are given up until this share of the budget is free, so that it happens seldom. */
const freed = 1 / 16

export class BodyBudget {
  readonly limit: number
  #used = 0
  /** Those that wait for their clients. */
  readonly #moving = new Set<BodyReservation>()

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
    this.#moving.add(body)
    return true
  }

  /** The body has arrived; it keeps what it holds, and is not given up while it is worked on. */
  complete(body: BodyReservation): void {
    this.#moving.delete(body)
  }

  /** Its answer begins to leave at `now`. */
  answer(body: BodyReservation, now: number): void {
    body.startedAt = now
    if (body.bytes > 0) this.#moving.add(body)
  }

  /** Gives back all that the body holds. A second time changes nothing. */
  release(body: BodyReservation): void {
    this.#moving.delete(body)
    this.#used -= body.bytes
    body.bytes = 0
  }

  #fits(bytes: number): boolean {
    return this.#used + bytes <= this.limit
  }

  #makeRoom(bytes: number, wanting: BodyReservation, now: number): void {
    const rate = ({ bytes, startedAt }: BodyReservation) => bytes / (now - startedAt)
    const slowestFirst = [...this.#moving]
      .filter((body) => body !== wanting && now - body.startedAt >= graceMillis)
      .sort((one, other) => rate(one) - rate(other))
    for (const slow of slowestFirst) {
      if (this.#fits(bytes + this.limit * freed)) return
      this.release(slow)
      slow.evict()
    }
  }
}
