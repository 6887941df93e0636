/**
 * Permits with two waiting queues for each organisation. Requests that have started are served
 * before requests that have not, each queue is first come, first served, and organisations are
 * served in turn, each within its share. Work that is shared, or of nobody, has no limit to its
 * share. The queues measure their service rate, from which the expected wait of a newcomer follows.
 * Effect's `Semaphore` has one queue, and does not show how many wait in it or for how long, so
 * load could not be shed by it.
 */
import { Effect, Exit } from "effect"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type { Holder } from "@data-import/domain/support/Holder"
import { LinkedSet } from "@data-import/domain/support/LinkedSet"
import { Shares } from "@data-import/domain/support/Shares"

type Admitted = Effect.Effect<void, StorageUnavailable>

interface Waiter {
  readonly since: number
  readonly resume: (admitted: Admitted) => void
  /** Set when a permit is handed over. A waiter that is interrupted then must release it. */
  hasPermit: boolean
}

class WaitingQueue {
  readonly #waiting = new LinkedSet<Waiter>()
  readonly #permits: number
  /** When the queue last stopped being empty, in milliseconds. */
  #busySince = 0
  /** How many were served since then. */
  #served = 0

  constructor(permits: number) {
    this.#permits = permits
  }

  get size(): number {
    return this.#waiting.size
  }

  /**
   * The longer of how long the first has waited and how long all would take at the present service
   * rate. Permits that were taken together may be released together, so the rate is estimated for a
   * round of permits and not for the first of them.
   */
  expectedWait(now: number): number {
    const { first } = this.#waiting
    if (first === undefined) return 0
    const perWaiter = (now - this.#busySince) / Math.max(this.#served, this.#permits)
    return Math.max(now - first.since, this.#waiting.size * perWaiter)
  }

  add(since: number, resume: Waiter["resume"]): Waiter {
    if (this.#waiting.size === 0) {
      this.#busySince = since
      this.#served = 0
    }
    const waiter = { since, resume, hasPermit: false }
    this.#waiting.add(waiter)
    return waiter
  }

  delete(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  /** Removes the first waiter and returns it; undefined if the queue is empty. */
  next(): Waiter | undefined {
    const waiter = this.#waiting.first
    if (waiter === undefined) return undefined
    this.#waiting.delete(waiter)
    this.#served += 1
    return waiter
  }
}

/** The queues of one priority. Those that are empty are forgotten. */
class Queues {
  readonly #permits: number
  /** The next in turn first. */
  readonly #queues = new Map<Holder, WaitingQueue>()
  #size = 0

  constructor(permits: number) {
    this.#permits = permits
  }

  get size(): number {
    return this.#size
  }

  sizeOf(holder: Holder): number {
    return this.#queues.get(holder)?.size ?? 0
  }

  expectedWait(holder: Holder, now: number): number {
    return this.#queues.get(holder)?.expectedWait(now) ?? 0
  }

  add(holder: Holder, since: number, resume: Waiter["resume"]): Waiter {
    const queue = this.#queues.get(holder) ?? new WaitingQueue(this.#permits)
    this.#queues.set(holder, queue)
    this.#size += 1
    return queue.add(since, resume)
  }

  delete(holder: Holder, waiter: Waiter): void {
    const queue = this.#queues.get(holder)
    const before = queue?.size ?? 0
    queue?.delete(waiter)
    this.#size -= before - (queue?.size ?? 0)
    if (queue?.size === 0) this.#queues.delete(holder)
  }

  /** Removes the next waiter in turn whose holder may have a permit. */
  next(mayHave: (holder: Holder) => boolean): readonly [Holder, Waiter] | undefined {
    for (const [holder, queue] of this.#queues) {
      if (!mayHave(holder)) continue
      const waiter = queue.next()
      this.#queues.delete(holder)
      if (queue.size > 0) this.#queues.set(holder, queue)
      if (waiter === undefined) continue
      this.#size -= 1
      return [holder, waiter]
    }
    return undefined
  }
}

export class PriorityPermits {
  readonly #started: Queues
  readonly #fresh: Queues
  readonly #shares: Shares<Holder>

  constructor(permits: number) {
    this.#started = new Queues(permits)
    this.#fresh = new Queues(permits)
    this.#shares = new Shares(permits)
  }

  /** How many are free. */
  get free(): number {
    return this.#shares.free
  }

  /** How many wait. */
  get size(): number {
    return this.#started.size + this.#fresh.size
  }

  /** How many wait for the holder. */
  sizeOf(holder: Holder): number {
    return this.#started.sizeOf(holder) + this.#fresh.sizeOf(holder)
  }

  /** How long a newcomer would wait in the slower queue of the holder, in milliseconds. */
  expectedWait(holder: Holder, now: number): number {
    return Math.max(this.#started.expectedWait(holder, now), this.#fresh.expectedWait(holder, now))
  }

  /** Whether others want permits as well. */
  hasRival(holder: Holder, now: number): boolean {
    return this.#shares.hasRival(holder, now)
  }

  /** Whether the holder may have a free permit at `now`. */
  mayHave(holder: Holder, now: number): boolean {
    return holder === undefined || !this.#shares.isFull(holder, now)
  }

  /** Takes a permit if the holder may have a free one, and returns whether it did. */
  takeIfFree(holder: Holder, now: number): boolean {
    if (holder !== undefined) this.#shares.want(holder, now)
    if (this.free === 0 || !this.mayHave(holder, now)) return false
    this.#shares.take(holder)
    return true
  }

  /** Hands the permit of the holder to the next waiter, or frees it. */
  release(holder: Holder, now: number): void {
    this.#shares.release(holder)
    this.#handOver(now)
  }

  #handOver(now: number): void {
    while (this.free > 0) {
      const mayHave = (holder: Holder) => this.mayHave(holder, now)
      const next = this.#started.next(mayHave) ?? this.#fresh.next(mayHave)
      if (next === undefined) return
      const [holder, waiter] = next
      this.#shares.take(holder)
      waiter.hasPermit = true
      waiter.resume(Effect.void)
    }
  }

  /** Ends every wait with a refusal. */
  refuse(refusal: StorageUnavailable): void {
    for (const queues of [this.#started, this.#fresh]) {
      for (let next = queues.next(() => true); next !== undefined; next = queues.next(() => true)) {
        next[1].resume(Effect.fail(refusal))
      }
    }
  }

  /** Waits for a permit. `now` is called when a wait that has just got one is interrupted. */
  wait(holder: Holder, hasStarted: boolean, now: () => number): Admitted {
    const queues = hasStarted ? this.#started : this.#fresh
    return Effect.suspend(() => {
      let waiter: Waiter | undefined
      const waiting = Effect.callback<void, StorageUnavailable>((resume) => {
        const at = now()
        // A permit may have become free since the caller found none.
        if (this.takeIfFree(holder, at)) {
          waiter = { since: at, resume, hasPermit: true }
          resume(Effect.void)
        } else waiter = queues.add(holder, at, resume)
      })
      return Effect.onExit(waiting, (exit) =>
        Effect.sync(() => {
          if (waiter === undefined || Exit.isSuccess(exit)) return
          queues.delete(holder, waiter)
          if (waiter.hasPermit) this.release(holder, now())
        })
      )
    })
  }
}
