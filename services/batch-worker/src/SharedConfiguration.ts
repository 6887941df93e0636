/**
 * Caches the configuration for a second, so that not every line reads it. A change by the operator
 * takes effect a second later, and no failure is cached.
 */
import { Cache, Duration, Effect, Exit, Layer } from "effect"
import { Configuration } from "@data-import/domain/ports/Configuration"

const keptFor = Duration.seconds(1)

/** The maximum number of cached suppliers, and of cached teams. */
const capacity = 1_000

const lifeOf = (exit: Exit.Exit<unknown, unknown>): Duration.Duration =>
  Exit.isSuccess(exit) ? keptFor : Duration.zero

/** Needs the configuration of the storage, and replaces it. */
export const layer = Layer.effect(
  Configuration,
  Effect.gen(function* () {
    const configuration = yield* Configuration
    const options = { capacity, timeToLive: lifeOf }
    const suppliers = yield* Cache.makeWith(configuration.supplier, options)
    const teams = yield* Cache.makeWith(configuration.hasTeam, options)
    const codeLists = yield* Effect.cachedWithTTL(configuration.codeLists, lifeOf)
    return Configuration.of({
      ...configuration,
      supplier: (code) => Cache.get(suppliers, code),
      hasTeam: (name) => Cache.get(teams, name),
      codeLists
    })
  })
)
