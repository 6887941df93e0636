/** So many turns at once, and who waits for one. */
import { Effect, Exit } from "effect"

interface Waiter {
  readonly since: number
  /** How many waited, this one included, when it came. */
  readonly place: number
  readonly go: () => void
  /** A turn that is given to a waiter who leaves in the same moment must not be lost. */
  hasTurn: boolean
}

/**
 * So many turns at once, and two queues for them, each first come, first served: turns go to those
 * who have begun first.
 */
export class Turns {
  readonly #begun = new Set<Waiter>()
  readonly #fresh = new Set<Waiter>()
  /** How long the last one to leave had waited, for each place before it. Milliseconds. */
  #pace = 0
  #free: number

  constructor(free: number) {
    this.#free = free
  }

  get size(): number {
    return this.#begun.size + this.#fresh.size
  }

  /**
   * How long another one who has not begun would wait: as long as the first has waited already, and
   * as the last to leave had, place for place. Milliseconds.
   */
  expectedWait(now: number): number {
    const [first] = this.#fresh
    return first === undefined ? 0 : Math.max(now - first.since, this.#fresh.size * this.#pace)
  }

  /** Whether there was a turn for the taking; it is taken then. */
  takeFree(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** Hands a turn over to the next, or keeps it. */
  readonly giveBack: Effect.Effect<void> = Effect.clockWith((clock) => {
    if (!this.#next(clock.currentTimeMillisUnsafe())) this.#free += 1
    return Effect.void
  })

  /** Waits for a turn that somebody gives back. */
  wait(hasBegun: boolean, since: number): Effect.Effect<void> {
    const queue = hasBegun ? this.#begun : this.#fresh
    return Effect.suspend(() => {
      let waiter: Waiter | undefined
      const waiting = Effect.callback<void>((resume) => {
        if (this.#fresh.size === 0) this.#pace = 0
        const place = queue.size + 1
        waiter = { since, place, go: () => resume(Effect.void), hasTurn: false }
        queue.add(waiter)
      })
      return Effect.onExit(waiting, (exit) => {
        if (waiter === undefined || Exit.isSuccess(exit)) return Effect.void
        queue.delete(waiter)
        return waiter.hasTurn ? this.giveBack : Effect.void
      })
    })
  }

  /** False where nobody waits. */
  #next(now: number): boolean {
    const queue = this.#begun.size > 0 ? this.#begun : this.#fresh
    const [waiter] = queue
    if (waiter === undefined) return false
    queue.delete(waiter)
    if (queue === this.#fresh) this.#pace = (now - waiter.since) / waiter.place
    waiter.hasTurn = true
    waiter.go()
    return true
  }
}
