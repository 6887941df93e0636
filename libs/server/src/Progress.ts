/**
 * The requests that a service is answering: how many, whether there is room for one more, and when the last
 * one is gone. It is what overload and a graceful stop are decided by.
 */
import { Duration, Effect } from "effect"

/** Counts requests from their headers to the end of their answers. */
export class Progress {
  count = 0
  draining = false
  readonly limit: number
  #whenIdle: () => void = () => {}

  constructor(limit: number) {
    this.limit = limit
  }

  /** Whether another request must be refused, counting from the one that has just entered. */
  get isFull(): boolean {
    return this.draining || this.count > this.limit
  }

  enter(): void {
    this.count += 1
  }

  leave(): void {
    this.count -= 1
    if (this.count === 0) this.#whenIdle()
  }

  /** Refuses what comes from now on, and waits until nothing runs, at most for `grace`. */
  drain(grace: Duration.Duration): Effect.Effect<void> {
    const idle = Effect.callback<void>((resume) => {
      this.draining = true
      if (this.count === 0) return resume(Effect.void)
      this.#whenIdle = () => resume(Effect.void)
    })
    return Effect.asVoid(Effect.timeoutOption(Effect.interruptible(idle), grace))
  }
}
