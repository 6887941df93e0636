/**
 * The longest pause of the event loop. All requests of a process share one thread, so this shows a
 * request that computes for too long.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Effect } from "effect"

const resolutionMillis = 10

/** Measures until the scope ends. Gives the longest pause in seconds since the last call. */
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
