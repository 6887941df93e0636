/** The end of a child process, however it comes. */
import type { ChildProcess } from "node:child_process"
import { Effect } from "effect"

export const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null

/** Done when the process is gone; at once where it is already. */
export const ended = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (hasEnded(child)) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })
