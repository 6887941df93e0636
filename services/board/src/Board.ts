/**
 * The board service: its routes and the adapters it uses. People sign in instead of programs, so it
 * knows sessions and no tokens.
 */
import { Effect, Layer, Option } from "effect"
import * as BoardAccess from "@data-import/domain/auth/BoardAccess"
import { Database } from "@data-import/postgres/connection/Database"
import { report } from "@data-import/postgres/connection/HealthReport"
import * as Storage from "@data-import/postgres/Storage"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import * as Service from "@data-import/server/lifecycle/Service"
import type { Premises } from "./Guard.ts"
import * as Handlers from "./Handlers.ts"
import * as BoardSettings from "./BoardSettings.ts"
import * as SignIn from "./SignIn.ts"
import * as WebFiles from "./WebFiles.ts"

const serving = Effect.gen(function* () {
  const { admit, ready: database } = yield* Database
  const access = yield* BoardAccess.BoardAccess
  const publicUrl = Option.getOrNull(yield* BoardSettings.publicUrl.optional)
  const premises: Premises = { access, admit, publicUrl }
  const web = yield* WebFiles.make(premises)
  return {
    routes: [
      ...web.routes,
      ...SignIn.routes(premises),
      ...(yield* Handlers.routes(premises))
    ],
    otherwise: web.otherwise,
    dependencies: { database },
    background: Effect.all([yield* report, access.upkeep], { concurrency: "unbounded" })
  }
})

const access = Layer.unwrap(Effect.map(BoardSettings.sessionTimes, BoardAccess.layer))

/**
 * Settings: those of the server and the database, BOARD_PUBLIC_URL (unset), BOARD_SESSION_IDLE (30
 * minutes) and BOARD_SESSION_LENGTH (12 hours). Behind the gateway TRUST_PROXY must be 1: sign-in
 * links are for clients on this machine only.
 */
export const layer = Service.layer("board", serving).pipe(
  Layer.provide(access),
  Layer.provide([Storage.layer, TokenSecrets.layer])
)
