/**
 * How long the event loop of the process kept everybody waiting: the one figure that shows a
 * request that is too much work for a process whose requests share a thread.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Effect } from "effect"

const resolutionMillis = 10

/** Measures until the scope ends. Gives the longest pause, in seconds, since it was last asked. */
export const measure = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delays = monitorEventLoopDelay({ resolution: resolutionMillis })
      delays.enable()
      return delays
    }),
    (delays) => Effect.sync(() => delays.disable())
  ),
  (delays) => () => {
    const longest = delays.max / 1e9
    delays.reset()
    return longest
  }
)
