/** Access of a tool to the database of the services, for setup and inspection. */
import * as Database from "@data-import/postgres/connection/Database"
import * as Storage from "@data-import/postgres/Storage"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import { ConfigProvider, Layer, Redacted } from "effect"

/** The database, and all ports on it. */
export const layer = (settings: Database.DatabaseSettings) =>
  Storage.layerPorts.pipe(
    Layer.provideMerge(Database.layerWith(settings)),
    Layer.merge(TokenSecrets.layer)
  )

/** All ports on one connection to this database, on its clock, as in an operator command. */
export const layerOperator = (url: Redacted.Redacted) => {
  const settings = { DATABASE_URL: Redacted.value(url), DATABASE_POOL_SIZE: "1" }
  return Storage.layer.pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings))),
    Layer.merge(TokenSecrets.layer)
  )
}
