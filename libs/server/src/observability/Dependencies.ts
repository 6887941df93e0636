/**
 * What a service depends on, such as its database, and whether it answers: a gauge for each, and a
 * line of the log when that changes. Nothing is decided by it. A service whose database is away
 * stays ready and answers 503 by itself; were it taken out of service for that, everything before
 * it would follow, and clients would be told nothing.
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
  const look = Effect.gen(function* () {
    const exit = yield* Effect.exit(Effect.timeout(probe, probeTimeout))
    const isUp = Exit.isSuccess(exit)
    yield* Metric.update(gauge, isUp ? 1 : 0)
    if (isUp && !wasUp) yield* Effect.logInfo("dependency answers again")
    if (Exit.isFailure(exit) && wasUp) {
      yield* Effect.logWarning("dependency does not answer", exit.cause)
    }
    wasUp = isUp
  })
  // Not at once: what starts beside this service is given the time to do so.
  yield* Effect.forever(Effect.delay(look, probeInterval)).pipe(Effect.annotateLogs({ dependency }))
})

/** Probes each of them every few seconds until the scope ends. */
export const watch = (dependencies: Dependencies) =>
  Effect.forEach(
    Object.entries(dependencies),
    ([name, probe]) => Effect.forkScoped(watchOne(name, probe)),
    { discard: true }
  )

/** Succeeds when all of them answer now. */
export const check = (dependencies: Dependencies): Effect.Effect<void, unknown> =>
  Effect.forEach(Object.values(dependencies), (probe) => Effect.timeout(probe, probeTimeout), {
    concurrency: "unbounded",
    discard: true
  })
