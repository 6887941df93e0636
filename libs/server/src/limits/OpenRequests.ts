/**
 * Counts the requests in progress of a service, for overload protection and a graceful stop. A
 * request does not count while its body is still arriving, while it waits for a change, or while
 * its complete answer waits in the socket for a slow client: it costs a connection and no work. A
 * stop has two phases. In the first, requests are still accepted; in the second, they are refused
 * until the last one has ended.
 */
import type { ServerResponse } from "node:http"
import { type Duration, Effect } from "effect"
import { LinkedSet } from "@data-import/domain/support/LinkedSet"
import { networkOf } from "../http/ClientNetwork.ts"

export interface ProgressLimits {
  /** The most requests in progress. */
  readonly requests: number
  /** The most requests in progress of one client address, or of one /64 network of IPv6. */
  readonly perAddress: number
}

interface Open {
  readonly response: ServerResponse
  readonly network: string
  isReceiving: boolean
  isWaiting: boolean
  /** Called when the service stops. */
  stop: () => void
}

const nothing = (): void => {}

/** Counts requests from their headers until their answers end. */
export class OpenRequests {
  readonly #limits: ProgressLimits
  readonly #open = new LinkedSet<Open>()
  readonly #ofResponse = new WeakMap<ServerResponse, Open>()
  #isStopping = false
  #draining = false
  #whenIdle: () => void = nothing

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

  /** Whether the request that has just entered must be refused. */
  get isFull(): boolean {
    return this.#draining || this.#exceeds(this.#limits.requests)
  }

  /** Whether this client address has more requests in progress than allowed. */
  isFullFor(clientAddress: string): boolean {
    return this.#exceeds(this.#limits.perAddress, networkOf(clientAddress))
  }

  enter(response: ServerResponse, clientAddress: string): void {
    const open: Open = {
      response,
      network: networkOf(clientAddress),
      isReceiving: false,
      isWaiting: false,
      stop: nothing
    }
    this.#open.add(open)
    this.#ofResponse.set(response, open)
    if (this.#isStopping) this.#endsConnection(response)
  }

  /** The body of the request begins to arrive. `stop` is called when the service drains. */
  beginReceiving(response: ServerResponse, stop = nothing): void {
    const open = this.#ofResponse.get(response)
    if (open === undefined) return
    open.isReceiving = true
    open.stop = stop
    if (this.#draining) stop()
  }

  /** The body has arrived. False if the request must be refused now. */
  endReceiving(response: ServerResponse): boolean {
    const open = this.#ofResponse.get(response)
    if (open === undefined) return true
    open.isReceiving = false
    open.stop = nothing
    return (
      !this.#exceeds(this.#limits.requests) && !this.#exceeds(this.#limits.perAddress, open.network)
    )
  }

  /** The request waits for a change. `stop` is called when the service drains. */
  beginWaiting(response: ServerResponse, stop: () => void): void {
    const open = this.#ofResponse.get(response)
    if (open === undefined) return
    open.isWaiting = true
    open.stop = stop
    if (this.#draining) stop()
  }

  endWaiting(response: ServerResponse): void {
    const open = this.#ofResponse.get(response)
    if (open === undefined) return
    open.isWaiting = false
    open.stop = nothing
  }

  leave(response: ServerResponse): void {
    const open = this.#ofResponse.get(response)
    if (open === undefined) return
    this.#ofResponse.delete(response)
    this.#open.delete(open)
    if (this.#open.size === 0) this.#whenIdle()
  }

  /** From now on each answer closes its connection. */
  beginStop(): void {
    this.#isStopping = true
    for (const { response } of this.#open) this.#endsConnection(response)
  }

  /** Refuses new requests, and waits at most `grace` for those in progress. */
  drain(grace: Duration.Duration): Effect.Effect<void> {
    const idle = Effect.callback<void>((resume) => {
      this.beginStop()
      this.#draining = true
      for (const { stop } of [...this.#open]) stop()
      if (this.#open.size === 0) return resume(Effect.void)
      this.#whenIdle = () => resume(Effect.void)
    })
    return Effect.asVoid(Effect.timeoutOption(Effect.interruptible(idle), grace))
  }

  /** Counts by network only if there are enough open requests to exceed the limit. */
  #exceeds(limit: number, ofOne?: string): boolean {
    if (this.#open.size <= limit) return false
    let working = 0
    for (const { isReceiving, isWaiting, network, response } of this.#open) {
      if (isReceiving || isWaiting || response.writableEnded) continue
      if (ofOne !== undefined && network !== ofOne) continue
      working += 1
      if (working > limit) return true
    }
    return false
  }

  /** A client that keeps its connection would send its next request to a stopped service. */
  #endsConnection(response: ServerResponse): void {
    if (!response.headersSent) response.shouldKeepAlive = false
  }
}
