/**
 * One service, from configuration to a graceful stop. It provides what all services have in common:
 * the HTTP server, request ids, logs, metrics, traces, health, overload protection and draining. A
 * service itself consists of its routes. Several services can run in one process, each with its own
 * `ConfigProvider`.
 *
 *     const serving = Effect.gen(function* () { … return { routes, dependencies } })
 *     export const layer = Service.layer("query", serving)
 *     Service.runMain(layer.pipe(Layer.provide(adapters)))
 *
 * Settings: PORT (8080; 0 takes a free one), HOST (127.0.0.1), LOG_LEVEL (info),
 * DRAIN_DELAY_SECONDS (5 for `runMain`, otherwise 0), SHUTDOWN_GRACE_SECONDS (15),
 * MAX_REQUESTS_IN_PROGRESS (1000), MAX_REQUESTS_PER_ORGANISATION (half of these),
 * MAX_REQUESTS_WAITING (1000), BODY_MEMORY_MIB (256), TRUST_PROXY (0), OTEL_EXPORTER_OTLP_ENDPOINT
 * (unset), METRICS_PORT (0: a free one), REVISION (unset: unknown).
 */
import {
  Cause,
  Clock,
  Config,
  Context,
  Duration,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  Option,
  References
} from "effect"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Settings from "@data-import/domain/support/Settings"
import * as AcceptQueues from "../http/AcceptQueues.ts"
import * as App from "../routing/App.ts"
import * as Dependencies from "../observability/Dependencies.ts"
import * as DrainDelay from "./DrainDelay.ts"
import * as EventLoopDelay from "../observability/EventLoopDelay.ts"
import * as Listener from "../http/Listener.ts"
import * as Log from "../observability/Log.ts"
import * as Release from "./Release.ts"
import * as MetricsServer from "../observability/MetricsServer.ts"
import { BodyBudget } from "../http/BodyBudget.ts"
import { OpenRequests } from "../limits/OpenRequests.ts"
import { WaitingRequests } from "../limits/WaitingRequests.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import * as WarmUp from "./WarmUp.ts"

/** A service that accepts requests, with its address. */
export class Listening extends Context.Service<
  Listening,
  {
    readonly name: string
    readonly port: number
    readonly url: string
    /** Null if `METRICS_PORT` is `off`. */
    readonly metricsPort: number | null
    /** Succeeds if all dependencies of the service answer. */
    readonly checkDependencies: Effect.Effect<void, unknown>
  }
>()("@data-import/server/Listening") {}

export type { Serving } from "../routing/App.ts"

const trustedProxies = Settings.setting("TRUST_PROXY", {
  allowed: "a whole number from 0 to 10, the proxies that are trusted",
  parse: (text) => (/^(?:\d|10)$/.test(text) ? Number(text) : undefined)
})

/** How long requests and other work in progress may go on in a service that stops. */
export const shutdownGrace = Config.map(
  Settings.integer("SHUTDOWN_GRACE_SECONDS", { minimum: 0, maximum: 600 }).or(15),
  Duration.seconds
)

/** On by default, because otherwise it would be missing when it is first needed. */
const metricsPort = Settings.setting("METRICS_PORT", {
  allowed: "a whole number from 0 to 65535, or off",
  parse: (text): number | "off" | undefined => {
    if (text.toLowerCase() === "off") return "off"
    return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined
  }
})

const settings = Config.all({
  port: Settings.port("PORT").or(8080),
  host: Settings.text("HOST").or("127.0.0.1"),
  level: Settings.oneOf("LOG_LEVEL", LogLevel.values).or("Info"),
  grace: shutdownGrace,
  maxInProgress: Settings.integer("MAX_REQUESTS_IN_PROGRESS", {
    minimum: 1,
    maximum: 100_000
  }).or(1000),
  maxPerOrganisation: Settings.integer("MAX_REQUESTS_PER_ORGANISATION", {
    minimum: 1,
    maximum: 100_000
  }).optional,
  maxWaiting: Settings.integer("MAX_REQUESTS_WAITING", { minimum: 0, maximum: 100_000 }).or(1000),
  bodyMemoryMiB: Settings.integer("BODY_MEMORY_MIB", { minimum: 1, maximum: 65_536 }).or(256),
  trustedProxies: trustedProxies.or(0),
  metricsOn: metricsPort.or(0),
  version: Release.version
})

/** Values that are measured when the metrics are read. */
interface Measured {
  readonly progress: OpenRequests
  readonly waiting: WaitingRequests
  readonly budget: BodyBudget
}

