/** The client of the process that generates load. */
import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"
import { Data, Effect, type Scope } from "effect"
import type { WorkloadName } from "./Workloads.ts"

export interface LoadRequest {
  readonly workload: WorkloadName
  readonly url: string
  readonly token: string
  readonly supplier: string
  /** The number of the first request; each further one has the next. */
  readonly first: number
  readonly connections: number
  /** After this time, or after `requests` if that is earlier, no more requests are sent. */
  readonly seconds: number
  readonly requests?: number
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** Milliseconds from a request to the end of its answer. */
  readonly p50: number
  readonly p99: number
  /** The first answer that was not the expected one; nothing was sent after it. */
  readonly wrong: string | null
}

/** An answer was not the expected one, so the run measured nothing. */
export class WrongAnswer extends Data.TaggedError("WrongAnswer")<{ readonly message: string }> {}

export interface Load {
  readonly run: (order: LoadRequest) => Effect.Effect<LoadResult, WrongAnswer>
}

const script = join(import.meta.dirname, "loadProcess.ts")

const answered = (
  child: ChildProcess,
  order: LoadRequest
): Effect.Effect<LoadResult, WrongAnswer> =>
  Effect.callback<LoadResult, WrongAnswer>((resume) => {
    const onExit = () =>
      resume(Effect.fail(new WrongAnswer({ message: "The load generator has ended" })))
    const onOutcome = (outcome: LoadResult) => {
      child.off("exit", onExit)
      resume(
        outcome.wrong === null
          ? Effect.succeed(outcome)
          : Effect.fail(new WrongAnswer({ message: outcome.wrong }))
      )
    }
    child.once("exit", onExit)
    child.once("message", onOutcome)
    child.send(order)
    return Effect.sync(() => child.off("message", onOutcome).off("exit", onExit))
  })

/** A load generator, for one order at a time; it ends with the scope. */
export const make: Effect.Effect<Load, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => fork(script, { stdio: ["ignore", "inherit", "inherit", "ipc"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ),
  (child) => ({ run: (order) => answered(child, order) })
)
