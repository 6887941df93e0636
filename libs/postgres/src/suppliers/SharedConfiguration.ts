/**
 * Caches the configuration for `CONFIGURATION_MAX_AGE` (250 milliseconds; at most a second), so
 * that not every request and every line reads it. Only what accepts is cached: a supplier that was
 * missing or paused, a team that was missing and a failure are looked up again. The statements of
 * writes check the status of the supplier.
 * Source: docs/contract/authentication.md#access-tokens.
 */
import { Cache, Duration, Effect, Exit, Layer, Option } from "effect"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import * as Settings from "@data-import/domain/support/Settings"

const maxAge = Settings.duration("CONFIGURATION_MAX_AGE", {
  minimum: "0 millis",
  maximum: "1 second"
}).or(Duration.millis(250))

/** The maximum number of cached suppliers, and of cached teams. */
const capacity = 1_000

/** Needs the configuration of the storage, and replaces it. */
export const layer = Layer.effect(
  Configuration,
  Effect.gen(function* () {
    const configuration = yield* Configuration
    const longest = yield* maxAge
    const lifeOf =
      <A>(accepts: (found: A) => boolean) =>
      (exit: Exit.Exit<A, unknown>): Duration.Duration =>
        Exit.isSuccess(exit) && accepts(exit.value) ? longest : Duration.zero
    const suppliers = yield* Cache.makeWith(configuration.supplier, {
      capacity,
      timeToLive: lifeOf(Option.exists(({ status }) => status === "Ongoing"))
    })
    const teams = yield* Cache.makeWith(configuration.hasTeam, {
      capacity,
      timeToLive: lifeOf((exists) => exists)
    })
    const codeLists = yield* Effect.cachedWithTTL(
      configuration.codeLists,
      lifeOf(() => true)
    )
    return Configuration.of({
      ...configuration,
      supplier: (code) => Cache.get(suppliers, code),
      hasTeam: (name) => Cache.get(teams, name),
      codeLists
    })
  })
)
