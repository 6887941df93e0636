/**
 * The delay of the event loop. All requests of a process share one thread, so this shows a request
 * that computes for too long.
 */
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks"
import { Effect } from "effect"

const resolutionMillis = 10

/** Since the last reading, in seconds; the utilization is a fraction of 1. */
export interface Reading {
  readonly min: number
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  readonly utilization: number
}

const seconds = (nanoseconds: number): number => nanoseconds / 1e9

/** Measures until the scope ends. The function returns what was measured since its last call. */
export const measure = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delays = monitorEventLoopDelay({ resolution: resolutionMillis })
      delays.enable()
      return delays
    }),
    (delays) => Effect.sync(() => delays.disable())
  ),
  (delays) => {
    let before: EventLoopUtilization = performance.eventLoopUtilization()
    return (): Reading => {
      const present = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(present, before)
      before = present
      // Without a measurement the histogram has no minimum and no mean.
      const hasAny = delays.count > 0
      const reading = {
        min: hasAny ? seconds(delays.min) : 0,
        mean: hasAny ? seconds(delays.mean) : 0,
        p50: seconds(delays.percentile(50)),
        p90: seconds(delays.percentile(90)),
        p99: seconds(delays.percentile(99)),
        max: seconds(delays.max),
        utilization
      }
      delays.reset()
      return reading
    }
  }
)
