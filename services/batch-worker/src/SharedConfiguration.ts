/**
 * The configuration as all lines of a second share it, so that not every line reads it. A change
 * of the operator is seen a second later, and no failure is kept.
 */
import { Cache, Duration, Effect, Exit, Layer } from "effect"
import { Configuration } from "@data-import/domain/ports/Configuration"

const keptFor = Duration.seconds(1)

/** Suppliers and teams that are kept at the same time. */
const capacity = 1_000

const lifeOf = (exit: Exit.Exit<unknown, unknown>): Duration.Duration =>
  Exit.isSuccess(exit) ? keptFor : Duration.zero

/** Needs the configuration of the storage, and takes its place. */
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
