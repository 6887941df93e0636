/**
 * Load for measurements: closed loops that send as soon as an answer arrives, or a fixed rate. Each
 * request becomes a sample.
 */
import { Clock, Duration, Effect, Fiber, type Scope } from "effect"
import * as Client from "@data-import/testbed/Client"
import type { Session } from "./Session.ts"

export interface Sample {
  /** 0 for an answer that was lost. */
  readonly status: number
  /** The code of an error answer; empty if there is none. */
  readonly code: string
  readonly retryAfter: number | null
  /** From the request to its answer. */
  readonly millis: number
  /** When the request was sent, in milliseconds since the load began. */
  readonly at: number
}

/** Anything that can send a request. */
type Sender = Pick<Session, "send">

const sampled = (sender: Sender, request: Client.Request, began: number) =>
  Effect.gen(function* () {
    const sent = yield* Clock.currentTimeMillis
    const result = yield* Effect.result(sender.send(request))
    const millis = (yield* Clock.currentTimeMillis) - sent
    const at = sent - began
    if (result._tag === "Failure") return { status: 0, code: "", retryAfter: null, millis, at }
    const { retryAfter, status } = result.success
    return { status, code: Client.codeOf(result.success), retryAfter, millis, at }
  })

/** How long a refused client waits before its next request. */
export const afterRefusal = Duration.millis(100)

/** Concurrent loops, each of which sends again after its answer and a pause. */
export const closed = Effect.fnUntraced(function* (
  sender: Sender,
  request: () => Client.Request,
  {
    lasts,
    pause,
    sideBySide
  }: {
    readonly sideBySide: number
    readonly lasts: Duration.Duration
    readonly pause: Duration.Duration
  }
) {
  const began = yield* Clock.currentTimeMillis
  const end = began + Duration.toMillis(lasts)
  const samples: Array<Sample> = []
  const one = Effect.gen(function* () {
    while ((yield* Clock.currentTimeMillis) < end) {
      const sample = yield* sampled(sender, request(), began)
      samples.push(sample)
      yield* Effect.sleep(sample.status === 503 ? afterRefusal : pause)
    }
  })
  yield* Effect.all(
    Array.from({ length: sideBySide }, () => one),
    {
      concurrency: "unbounded",
      discard: true
    }
  )
  return samples
})

const tickMillis = 10

/** A fixed rate, on as many connections as it takes. Returns when all requests are answered. */
export const open = Effect.fnUntraced(function* (
  sender: Sender,
  request: () => Client.Request,
  { lasts, rate }: { readonly rate: number; readonly lasts: Duration.Duration }
): Effect.fn.Return<ReadonlyArray<Sample>, never, Scope.Scope> {
  const began = yield* Clock.currentTimeMillis
  const total = Math.round((rate * Duration.toMillis(lasts)) / 1_000)
  const samples: Array<Effect.Effect<Sample>> = []
  while (samples.length < total) {
    const elapsed = (yield* Clock.currentTimeMillis) - began
    const due = Math.min(total, Math.floor((elapsed * rate) / 1_000))
    while (samples.length < due) {
      samples.push(Fiber.join(yield* Effect.forkScoped(sampled(sender, request(), began))))
    }
    yield* Effect.sleep(Duration.millis(tickMillis))
  }
  return yield* Effect.all(samples)
})
