/** What a tool sets up and reads beside the services, on the database that they use. */
import * as Database from "@data-import/postgres/connection/Database"
import * as Storage from "@data-import/postgres/Storage"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import { Layer } from "effect"

/** The database, and all ports on it. */
export const layer = (settings: Database.DatabaseSettings) =>
  Storage.layerPorts.pipe(
    Layer.provideMerge(Database.layerWith(settings)),
    Layer.merge(TokenSecrets.layer)
  )
