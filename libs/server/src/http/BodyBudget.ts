/**
 * Limits the memory for request bodies and their answers in one process. An exchange holds the
 * larger of its body and its answer until the answer has left. When the budget is spent, exchanges
 * that wait for their clients are evicted, the costliest first.
 *
 * The cost of an exchange is its expected duration × all bytes of its holder. The duration follows
 * from the transfer rate: the bytes of the body that have arrived, and then the bytes of the answer
 * that have left. So a client that reads nothing is evicted before one that reads or sends slowly,
 * and a holder of much memory before a holder of little.
 */
import { bodyBytes } from "@data-import/api/Limits"
import { LinkedSet } from "@data-import/domain/support/LinkedSet"

/** The part of the budget that one exchange holds. */
export interface BodyReservation {
  /** The organisation, or an empty text if it is unknown. */
  readonly holder: string
  bytes: number
  /** When the body began to arrive, or its answer to be sent. Epoch milliseconds. */
  startedAt: number
  /** The bytes of the body that have arrived, or of its answer that were sent, since then. */
  readonly moved: () => number
  /** Ends the exchange. Called at most once, during a transfer. */
  readonly evict: () => void
}

/** An exchange is not evicted before its transfer has lasted this long. Milliseconds. */
export const graceMillis = 1_000

/** Evictions free this part of the budget, so that they are rare. */
const freed = 1 / 16

/** Below this part of the budget, the bytes of a holder do not count towards the cost. */
const little = 1 / 16

export class BodyBudget {
  readonly limit: number
  /** The most bytes of one holder. */
  readonly #quota: number
  #used = 0
  readonly #held = new Map<string, number>()
  /** The exchanges that wait for their clients. */
  readonly #moving = new LinkedSet<BodyReservation>()

  /**
   * @param limit in bytes
   * @param quota of one holder in bytes; at least one body, and half of the limit unless given
   */
  constructor(limit: number, quota: number = Math.max(limit / 2, bodyBytes)) {
    this.limit = limit
    this.#quota = quota
  }

  /** Bytes that are reserved right now. */
  get used(): number {
    return this.#used
  }

  /** Reserves more bytes for a body that is arriving at `now`. False if there is no room. */
  reserve(body: BodyReservation, bytes: number, now: number): boolean {
    if (!this.#fits(body, bytes)) this.#makeRoom(body, bytes, now)
    if (!this.#fits(body, bytes)) return false
    this.#add(body, bytes)
    this.#moving.add(body)
    return true
  }

  /** The body has arrived. It stays reserved, and is not evicted during processing. */
  complete(body: BodyReservation): void {
    this.#moving.delete(body)
  }

  /**
   * An answer of this many bytes begins to be sent at `now`. False if there is no room for it. An
   * answer that is larger than a quota counts as one quota.
   */
  answer(body: BodyReservation, bytes: number, now: number): boolean {
    body.startedAt = now
    const counted = Math.min(bytes, this.#quota, this.limit)
    if (counted > body.bytes) return this.reserve(body, counted - body.bytes, now)
    if (body.bytes > 0) this.#moving.add(body)
    return true
  }

  /** Releases all bytes of the exchange. Idempotent. */
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

  #fitsQuota({ holder }: BodyReservation, bytes: number): boolean {
    return this.#heldBy(holder) + bytes <= this.#quota
  }

  #fits(body: BodyReservation, bytes: number): boolean {
    return this.#used + bytes <= this.limit && this.#fitsQuota(body, bytes)
  }

  /** A holder that has used up its quota evicts its own exchanges only. */
  #makeRoom(requester: BodyReservation, bytes: number, now: number): void {
    const ofAll = this.#costliest(requester, now)
    const own = ofAll.filter(({ holder }) => holder === requester.holder)
    const enough = bytes + this.limit * freed
    if (!this.#fitsQuota(requester, bytes)) {
      this.#evict(own, () => this.#fitsQuota(requester, enough))
    }
    if (!this.#fitsQuota(requester, bytes)) return
    this.#evict(ofAll, () => this.#used + enough <= this.limit)
  }

  /** The exchanges that may be evicted for this one, the costliest first. */
  #costliest(requester: BodyReservation, now: number): ReadonlyArray<BodyReservation> {
    const cost = (body: BodyReservation): number => {
      const millis = (body.bytes * (now - body.startedAt)) / Math.max(body.moved(), 1)
      return millis * Math.max(this.#heldBy(body.holder), this.limit * little)
    }
    return [...this.#moving]
      .filter((body) => body !== requester && now - body.startedAt >= graceMillis)
      .map((body) => ({ body, cost: cost(body) }))
      .sort((one, other) => other.cost - one.cost)
      .map(({ body }) => body)
  }

  #evict(bodies: ReadonlyArray<BodyReservation>, isEnough: () => boolean): void {
    for (const body of bodies) {
      if (isEnough()) return
      if (!this.#moving.has(body)) continue
      this.release(body)
      body.evict()
    }
  }
}
