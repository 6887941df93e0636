/**
 * Batches of reads or writes. A command is flushed at once if a batch slot is free, so batching
 * adds no latency; commands that come while all slots are taken are flushed together, those of
 * several organisations in turn, so that none waits for all that another has sent. Each command
 * sees what was committed before it came and is answered after the commit, as without a batch.
 * Effect's `RequestResolver` does not suit writes: its batches have no weight, and may hold two
 * commands of the same identity, although the second must see the first. Nor does it suit reads: it
 * reuses the sets of its batches, whose old tables keep every request alive until the garbage
 * collector visits the whole heap, which takes a third of the time of a read.
 */
import { Array as Arr, Deferred, type Duration, Effect, type Scope } from "effect"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Holder from "@data-import/domain/support/Holder"
import type { Admission } from "./Admission.ts"
import { execute, type Pending, refuse, type RunBatch } from "./BatchExecution.ts"
import { isContended } from "./SqlFailure.ts"

export interface BatchOptions<Command, Answer, E = StorageUnavailable> {
  /** The commands of one batch have different identities, if they have any. */
  readonly identity?: (command: Command) => string
  /** What a command adds to the weight of its batch; nothing unless given. */
  readonly weight?: (command: Command) => number
  /** Whether a batch has all commands of a turn of the event loop, of which the first waits. */
  readonly collects?: boolean
  readonly run: RunBatch<Command, Answer, E>
  readonly limits: {
    /** How many batches run at once. */
    readonly slots: number
    /**
     * The maximum number of commands in a batch, and their maximum weight unless there is only one.
     */
    readonly commands: number
    readonly weight?: number
  }
}

interface Queued<Command, Answer> extends Pending<Command, Answer> {
  readonly holder: Holder.Holder
}

/** The first command of each holder, then the second of each, and so on. */
const inTurn = <Command, Answer>(
  queue: ReadonlyArray<Queued<Command, Answer>>
): ReadonlyArray<Queued<Command, Answer>> => {
  const counts = new Map<Holder.Holder, number>()
  const turns = queue.map((queued) => {
    const turn = counts.get(queued.holder) ?? 0
    counts.set(queued.holder, turn + 1)
    return { queued, turn }
  })
  if (counts.size <= 1) return queue
  return turns.sort((a, b) => a.turn - b.turn).map(({ queued }) => queued)
}

/**
 * The next batch, and in the order of the queue what has to wait for a later one. The first command
 * is always in the batch, so no command is overtaken for ever.
 */
const divide = <Command, Answer>(
  { identity, limits, weight }: BatchOptions<Command, Answer>,
  queue: ReadonlyArray<Queued<Command, Answer>>
) => {
  if (queue.length <= limits.commands && !identity && !weight) return { batch: queue, rest: [] }
  const batch = new Set<Queued<Command, Answer>>()
  const identities = new Set<string>()
  const most = limits.weight ?? Infinity
  let weighed = 0
  for (const queued of inTurn(queue)) {
    const own = identity?.(queued.command)
    const weighs = weight?.(queued.command) ?? 0
    const fits = batch.size === 0 || (batch.size < limits.commands && weighed + weighs <= most)
    if (fits && (own === undefined || !identities.has(own))) {
      batch.add(queued)
      weighed += weighs
    }
    if (own !== undefined) identities.add(own)
  }
  return { batch: [...batch], rest: queue.filter((queued) => !batch.has(queued)) }
}

/** The most batches that may wait for each slot. */
const mostWaiting = 64

/**
 * Runs commands in batches. A batch goes on when a caller stops waiting. It ends with the scope,
 * and whoever waits then is refused.
 */
export const make = <Command, Answer>(
  batching: BatchOptions<Command, Answer> & {
    /**
     * Runs a command without a slot if it weighs more than a batch may, so that others do not wait
     * for it, or if its batch was contended. Without it, commands of a contended batch fail.
     */
    readonly alone?: RunBatch<Command, Answer>
  },
  { slots: slot }: Pick<Admission, "slots">,
  wait: Duration.Duration,
  scope: Scope.Scope
): ((command: Command) => Effect.Effect<Answer, StorageUnavailable>) => {
  const { slots } = batching.limits
  const inSlot = slot({ running: slots, waiting: slots * mostWaiting, wait })
  let queue: Array<Queued<Command, Answer>> = []
  /** How many flushes wait for a slot: one for each batch that the queue would fill. */
  let waiting = 0

  const flush: Effect.Effect<void> = Effect.suspend(() => {
    const { batch, rest } = divide(batching, queue)
    queue = rest
    waiting -= 1
    return Effect.andThen(flushSoon, batch.length > 0 ? execute(batching.run, batch) : Effect.void)
  })

  const refuseNext = (refusal: StorageUnavailable) => {
    waiting -= 1
    return refuse(queue.splice(0, batching.limits.commands), refusal)
  }

  const begin = batching.collects ? Effect.yieldNow : Effect.void
  const flushInSlot = Effect.andThen(begin, inSlot(flush)).pipe(
    Effect.catch(refuseNext),
    Effect.onInterrupt(() => refuse(queue.splice(0)))
  )

  // Otherwise a caller that is interrupted before the fork would leave a flush counted that nobody
  // has begun, and nobody would flush the queue again.
  const flushSoon: Effect.Effect<void> = Effect.suspend(() => {
    if (scope.state._tag === "Closed") return refuse(queue.splice(0))
    if (waiting * batching.limits.commands >= queue.length) return Effect.void
    waiting += 1
    return Effect.forkIn(flushInSlot, scope, { startImmediately: true })
  }).pipe(Effect.asVoid, Effect.uninterruptible)

  const together = (command: Command) =>
    Effect.withFiber((fiber) => {
      const deferred = Deferred.makeUnsafe<Answer, StorageUnavailable>()
      const own: Queued<Command, Answer> = {
        command,
        holder: Holder.of(fiber),
        complete: (exit) => Deferred.doneUnsafe(deferred, exit)
      }
      queue.push(own)
      const answer = Effect.onInterrupt(Deferred.await(deferred), () =>
        Effect.sync(() => {
          queue = queue.filter((other) => other !== own)
        })
      )
      return Effect.andThen(flushSoon, answer)
    })

  const { alone, limits, weight } = batching
  if (alone === undefined) return together
  const runAlone = (command: Command) => Effect.map(alone([command]), Arr.getUnsafe(0))
  return (command) =>
    (weight?.(command) ?? 0) > (limits.weight ?? Infinity)
      ? runAlone(command)
      : Effect.catchIf(together(command), isContended, () => runAlone(command))
}
