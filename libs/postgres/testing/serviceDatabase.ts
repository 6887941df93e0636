/** What a test sets up and looks at beside a service, on the database that the service uses. */
import { Duration, Effect, Layer, type Redacted } from "effect"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { layerWith } from "../src/connection/Database.ts"
import { layerPorts } from "../src/Storage.ts"

/** The operations team that is there. */
export const team = "Migration Team"

const teamIsThere = Layer.effectDiscard(
  Effect.flatMap(Configuration, (configuration) => configuration.createTeam(team))
)

/**
 * Every port on connections of the test's own: fresh, because the same layers would otherwise be
 * those of the service.
 */
export const portsBeside = (url: Redacted.Redacted) =>
  teamIsThere.pipe(
    Layer.provideMerge(layerPorts),
    Layer.provideMerge(layerWith({ url, poolSize: 4, statementTimeout: Duration.seconds(20) })),
    Layer.fresh
  )
