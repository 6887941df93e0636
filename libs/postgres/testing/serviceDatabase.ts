/** Access of a test to the database of a service, for setup and inspection. */
import { Duration, Effect, Layer, type Redacted } from "effect"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { layerWith } from "../src/connection/Database.ts"
import { layerPorts } from "../src/Storage.ts"

/** The operations team under which tests complete imports. */
export const team = "Migration Team"

/** Creates the team. An account can only belong to a team that exists. */
export const layerTeam = Layer.effectDiscard(
  Effect.flatMap(Configuration, (configuration) => configuration.createTeam(team))
)

/**
 * Every port on the test's own connections. The layers are fresh, because they would otherwise be
 * shared with the service.
 */
export const portsBeside = (url: Redacted.Redacted) =>
  layerTeam.pipe(
    Layer.provideMerge(layerPorts),
    Layer.provideMerge(layerWith({ url, poolSize: 4, statementTimeout: Duration.seconds(20) })),
    Layer.fresh
  )
