/**
 * Reads the complete body of a request. A body over its limit is refused by its announced length or
 * at the first byte beyond the limit. A body that stalls is refused after a timeout. All bodies of
 * a process share one memory budget. The gateway and the services read every body with this module.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { PayloadTooLarge, RequestTimeout } from "@data-import/api/Refusal"
import { type ServiceUnavailable, unavailable } from "@data-import/domain/requests/Failure"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import type { BodyBudget, BodyReservation } from "./BodyBudget.ts"
import * as Listener from "./Listener.ts"

export type BodyRefused = PayloadTooLarge | RequestTimeout | ServiceUnavailable

/** How bodies are received. Shared by all requests of a process. */
export interface Receiving {
  readonly times: Listener.ClientTimes
  readonly budget: BodyBudget
  readonly clock: Clock.Clock
  /**
   * The body begins to arrive. Meanwhile the request does not count as in progress. `stop` is
   * called when the service drains.
   */
  readonly begin: (response: ServerResponse, stop?: () => void) => void
  /** The body has arrived. False if the request must be refused now. */
  readonly end: (response: ServerResponse) => boolean
}

/** Most bodies fit. The buffer doubles for larger ones. */
const firstCapacity = 64 * 1024

const empty: Buffer = Buffer.alloc(0)

/**
 * Bytes that arrive in chunks. They are copied into one buffer, because a body in chunks of one
 * byte would otherwise need a hundred times its size.
 */
class Collected {
  #bytes = empty
  #size = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  /** How many bytes the buffer must grow to hold the chunk. */
  growthFor(chunk: Buffer): number {
    const needed = this.#size + chunk.length
    const present = this.#bytes.length
    if (needed <= present) return 0
    if (this.#size === 0) return chunk.length
    const doubled = Math.max(firstCapacity, present * 2)
    return Math.max(needed, Math.min(doubled, this.#limit)) - present
  }

  add(chunk: Buffer, growth: number): void {
    if (this.#size === 0) {
      this.#bytes = chunk
    } else {
      if (growth > 0) this.#grow(growth)
      chunk.copy(this.#bytes, this.#size)
    }
    this.#size += chunk.length
  }

  #grow(growth: number): void {
    const grown = Buffer.allocUnsafeSlow(this.#bytes.length + growth)
    this.#bytes.copy(grown, 0, 0, this.#size)
    this.#bytes = grown
  }
}

/** Callbacks for the start of the answer to a request whose body was read. */
const onAnswer = new WeakMap<ServerResponse, (bytes: number) => void>()

/**
 * Notes that the answer begins, with this many bytes in memory. From now on the client determines
 * how long the exchange lasts, so it may be evicted from the budget.
 */
export const answering = (response: ServerResponse, bytes: number): void => {
  onAnswer.get(response)?.(bytes)
}

/**
 * Stays on every message whose body is read. Node decides whether there is a listener before it
 * emits an error, and an error without a listener would end the process.
 */
export const ignored = (): void => {}

const receive = (
  message: IncomingMessage,
  response: ServerResponse,
  { holder, limit }: { readonly holder: string; readonly limit: number },
  { begin, budget, clock, end, times }: Receiving,
  facts: RequestFacts
): Effect.Effect<Buffer, BodyRefused> =>
  Effect.callback((resume) => {
    const collected = new Collected(limit)
    let answered = false
    const reservation: BodyReservation = {
      holder,
      bytes: 0,
      startedAt: clock.currentTimeMillisUnsafe(),
      moved: () => (answered ? Listener.sentOf(response) : collected.size),
      evict: () => {
        // An answer that waits for an earlier one has no socket of its own yet.
        if (answered) message.socket.destroy()
        else settle(Effect.fail(new RequestTimeout()))
      }
    }
    const onData = (chunk: Buffer) => {
      if (collected.size + chunk.length > limit) {
        return settle(Effect.fail(new PayloadTooLarge({ limit })))
      }
      const growth = collected.growthFor(chunk)
      if (!budget.reserve(reservation, growth, clock.currentTimeMillisUnsafe())) {
        return settle(Effect.fail(unavailable))
      }
      collected.add(chunk, growth)
      stall.refresh()
    }
    const onEnd = () => {
      budget.complete(reservation)
      settle(end(response) ? Effect.succeed(collected.bytes) : Effect.fail(unavailable))
    }
    const onGone = () => settle(Effect.interrupt)
    const onLate = () => settle(Effect.fail(new RequestTimeout()))
    const stall = setTimeout(onLate, times.bodyStall)
    const whole = setTimeout(onLate, times.body)
    const stop = () => {
      clearTimeout(stall)
      clearTimeout(whole)
      message.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone)
    }
    const settle = (outcome: Effect.Effect<Buffer, BodyRefused>) => {
      stop()
      facts.bytes_in = collected.size
      message.pause()
      // The rest of the body is not read, and must not be parsed as the next request.
      if (!message.complete && !response.headersSent) response.shouldKeepAlive = false
      resume(outcome)
    }
    if (message.headers.expect?.toLowerCase() === "100-continue") response.writeContinue()
    onAnswer.set(response, (bytes) => {
      answered = true
      // A client that gets no answer may send the request again.
      const hasRoom = budget.answer(reservation, bytes, clock.currentTimeMillisUnsafe())
      if (!hasRoom) reservation.evict()
    })
    begin(response)
    Listener.onEnd(message, response, () => {
      // Nobody would read an answer that comes now.
      onAnswer.delete(response)
      budget.release(reservation)
    })
    message.on("error", ignored)
    message.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
    return Effect.sync(stop)
  })

/**
 * The holder of all bodies without a valid token. They count together, because one client may have
 * any number of addresses. No organisation has this name.
 */
export const unauthenticated = ""

/**
 * Reads the body of one request, once, at most `limit` bytes. Its bytes count towards the share of
 * the organisation, or of all requests without a known organisation.
 */
export type ReadBody = (
  limit: number,
  organisation?: OrganisationName
) => Effect.Effect<Buffer, BodyRefused>

/**
 * Makes the reader of a request's body. It is interrupted when the client disconnects before the
 * body is complete. The bytes are released from the budget when the answer was sent. Their number
 * is noted in `facts`.
 */
export const reader =
  (
    request: HttpServerRequest.HttpServerRequest,
    receiving: Receiving,
    facts: RequestFacts
  ): ReadBody =>
  (limit, organisation) => {
    const message = Listener.message(request)
    const response = Listener.response(request)
    if (Number(message.headers["content-length"] ?? 0) > limit) {
      response.shouldKeepAlive = false
      return Effect.fail(new PayloadTooLarge({ limit }))
    }
    const holder = organisation ?? unauthenticated
    return Effect.interruptible(receive(message, response, { holder, limit }, receiving, facts))
  }
