/**
 * Metrics and traces of a service: its metrics for Prometheus, and one span per request, exported
 * if a collector is configured.
 */
import { type Config, Context, Effect, Layer, Metric, Option, References } from "effect"
import { HttpMiddleware, type HttpServerResponse, HttpTraceContext } from "effect/http"
import { OtlpSerialization, OtlpTracer, PrometheusMetrics } from "effect/observability"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import * as Settings from "@data-import/domain/support/Settings"
import type { IncomingRequest } from "../http/IncomingRequest.ts"
import type { Access } from "./Log.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import * as RequestMetrics from "./RequestMetrics.ts"

export interface Metrics {
  /** The registry, also for the metrics of programs. */
  readonly registry: Context.Context<never>
  readonly record: (access: Access, facts: Readonly<RequestFacts>) => void
  /** The text for Prometheus, with the values that are measured when it is read. */
  readonly text: (now: ProcessMetrics.Present) => string
}

/** Metrics with their own registry, so that several services can run in one process. */
export const makeMetrics = (): Metrics => {
  const registry = Context.make(Metric.MetricRegistry, new Map())
  const measure = ProcessMetrics.make(registry)
  return {
    registry,
    record: RequestMetrics.make(registry),
    text: (now) => {
      measure(now)
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

/** Attributes known when the request was answered; a stream may still be running. */
const attributesOf = (facts: RequestFacts, status: number): Readonly<Record<string, unknown>> => {
  const attributes = {
    "http.response.status_code": status,
    "http.request.body.size": facts.bytes_in,
    "http.response.body.size": facts.bytes_out,
    "error.type": facts.code,
    "upstream.address": facts.upstream,
    "data_import.organisation": facts.organisation,
    "data_import.api_key": facts.api_key,
    "data_import.supplier": facts.import_supplier,
    "data_import.batch": facts.batch,
    "data_import.limit": facts.limit
  }
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}

/** Runs a request in its span, a child of the span that its headers name. */
export const inSpan = <R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>,
  { facts, request, requestId }: IncomingRequest,
  route: string
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  answer.pipe(
    Effect.tap(({ status }) => Effect.annotateCurrentSpan(attributesOf(facts, status))),
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
