/**
 * The storage of batches on the scheduler. A worker holds its lines as long as its session, which
 * the simulation can end: a crashed or frozen worker loses its lines.
 */
import { Effect, Exit, Option, Scope, Stream } from "effect"
import { Batches, type ChunkInHand } from "@data-import/domain/batches/Batches"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { type CallScheduler, OnBehalf } from "./CallScheduler.ts"
import type { SentRequest } from "./Request.ts"
import { sessionLost, type Storage } from "./Storage.ts"

export interface ChunkSession {
  /** Of the worker. */
  readonly request: SentRequest
  readonly chunk: ChunkInHand
  /** Whether the worker no longer holds the lines. */
  isOver: boolean
  readonly end: Effect.Effect<void>
}

type Call<A> = Effect.Effect<A, StorageUnavailable>

/** The port on the scheduler. Every session is added to `sessions`. */
export const guardBatches = (
  scheduler: CallScheduler,
  { afterSession = () => sessionLost, batches }: Pick<Storage, "afterSession" | "batches">,
  sessions: Array<ChunkSession>
): Batches["Service"] => {
  const take: Batches["Service"]["take"] = Effect.fnUntraced(function* (command) {
    const request = yield* OnBehalf
    const scope = yield* Scope.make()
    const taken = yield* Effect.provideService(batches.take(command), Scope.Scope, scope)
    if (Option.isNone(taken) || request === null) {
      yield* Scope.close(scope, Exit.void)
      return taken
    }
    const chunk = taken.value
    const session: ChunkSession = {
      request,
      chunk,
      isOver: false,
      end: Effect.suspend(() => {
        session.isOver = true
        return Scope.close(scope, Exit.void)
      })
    }
    sessions.push(session)
    yield* Effect.addFinalizer(() => (session.isOver ? Effect.void : session.end))
    const inHand = <A>(operation: "confirm" | "finish", effect: Call<A>) =>
      Effect.suspend(() => (session.isOver ? afterSession(operation, effect) : effect))
    const guarded = scheduler.guard(Batches, {
      confirm: inHand("confirm", chunk.confirm),
      finish: (finishing: Parameters<ChunkInHand["finish"]>[0]) =>
        inHand("finish", chunk.finish(finishing)).pipe(
          Effect.tap((refused) => (refused.size === 0 ? session.end : Effect.void))
        )
    } as unknown as Batches["Service"]) as unknown as Pick<ChunkInHand, "confirm" | "finish">
    return Option.some({ ...chunk, ...guarded })
  })
  // Read within the call, so that the simulation waits for it.
  const results: Batches["Service"]["results"] = Effect.fnUntraced(function* (query) {
    const found = yield* batches.results(query)
    const lines = yield* Stream.runCollect(found.results)
    return { ...found, results: Stream.fromIterable(lines) }
  })
  return scheduler.guard(Batches, { ...batches, take, results })
}
