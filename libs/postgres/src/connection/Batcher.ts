/**
 * Commands that come while others are under way depart together: one statement does a batch for
 * little more than one of its commands. Who finds a slot free departs at once, so nobody waits for
 * company; everybody sees what was committed before the command came, and is answered after the
 * commit, as without a batch.
 */
import { Cause, Deferred, type Duration, Effect, Exit, type Scope } from "effect"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import type { Admission } from "./Admission.ts"

export interface BatchOptions<Command, Answer, E = StorageUnavailable> {
  /** Commands of one batch differ in this; where it is not given, any may go together. */
  readonly identity?: (command: Command) => string
  /** What a command adds to the weight of its batch; nothing unless given. */
  readonly weight?: (command: Command) => number
  /** Runs a batch, all of it or nothing, and answers in its order. */
  readonly run: (batch: ReadonlyArray<Command>) => Effect.Effect<ReadonlyArray<Answer>, E>
  /**
   * A read costs hardly more for many than for one, so it waits for what comes in the same turn of
   * the event loop. And it waits for no other write: one that is not answered opens the breaker.
   */
  readonly isRead: boolean
  readonly limits: {
    /** How many batches are under way at once. */
    readonly slots: number
    /** How many commands a batch has at most, and how much they weigh unless it has only one. */
    readonly commands: number
    readonly weight?: number
  }
}

interface Waiting<Command, Answer> {
  readonly command: Command
  readonly answer: Deferred.Deferred<Answer, StorageUnavailable>
}

/** The next batch, and what has to wait for a later one, both in the order of the queue. */
const divide = <Command, Answer>(
  { identity, limits, weight }: BatchOptions<Command, Answer>,
  queue: ReadonlyArray<Waiting<Command, Answer>>
) => {
  const batch: Array<Waiting<Command, Answer>> = []
  const rest: Array<Waiting<Command, Answer>> = []
  const identities = new Set<string>()
  const most = limits.weight ?? Infinity
  let weighed = 0
  for (const waiting of queue) {
    const own = identity?.(waiting.command) ?? ""
    weighed += weight?.(waiting.command) ?? 0
    const fits = batch.length === 0 || (batch.length < limits.commands && weighed <= most)
    if (fits && !identities.has(own)) batch.push(waiting)
    else rest.push(waiting)
    if (identity !== undefined) identities.add(own)
  }
  return { batch, rest }
}

const settle = <Command, Answer>(
  batch: ReadonlyArray<Waiting<Command, Answer>>,
  answers: ReadonlyArray<Answer>
): void => {
  batch.forEach(({ answer }, index) => {
    const own = answers[index]
    Deferred.doneUnsafe(
      answer,
      own === undefined ? Effect.die(new Error("No answer")) : Effect.succeed(own)
    )
  })
}

/** A batch that dies is taken apart, so that nobody dies of another's command. */
const execute = <Command, Answer>(
  batching: BatchOptions<Command, Answer>,
  batch: ReadonlyArray<Waiting<Command, Answer>>
): Effect.Effect<void> =>
  batching.run(batch.map(({ command }) => command)).pipe(
    Effect.exit,
    Effect.flatMap((exit): Effect.Effect<void> => {
      if (Exit.isSuccess(exit)) return Effect.sync(() => settle(batch, exit.value))
      if (batch.length > 1 && Cause.hasDies(exit.cause)) {
        return Effect.forEach(batch, (waiting) => execute(batching, [waiting]), { discard: true })
      }
      return Effect.sync(() => {
        for (const { answer } of batch) Deferred.doneUnsafe(answer, Effect.failCause(exit.cause))
      })
    })
  )

/** Runs commands in batches, which go on for as long as the scope, whoever has stopped waiting. */
export const make = Effect.fnUntraced(function* <Command, Answer>(
  batching: BatchOptions<Command, Answer>,
  { slots: slot }: Pick<Admission, "slots">,
  wait: Duration.Duration
): Effect.fn.Return<
  (command: Command) => Effect.Effect<Answer, StorageUnavailable>,
  never,
  Scope.Scope
> {
  const scope = yield* Effect.scope
  const inSlot = slot({ running: batching.limits.slots, waiting: 1, wait })
  let queue: Array<Waiting<Command, Answer>> = []
  /** Whether somebody waits for a slot on behalf of the queue. */
  let isFlushWaiting = false

  const flush: Effect.Effect<void> = Effect.suspend(() => {
    const { batch, rest } = divide(batching, queue)
    queue = rest
    isFlushWaiting = false
    return Effect.andThen(flushSoon, batch.length > 0 ? execute(batching, batch) : Effect.void)
  })

  const refuse = (refusal: StorageUnavailable) =>
    Effect.sync(() => {
      const refused = queue
      queue = []
      isFlushWaiting = false
      for (const { answer } of refused) Deferred.doneUnsafe(answer, Effect.fail(refusal))
    })

  const flushing = batching.isRead ? Effect.andThen(Effect.yieldNow, flush) : flush
  const flushInSlot = Effect.catch(inSlot(flushing), refuse)

  const flushSoon: Effect.Effect<void> = Effect.suspend(() => {
    if (isFlushWaiting || queue.length === 0) return Effect.void
    isFlushWaiting = true
    return Effect.forkIn(flushInSlot, scope, { startImmediately: true })
  }).pipe(Effect.asVoid)

  return (command) =>
    Effect.suspend(() => {
      const own = { command, answer: Deferred.makeUnsafe<Answer, StorageUnavailable>() }
      queue.push(own)
      const answer = Effect.onInterrupt(Deferred.await(own.answer), () =>
        Effect.sync(() => {
          queue = queue.filter((other) => other !== own)
        })
      )
      return Effect.andThen(flushSoon, answer)
    })
})
