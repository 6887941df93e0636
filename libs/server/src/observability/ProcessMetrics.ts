/**
 * Process metrics, measured when they are read: event loop, heap, memory, processor time and open
 * requests. The names are those of OpenTelemetry.
 */
import { getHeapSpaceStatistics } from "node:v8"
import { type Context, Metric } from "effect"
import type { Reading } from "./EventLoopDelay.ts"

export interface Present {
  readonly requestsInProgress: number
  readonly requestsWaiting: number
  readonly bodyBytes: number
  readonly eventLoop: Reading
}

const activeRequests = Metric.gauge("http_server_active_requests", {
  description: "Requests that are being answered."
})

const waitingRequests = Metric.gauge("data_import_waiting_requests", {
  description: "Requests that wait for a change of a batch or an event."
})

const bodyBytes = Metric.gauge("http_request_body_bytes", {
  description: "Memory that the bodies of open requests hold."
})

const delay = (id: string) =>
  Metric.gauge(id, { description: "Delay of the event loop since this was last read." })

const delays = [
  ["min", delay("nodejs_eventloop_delay_min_seconds")],
  ["mean", delay("nodejs_eventloop_delay_mean_seconds")],
  ["p50", delay("nodejs_eventloop_delay_p50_seconds")],
  ["p90", delay("nodejs_eventloop_delay_p90_seconds")],
  ["p99", delay("nodejs_eventloop_delay_p99_seconds")],
  ["max", delay("nodejs_eventloop_delay_max_seconds")]
] as const

const utilization = Metric.gauge("nodejs_eventloop_utilization_ratio", {
  description: "Share of the time since this was last read in which the event loop was busy."
})

const memory = Metric.gauge("process_memory_usage_bytes", {
  description: "Memory that the process has in use (RSS)."
})

const uptime = Metric.gauge("process_uptime_seconds", {
  description: "How long the process has run."
})

const cpuTime = (mode: "user" | "system") =>
  Metric.counter("process_cpu_time_seconds_total", {
    description: "Processor time of the process.",
    incremental: true,
    attributes: { cpu_mode: mode }
  })

const heapUsed = (space: string) =>
  Metric.gauge("v8js_memory_heap_used_bytes", {
    description: "Heap in use, by the space of V8.",
    attributes: { v8js_heap_space_name: space }
  })

const heapLimit = (space: string) =>
  Metric.gauge("v8js_memory_heap_limit_bytes", {
    description: "Heap that V8 has for a space.",
    attributes: { v8js_heap_space_name: space }
  })

/** Microseconds of the process by mode. */
type Cpu = Readonly<Record<"user" | "system", number>>

/** Makes the function that measures and records the values in the registry. */
export const make = (registry: Context.Context<never>): ((now: Present) => void) => {
  let before: Cpu = { user: 0, system: 0 }
  return (now) => {
    activeRequests.updateUnsafe(now.requestsInProgress, registry)
    waitingRequests.updateUnsafe(now.requestsWaiting, registry)
    bodyBytes.updateUnsafe(now.bodyBytes, registry)
    for (const [name, gauge] of delays) gauge.updateUnsafe(now.eventLoop[name], registry)
    utilization.updateUnsafe(now.eventLoop.utilization, registry)
    memory.updateUnsafe(process.memoryUsage.rss(), registry)
    uptime.updateUnsafe(process.uptime(), registry)
    const cpu = process.cpuUsage()
    for (const mode of ["user", "system"] as const) {
      cpuTime(mode).updateUnsafe((cpu[mode] - before[mode]) / 1e6, registry)
    }
    before = cpu
    for (const { space_name, space_size, space_used_size } of getHeapSpaceStatistics()) {
      heapUsed(space_name).updateUnsafe(space_used_size, registry)
      heapLimit(space_name).updateUnsafe(space_size, registry)
    }
  }
}
