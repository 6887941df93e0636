/**
 * Permits with two waiting queues. Requests that have started are served before requests that have
 * not, and each queue is first come, first served. The queues measure their service rate, from
 * which the expected wait of a newcomer follows. Effect's `Semaphore` has one queue, and does not
 * show how many wait in it or for how long, so load could not be shed by it.
 */
import { Effect, Exit } from "effect"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"

type Admitted = Effect.Effect<void, StorageUnavailable>

interface Waiter {
  readonly since: number
  readonly resume: (admitted: Admitted) => void
  /** Set when a permit is handed over. A waiter that is interrupted then must release it. */
  hasPermit: boolean
}

class WaitingQueue {
  readonly #waiting = new Set<Waiter>()
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
    const [first] = this.#waiting
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

  /** Ends every wait. */
  refuse(refusal: StorageUnavailable): void {
    const refused = [...this.#waiting]
    this.#waiting.clear()
    for (const { resume } of refused) resume(Effect.fail(refusal))
  }

  /** Removes the first waiter and returns it; undefined if the queue is empty. */
  next(): Waiter | undefined {
    const [waiter] = this.#waiting
    if (waiter === undefined) return undefined
    this.#waiting.delete(waiter)
    this.#served += 1
    return waiter
  }
}

export class PriorityPermits {
  readonly #started: WaitingQueue
  readonly #fresh: WaitingQueue
  #free: number

  constructor(permits: number) {
    this.#started = new WaitingQueue(permits)
    this.#fresh = new WaitingQueue(permits)
    this.#free = permits
  }

  /** How many are free. */
  get free(): number {
    return this.#free
  }

  /** How many wait. */
  get size(): number {
    return this.#started.size + this.#fresh.size
  }

  /** How long a newcomer would wait in the slower queue, in milliseconds. */
  expectedWait(now: number): number {
    return Math.max(this.#started.expectedWait(now), this.#fresh.expectedWait(now))
  }

  /** Takes a permit if one is free, and returns whether it did. */
  takeIfFree(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** Hands a permit to the next waiter, or frees it. */
  readonly release: Effect.Effect<void> = Effect.suspend(() => {
    const waiter = this.#started.next() ?? this.#fresh.next()
    if (waiter === undefined) this.#free += 1
    else {
      waiter.hasPermit = true
      waiter.resume(Effect.void)
    }
    return Effect.void
  })

  /** Ends every wait with a refusal. */
  refuse(refusal: StorageUnavailable): void {
    this.#started.refuse(refusal)
    this.#fresh.refuse(refusal)
  }

  /** Waits for a permit. */
  wait(hasStarted: boolean, since: number): Admitted {
    const queue = hasStarted ? this.#started : this.#fresh
    return Effect.suspend(() => {
      let waiter: Waiter | undefined
      const waiting = Effect.callback<void, StorageUnavailable>((resume) => {
        waiter = queue.add(since, resume)
      })
      return Effect.onExit(waiting, (exit) => {
        if (waiter === undefined || Exit.isSuccess(exit)) return Effect.void
        queue.delete(waiter)
        return waiter.hasPermit ? this.release : Effect.void
      })
    })
  }
}
