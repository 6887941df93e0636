/** So many turns at once, and who waits for one. */
import { Effect, Exit } from "effect"

interface Waiter {
  readonly since: number
  readonly go: () => void
  /** A turn that is given to a waiter who leaves in the same moment must not be lost. */
  hasPermit: boolean
}

/** Who waits for the same, first come, first served. */
class Queue {
  readonly #waiting = new Set<Waiter>()
  readonly #turns: number
  /** Since when somebody has waited all the time, in milliseconds, and how many have left since. */
  #busySince = 0
  #left = 0

  constructor(turns: number) {
    this.#turns = turns
  }

  get size(): number {
    return this.#waiting.size
  }

  /**
   * As long as the first has waited already, and as all will who wait at the pace so far. Turns
   * that were taken at once may end at once, so the pace is not judged by the first of them.
   */
  expectedWait(now: number): number {
    const [first] = this.#waiting
    if (first === undefined) return 0
    const pace = (now - this.#busySince) / Math.max(this.#left, this.#turns)
    return Math.max(now - first.since, this.#waiting.size * pace)
  }

  add(since: number, go: () => void): Waiter {
    if (this.#waiting.size === 0) {
      this.#busySince = since
      this.#left = 0
    }
    const waiter = { since, go, hasPermit: false }
    this.#waiting.add(waiter)
    return waiter
  }

  delete(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  /** The first, who leaves; undefined where nobody waits. */
  next(): Waiter | undefined {
    const [waiter] = this.#waiting
    if (waiter === undefined) return undefined
    this.#waiting.delete(waiter)
    this.#left += 1
    return waiter
  }
}

/** So many turns at once, and two queues for them: turns go to those who have begun first. */
export class PriorityPermits {
  readonly #begun: Queue
  readonly #fresh: Queue
  #free: number

  constructor(turns: number) {
    this.#begun = new Queue(turns)
    this.#fresh = new Queue(turns)
    this.#free = turns
  }

  get size(): number {
    return this.#begun.size + this.#fresh.size
  }

  /** How long another one would wait, now or when it has begun. Milliseconds. */
  expectedWait(now: number): number {
    return Math.max(this.#begun.expectedWait(now), this.#fresh.expectedWait(now))
  }

  /** Whether there was a turn for the taking; it is taken then. */
  takeIfFree(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** Hands a turn over to the next, or keeps it. */
  readonly release: Effect.Effect<void> = Effect.suspend(() => {
    const waiter = this.#begun.next() ?? this.#fresh.next()
    if (waiter === undefined) this.#free += 1
    else {
      waiter.hasPermit = true
      waiter.go()
    }
    return Effect.void
  })

  /** Waits for a turn that somebody gives back. */
  wait(hasBegun: boolean, since: number): Effect.Effect<void> {
    const queue = hasBegun ? this.#begun : this.#fresh
    return Effect.suspend(() => {
      let waiter: Waiter | undefined
      const waiting = Effect.callback<void>((resume) => {
        waiter = queue.add(since, () => resume(Effect.void))
      })
      return Effect.onExit(waiting, (exit) => {
        if (waiter === undefined || Exit.isSuccess(exit)) return Effect.void
        queue.delete(waiter)
        return waiter.hasPermit ? this.release : Effect.void
      })
    })
  }
}