const serveMetrics = Effect.fnUntraced(function* (
  metrics: Telemetry.Metrics,
  { budget, progress, waiting }: Measured,
  options: { readonly host: string; readonly port: number }
) {
  const eventLoop = yield* EventLoopDelay.measure
  const text = () =>
    metrics.text({
      requestsInProgress: progress.count,
      requestsWaiting: waiting.count,
      bodyBytes: budget.used,
      eventLoop: eventLoop()
    })
  return yield* MetricsServer.serve(text, options)
})

const stop = Effect.fnUntraced(function* (
  close: () => void,
  progress: OpenRequests,
  times: { readonly drainDelay: Effect.Effect<void>; readonly grace: Duration.Duration }
) {
  progress.beginStop()
  yield* times.drainDelay
  yield* progress.drain(times.grace)
  close()
})

const start = Effect.fnUntraced(function* <E, R>(
  name: string,
  build: Effect.Effect<App.Serving, E, R>
) {
  const { grace, host, level, metricsOn, port, trustedProxies, version, ...limits } =
    yield* settings
  const log = yield* Log.make(name, level)
  const metrics = Telemetry.makeMetrics()
  const tracing = yield* Layer.build(Telemetry.layerTracing(name))
  const own = Context.mergeAll(
    tracing,
    metrics.registry,
    Context.make(Logger.CurrentLoggers, new Set([log.logger])),
    Context.make(References.MinimumLogLevel, level)
  )

  return yield* Effect.gen(function* () {
    const serving = yield* build
    const { goOn, isWarm } = yield* WarmUp.begin(serving.warm ?? Effect.void)
    yield* Effect.forkScoped(serving.background ?? Effect.void)
    const half = Math.ceil(limits.maxInProgress / 2)
    const { dependencies = {}, maxRequestsPerAddress = Option.some(Infinity) } = serving
    const checkDependencies = Dependencies.check(dependencies)
    const progress = new OpenRequests({
      requests: limits.maxInProgress,
      perAddress: Option.getOrElse(maxRequestsPerAddress, () => half)
    })
    const times = yield* Listener.ClientTimes
    const waiting = new WaitingRequests(limits.maxWaiting, progress)
    const budget = new BodyBudget(limits.bodyMemoryMiB * 1024 * 1024)
    const app = yield* App.make({
      serving,
      progress,
      waiting,
      log,
      metrics,
      trustedProxies,
      version,
      isWarm,
      maxRequestsPerOrganisation: Option.getOrElse(limits.maxPerOrganisation, () => half),
      receiving: {
        times,
        clock: yield* Clock.Clock,
        budget,
        begin: (response, stop) => progress.beginReceiving(response, stop),
        end: (response) => progress.endReceiving(response)
      }
    })
    const metricsPort =
      metricsOn === "off"
        ? null
        : yield* serveMetrics(metrics, { progress, waiting, budget }, { host, port: metricsOn })
    const listener = Listener.make(times, serving.allowHalfOpen ?? false)
    const options = yield* AcceptQueues.first({ port, host })
    const server = yield* NodeHttpServer.make(() => listener, options)
    yield* server.serve(app)
    const drainDelay = yield* DrainDelay.wait
    const { close, port: bound } = yield* AcceptQueues.addTo(listener, host)
    yield* Effect.addFinalizer(() => stop(close, progress, { drainDelay, grace }))
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${bound}`
    yield* Effect.logInfo("listening").pipe(Effect.annotateLogs({ url, metricsPort, version }))
    yield* Effect.forkScoped(goOn)
    yield* Dependencies.watch(dependencies)
    return { name, port: bound, url, metricsPort, checkDependencies }
  }).pipe(Effect.provideContext(own))
})

/** Runs the service `name` for as long as the layer lives. */
export const layer = <E, R>(name: string, serving: Effect.Effect<App.Serving, E, R>) =>
  Layer.effect(Listening, start(name, serving))

/**
 * Runs a service as the whole process. SIGTERM and SIGINT stop it gracefully with status 0, after
 * the drain delay, which SIGINT or a second signal skips. A failure to start is logged in one line
 * and ends the process with status 1.
 */
export const runMain = <E>(service: Layer.Layer<Listening, E>): void =>
  NodeRuntime.runMain(
    Layer.launch(service).pipe(
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.void
          : Effect.logFatal(`does not start: ${Settings.explained(cause)}`)
      ),
      Effect.provide(Logger.layer([Logger.consoleJson])),
      Effect.provideService(DrainDelay.Draining, DrainDelay.ofProcess())
    ),
    {
      disableErrorReporting: true,
      teardown: (exit, onExit) =>
        onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
    }
  )
