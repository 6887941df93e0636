/**
 * Which database the local run and the operator command work on: the one that `DATABASE_URL` names,
 * or else an embedded PostgreSQL in `DATA_DIR` (`.data`).
 */
import * as ConnectionUrl from "@data-import/postgres/connection/ConnectionUrl"
import { Data, Effect, Option } from "effect"
import * as DataDirectory from "./DataDirectory.ts"

const configuredUrl = ConnectionUrl.setting("DATABASE_URL").optional

/** Another local run has the data directory. */
class AlreadyRunning extends Data.TaggedError("AlreadyRunning")<{
  readonly dataDir: string
}> {
  override get message(): string {
    return `A local run is up on ${this.dataDir} already.`
  }
}

/** Loaded on demand: an image has a database to connect to, and no embedded one. */
const startEmbedded = Effect.fnUntraced(function* (folder: string, whenAdopted: "stop" | "leave") {
  const { start } = yield* Effect.promise(
    () => import("@data-import/postgres/testing/EmbeddedPostgres")
  )
  return yield* start({ dataDir: DataDirectory.placesIn(folder).postgres, whenAdopted })
})

/**
 * The database of the local run, for as long as the scope. `share` lets operator commands use it as
 * well; before that they wait. `supervise` keeps the embedded one running, and fails when that is
 * not possible.
 */
export const own = Effect.gen(function* () {
  const configured = yield* configuredUrl
  if (Option.isSome(configured)) {
    return { url: configured.value, share: Effect.void, supervise: Effect.never }
  }
  const folder = yield* DataDirectory.dataDir
  const claim = yield* DataDirectory.claim(folder)
  if (claim._tag === "Shared") return yield* new AlreadyRunning({ dataDir: folder })
  // A server that is already running was left behind by a killed local run.
  const { supervise, url } = yield* startEmbedded(folder, "stop")
  return { url, share: claim.share, supervise }
})

/**
 * The same database for one command: that of the local run if it is up, otherwise started for the
 * command.
 */
export const borrow = Effect.gen(function* () {
  const configured = yield* configuredUrl
  if (Option.isSome(configured)) return { url: configured.value, embedded: false }
  const folder = yield* DataDirectory.dataDir
  const claim = yield* DataDirectory.claim(folder)
  const { url } = yield* startEmbedded(folder, claim._tag === "Shared" ? "leave" : "stop")
  return { url, embedded: true }
})
