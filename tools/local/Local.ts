/**
 * The whole system in one process, on this machine only: PostgreSQL, the migrations, every service
 * and the demo tenant. They start and stop together.
 */
import * as DatabaseUsers from "@data-import/postgres/setup/DatabaseUsers"
import { migrate } from "@data-import/postgres/setup/migrate"
import * as Storage from "@data-import/postgres/Storage"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import { ConfigProvider, Console, Data, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import * as DemoTenant from "./DemoTenant.ts"
import { dataDir } from "@data-import/operator/DataDirectory"
import { own } from "@data-import/operator/LocalDatabase"
import * as Services from "./Services.ts"

/** The connection that sets up the demo tenant; the services have their own. */
const configurationOn = (url: Redacted.Redacted) => {
  const settings = { DATABASE_URL: Redacted.value(url), DATABASE_POOL_SIZE: "1" }
  const storage = Layer.provide(
    Storage.layer,
    ConfigProvider.layer(ConfigProvider.fromUnknown(settings))
  )
  return Layer.merge(storage, TokenSecrets.layer)
}

/** A part of the system did not answer in time. */
class DoesNotAnswer extends Data.TaggedError("DoesNotAnswer")<{
  readonly seconds: number
}> {
  override get message(): string {
    return `Not every part of the system answered within ${this.seconds} seconds.`
  }
}

/** Waits until the whole system answers, for half a minute at most. */
const waitUntilReady = (check: Effect.Effect<void, unknown>, seconds = 30) =>
  Effect.retry(check, Schedule.spaced(Duration.millis(50))).pipe(
    Effect.orDie,
    Effect.timeoutOrElse({
      duration: Duration.seconds(seconds),
      orElse: () => Effect.fail(new DoesNotAnswer({ seconds }))
    })
  )

/**
 * Starts everything, prints its address, and keeps it running. Fails where it cannot be started,
 * and where PostgreSQL has ended and cannot be started again.
 */
export const run = Effect.gen(function* () {
  const folder = yield* dataDir
  const { share, supervise, url } = yield* own
  yield* migrate(url)
  const { operator, ...databaseUsers } = yield* DatabaseUsers.temporary(url)
  const { baseUrl, check } = yield* Services.start({ dataDir: folder, databaseUsers })
  yield* Effect.provide(DemoTenant.ensure(folder, baseUrl), configurationOn(operator))
  yield* share
  yield* waitUntilReady(check)
  yield* Console.log(`Data Import answers at ${baseUrl}`)
  return yield* supervise
})
