/** The running events service on a separate database. */
import { Effect, Layer, Redacted } from "effect"
import type { Reply } from "@data-import/api/testing/Client"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { ask, running } from "@data-import/server/testing/RunningService"
import type { Tenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as events } from "../src/Events.ts"

/** The service with these settings on a fresh database, and the ports on the same database. */
export const serviceWith = (settings: Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.map(freshUrl, (url) => {
      const DATABASE_URL = Redacted.value(databaseUsersAt(url).events)
      return Layer.merge(running(events, { DATABASE_URL, ...settings }), portsBeside(url))
    })
  ).pipe(Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets)))

const root = "/v1/data-import/events/"

/** Requests events with this query. */
export const list = ({ token }: Pick<Tenant, "token">, query = "") =>
  ask({ method: "GET", path: `${root}${query}`, headers: { authorization: `Token ${token}` } })

interface Listed {
  readonly events: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly next_after: number
}

export const listed = ({ json }: Reply): Listed => json as Listed
