/**
 * The requests that a service is answering: how many, whether there is room for one more, and when
 * the last one is gone. Overload and a graceful stop are decided by it. A request whose body is
 * still arriving, or whose whole answer waits in the socket for a slow client, takes no place: it
 * costs a connection and no work. A stop has two phases: first requests are still taken, and then
 * they are refused until the last one has ended.
 */
import type { ServerResponse } from "node:http"
import { type Duration, Effect } from "effect"

export interface ProgressLimits {
  /** How many requests may be worked on at once. */
  readonly requests: number
  /** How many of them may be of one client address. */
  readonly perAddress: number
}

interface Open {
  readonly clientAddress: string
  isReceiving: boolean
}

/** Counts requests from their headers to the end of their answers. */
export class OpenRequests {
  readonly #limits: ProgressLimits
  readonly #open = new Map<ServerResponse, Open>()
  #isStopping = false
  #draining = false
  #whenIdle: () => void = () => {}

  constructor(limits: ProgressLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#open.size
  }

  /** Whether the service has been told to stop. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Whether another request must be refused, counting from the one that has just entered. */
  get isFull(): boolean {
    return this.#draining || this.#exceeds(this.#limits.requests)
  }

  /** Whether this client address has more requests in progress than one may have. */
  isFullFor(clientAddress: string): boolean {
    return this.#exceeds(this.#limits.perAddress, clientAddress)
  }

  enter(response: ServerResponse, clientAddress: string): void {
    this.#open.set(response, { clientAddress, isReceiving: false })
    if (this.#isStopping) this.#endsConnection(response)
  }

  /** The body of the request is on its way. */
  beginReceiving(response: ServerResponse): void {
    const open = this.#open.get(response)
    if (open !== undefined) open.isReceiving = true
  }

  /** The body is there; false if there is no room to work on it. */
  endReceiving(response: ServerResponse): boolean {
    const open = this.#open.get(response)
    if (open === undefined) return true
    open.isReceiving = false
    return (
      !this.#exceeds(this.#limits.requests) &&
      !this.#exceeds(this.#limits.perAddress, open.clientAddress)
    )
  }

  leave(response: ServerResponse): void {
    this.#open.delete(response)
    if (this.#open.size === 0) this.#whenIdle()
  }

  /** From now on each answer ends its connection. */
  beginStop(): void {
    this.#isStopping = true
    for (const response of this.#open.keys()) this.#endsConnection(response)
  }

  /** Refuses what comes from now on, and waits until nothing runs, at most for `grace`. */
  drain(grace: Duration.Duration): Effect.Effect<void> {
    const idle = Effect.callback<void>((resume) => {
      this.beginStop()
      this.#draining = true
      if (this.#open.size === 0) return resume(Effect.void)
      this.#whenIdle = () => resume(Effect.void)
    })
    return Effect.asVoid(Effect.timeoutOption(Effect.interruptible(idle), grace))
  }

  /** Counted anew only where there are so many that it matters. */
  #exceeds(limit: number, address?: string): boolean {
    if (this.#open.size <= limit) return false
    let working = 0
    for (const [response, { clientAddress, isReceiving }] of this.#open) {
      if (isReceiving || response.writableEnded) continue
      if (address !== undefined && clientAddress !== address) continue
      working += 1
      if (working > limit) return true
    }
    return false
  }

  /** A client that keeps its connection would send the next request into a service that is gone. */
  #endsConnection(response: ServerResponse): void {
    if (!response.headersSent) response.shouldKeepAlive = false
  }
}
