/**
 * Reports whether the dependencies of a service answer, such as its database: a gauge for each, and
 * a log entry when one changes. Readiness depends on it at the start only (see WarmUp). A service
 * that loses its database stays ready and answers 503 itself. If it were taken out of rotation, the
 * services in front of it would follow, and clients would get no answer.
 */
import { Duration, Effect, Exit, Metric } from "effect"

/** By name, a probe that succeeds when the dependency answers. */
export type Dependencies = Readonly<Record<string, Effect.Effect<unknown, unknown>>>

const probeTimeout = Duration.seconds(2)
const probeInterval = Duration.seconds(5)

const upGauge = (dependency: string) =>
  Metric.gauge("data_import_dependency_up", {
    description: "1 while what the service depends on answers, otherwise 0.",
    attributes: { dependency }
  })

const watchOne = Effect.fnUntraced(function* (
  dependency: string,
  probe: Effect.Effect<unknown, unknown>
) {
  const gauge = upGauge(dependency)
  let wasUp = true
  const check = Effect.gen(function* () {
    const exit = yield* Effect.exit(Effect.timeout(probe, probeTimeout))
    const isUp = Exit.isSuccess(exit)
    yield* Metric.update(gauge, isUp ? 1 : 0)
    if (isUp && !wasUp) yield* Effect.logInfo("dependency answers again")
    if (Exit.isFailure(exit) && wasUp) {
      yield* Effect.logWarning("dependency does not answer", exit.cause)
    }
    wasUp = isUp
  })
  // Delayed, because dependencies may be starting at the same time.
  return yield* Effect.forever(Effect.delay(check, probeInterval)).pipe(
    Effect.annotateLogs({ dependency })
  )
})

/** Probes each of them every few seconds until the scope ends. */
export const watch = (dependencies: Dependencies) =>
  Effect.forEach(
    Object.entries(dependencies),
    ([name, probe]) => Effect.forkScoped(watchOne(name, probe)),
    { discard: true }
  )

/** Succeeds if all of them answer. */
export const check = (dependencies: Dependencies): Effect.Effect<void, unknown> =>
  Effect.forEach(Object.values(dependencies), (probe) => Effect.timeout(probe, probeTimeout), {
    concurrency: "unbounded",
    discard: true
  })
