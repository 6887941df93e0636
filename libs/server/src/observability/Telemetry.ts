/**
 * Metrics and traces of a service: counts and durations by route and status for Prometheus, and one
 * span per request, exported if a collector is configured. Routes are templates, so that paths
 * neither multiply the series nor expose account numbers.
 */
import { type Config, Context, Effect, Layer, Metric, Option, References } from "effect"
import { HttpMiddleware, type HttpServerResponse, HttpTraceContext } from "effect/http"
import { OtlpSerialization, OtlpTracer, PrometheusMetrics } from "effect/observability"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Settings from "@data-import/domain/support/Settings"
import type { IncomingRequest } from "../http/IncomingRequest.ts"
import type { Access } from "./Log.ts"

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

interface Series {
  readonly requests: Metric.Counter<number>
  readonly duration: Metric.Histogram<number>
}

const seriesOf = ({ method, route, status }: Access): Series => {
  const attributes = { method, route, status: String(status) }
  return {
    requests: Metric.counter("http_requests_total", {
      description: "Requests answered.",
      incremental: true,
      attributes
    }),
    duration: Metric.histogram("http_request_duration_seconds", {
      description: "Time from the request's headers to the end of its answer.",
      boundaries: seconds,
      attributes
    })
  }
}

const inProgress = Metric.gauge("http_requests_in_progress", {
  description: "Requests that are being answered."
})

const bodyBytes = Metric.gauge("http_request_body_bytes", {
  description: "Memory that the bodies of open requests hold."
})

const eventLoopLag = Metric.gauge("nodejs_eventloop_lag_max_seconds", {
  description: "Longest pause of the event loop since this was last read."
})

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

export interface Metrics {
  /** The registry, also for the metrics of programs. */
  readonly registry: Context.Context<never>
  readonly record: (access: Access) => void
  /** The text for Prometheus, with the values that are measured when it is read. */
  readonly text: (now: {
    readonly requestsInProgress: number
    readonly bodyBytes: number
    readonly eventLoopLag: number
  }) => string
}

/** Metrics with their own registry, so that several services can run in one process. */
export const makeMetrics = (): Metrics => {
  const registry = Context.make(Metric.MetricRegistry, new Map())
  const known = new Map<string, Series>()
  return {
    registry,
    record: (access) => {
      const method = knownMethods.has(access.method) ? access.method : "other"
      const key = `${method} ${access.route} ${access.status}`
      let series = known.get(key)
      if (series === undefined) known.set(key, (series = seriesOf({ ...access, method })))
      series.requests.updateUnsafe(1, registry)
      series.duration.updateUnsafe(access.duration_ms / 1000, registry)
    },
    text: (now) => {
      inProgress.updateUnsafe(now.requestsInProgress, registry)
      bodyBytes.updateUnsafe(now.bodyBytes, registry)
      eventLoopLag.updateUnsafe(now.eventLoopLag, registry)
      return PrometheusMetrics.formatUnsafe(registry)
    }
  }
}

const collectorUrl = Settings.url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"]).optional

const layerExporter = (service: string, collector: URL): Layer.Layer<never> =>
  OtlpTracer.layer({
    url: new URL("v1/traces", collector.href.replace(/\/*$/, "/")).href,
    resource: { serviceName: service }
  }).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.fresh,
    (layer) => layer as Layer.Layer<never>
  )

/**
 * The tracer: OTLP over HTTP to the collector at `OTEL_EXPORTER_OTLP_ENDPOINT`, if it is set. The
 * span that Effect's server would make is turned off, because it holds the whole URL.
 */
export const layerTracing = (service: string): Layer.Layer<never, Config.ConfigError> =>
  Layer.unwrap(
    Effect.map(collectorUrl, (collector) =>
      Option.match(collector, {
        onNone: () => Layer.succeed(References.TracerEnabled, false),
        onSome: (url) => layerExporter(service, url)
      })
    )
  ).pipe(Layer.merge(Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)))

/** Runs a request in its span, a child of the span that its headers name. */
export const inSpan = <R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>,
  { request, requestId }: IncomingRequest,
  route: string
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  answer.pipe(
    Effect.tap(({ status }) => Effect.annotateCurrentSpan("http.response.status_code", status)),
    Effect.withSpan(
      `${request.method} ${route}`,
      {
        kind: "server",
        parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(request.headers)),
        attributes: {
          "http.request.method": request.method,
          "http.route": route,
          "request.id": requestId
        }
      },
      { captureStackTrace: false }
    )
  )
