/**
 * The requests that a service is answering: how many, whether there is room for one more, and when
 * the last one is gone. It is what overload and a graceful stop are decided by.
 */
import type { ServerResponse } from "node:http"
import { type Duration, Effect } from "effect"

/** Counts requests from their headers to the end of their answers. */
export class Progress {
  readonly limit: number
  readonly #open = new Set<ServerResponse>()
  #draining = false
  #whenIdle: () => void = () => {}

  constructor(limit: number) {
    this.limit = limit
  }

  get count(): number {
    return this.#open.size
  }

  get draining(): boolean {
    return this.#draining
  }

  /** Whether another request must be refused, counting from the one that has just entered. */
  get isFull(): boolean {
    return this.#draining || this.#open.size > this.limit
  }

  enter(response: ServerResponse): void {
    this.#open.add(response)
    if (this.#draining) this.#endsConnection(response)
  }

  leave(response: ServerResponse): void {
    this.#open.delete(response)
    if (this.#open.size === 0) this.#whenIdle()
  }

  /** Refuses what comes from now on, and waits until nothing runs, at most for `grace`. */
  drain(grace: Duration.Duration): Effect.Effect<void> {
    const idle = Effect.callback<void>((resume) => {
      this.#draining = true
      this.#open.forEach(this.#endsConnection)
      if (this.#open.size === 0) return resume(Effect.void)
      this.#whenIdle = () => resume(Effect.void)
    })
    return Effect.asVoid(Effect.timeoutOption(Effect.interruptible(idle), grace))
  }

  /** A client that keeps its connection would send the next request into a service that is gone. */
  #endsConnection(response: ServerResponse): void {
    if (!response.headersSent) response.shouldKeepAlive = false
  }
}
