/**
 * How many bytes of request bodies and their answers one process holds in memory at once. An
 * exchange holds the larger of its body and its answer, until the answer has left. When the budget
 * is spent, exchanges are given up that wait for their clients: first those that will hold the most
 * for the longest.
 *
 * Measured is what moves over the client's connection: the bytes of the body that have arrived, and
 * then the bytes of the answer that have left. At this pace, an exchange takes its bytes × the time
 * that has passed / the bytes that have moved. This time × what its holder holds in all is its
 * cost. So those who read nothing go before those who read or send slowly, and one who holds much
 * goes before one who holds little.
 */
import { bodyBytes } from "@data-import/api/Limits"

/** One body that holds a part of the budget. */
export interface BodyReservation {
  /** Whose it is: an organisation, or nobody known. */
  readonly holder: string
  bytes: number
  /** When it began to arrive, or its answer to leave. Epoch milliseconds. */
  startedAt: number
  /** How many bytes of it have arrived, or of its answer have left, since then. */
  readonly moved: () => number
  /** Gives the exchange up; called at most once, while something of it arrives or leaves. */
  readonly evict: () => void
}

/** What has been arriving or leaving for so long may be given up for another. Milliseconds. */
export const graceMillis = 1_000

/** Exchanges are given up until this share of the budget is free, so that it happens seldom. */
const freed = 1 / 16

/** Holders of less than this share of the budget are told apart by their pace alone. */
const little = 1 / 16

export class BodyBudget {
  readonly limit: number
  /** What one holder may reserve. */
  readonly #share: number
  #used = 0
  readonly #held = new Map<string, number>()
  /** Those that wait for their clients. */
  readonly #moving = new Set<BodyReservation>()

  /**
   * @param limit in bytes
   * @param share of one holder, in bytes; half of the limit unless given, but one body at least
   */
  constructor(limit: number, share: number = Math.max(limit / 2, bodyBytes)) {
    this.limit = limit
    this.#share = share
  }

  /** Bytes that are reserved right now. */
  get used(): number {
    return this.#used
  }

  /** Reserves more bytes for a body of which something arrives at `now`; false if it cannot. */
  reserve(body: BodyReservation, bytes: number, now: number): boolean {
    if (!this.#fits(body, bytes)) this.#makeRoom(body, bytes, now)
    if (!this.#fits(body, bytes)) return false
    this.#add(body, bytes)
    this.#moving.add(body)
    return true
  }

  /** The body has arrived; it keeps what it holds, and is not given up while it is worked on. */
  complete(body: BodyReservation): void {
    this.#moving.delete(body)
  }

  /**
   * Its answer of so many bytes begins to leave at `now`; false if there is no room for it. One that
   * is larger than a whole share counts as that.
   */
  answer(body: BodyReservation, bytes: number, now: number): boolean {
    body.startedAt = now
    const counted = Math.min(bytes, this.#share, this.limit)
    if (counted > body.bytes) return this.reserve(body, counted - body.bytes, now)
    if (body.bytes > 0) this.#moving.add(body)
    return true
  }

  /** Gives back all that the body holds. A second time changes nothing. */
  release(body: BodyReservation): void {
    this.#moving.delete(body)
    this.#add(body, -body.bytes)
  }

  #heldBy(holder: string): number {
    return this.#held.get(holder) ?? 0
  }

  #add(body: BodyReservation, bytes: number): void {
    this.#used += bytes
    body.bytes += bytes
    const held = this.#heldBy(body.holder) + bytes
    if (held === 0) this.#held.delete(body.holder)
    else this.#held.set(body.holder, held)
  }

  #fitsShare({ holder }: BodyReservation, bytes: number): boolean {
    return this.#heldBy(holder) + bytes <= this.#share
  }

  #fits(body: BodyReservation, bytes: number): boolean {
    return this.#used + bytes <= this.limit && this.#fitsShare(body, bytes)
  }

  /** A holder who has no room in its share makes room at its own expense. */
  #makeRoom(wanting: BodyReservation, bytes: number, now: number): void {
    const ofAll = this.#costliest(wanting, now)
    const own = ofAll.filter(({ holder }) => holder === wanting.holder)
    const enough = bytes + this.limit * freed
    if (!this.#fitsShare(wanting, bytes)) {
      this.#giveUp(own, () => this.#fitsShare(wanting, enough))
    }
    if (!this.#fitsShare(wanting, bytes)) return
    this.#giveUp(ofAll, () => this.#used + enough <= this.limit)
  }

  /** Those that may be given up for another one, the costliest first. */
  #costliest(wanting: BodyReservation, now: number): ReadonlyArray<BodyReservation> {
    const cost = (body: BodyReservation): number => {
      const millis = (body.bytes * (now - body.startedAt)) / Math.max(body.moved(), 1)
      return millis * Math.max(this.#heldBy(body.holder), this.limit * little)
    }
    return [...this.#moving]
      .filter((body) => body !== wanting && now - body.startedAt >= graceMillis)
      .map((body) => ({ body, cost: cost(body) }))
      .sort((one, other) => other.cost - one.cost)
      .map(({ body }) => body)
  }

  #giveUp(bodies: ReadonlyArray<BodyReservation>, isEnough: () => boolean): void {
    for (const body of bodies) {
      if (isEnough()) return
      if (!this.#moving.has(body)) continue
      this.release(body)
      body.evict()
    }
  }
}
