/**
 * Batches of reads, by Effect's `RequestResolver`. Reads of one turn of the event loop run in one
 * statement. While all batch slots are taken, reads are collected. An overloaded database thus gets
 * larger batches, not more of them.
 */
import { Effect, Request, RequestResolver } from "effect"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type { Run } from "./Admission.ts"
import { execute, type RunBatch } from "./BatchExecution.ts"

interface Read<Command, Answer> extends Request.Request<Answer, StorageUnavailable> {
  readonly command: Command
}

/** The maximum number of reads in a statement. */
export const maxReads = 64

/** Makes reads that `run` executes in batches, each in a slot. */
export const make = <Command, Answer>(run: RunBatch<Command, Answer>, inSlot: Run) => {
  const read = Request.of<Read<Command, Answer>>()
  const resolver = RequestResolver.makeWith<Read<Command, Answer>>({
    batchKey: () => run,
    // The batch collects until a slot is free. `runAll` takes the slot again, because it also runs
    // full batches that have not waited. If the wait here fails, `runAll` reports it.
    delay: Effect.andThen(Effect.yieldNow, Effect.ignore(inSlot(Effect.void))),
    collectWhile: ({ size }) => size < maxReads,
    runAll: (entries) =>
      inSlot(
        execute(
          run,
          entries.map((entry) => ({
            command: entry.request.command,
            complete: (exit) => entry.completeUnsafe(exit)
          }))
        )
      )
  })
  return (command: Command): Effect.Effect<Answer, StorageUnavailable> =>
    Effect.request(read({ command }), resolver)
}
