/**
 * The migration job: `node libs/postgres/src/main.ts` migrates the database that DATABASE_URL
 * names, as its owner, and makes the users of the services whose URLs it is given.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Config, Console, Effect, Option, Record } from "effect"
import * as Settings from "@data-import/domain/support/Settings"
import * as ConnectionUrl from "./connection/ConnectionUrl.ts"
import * as DatabaseUsers from "./schema/DatabaseUsers.ts"
import { migrate, MigrationsBlocked } from "./schema/migrate.ts"
import { MigrationDiffers } from "./schema/MigrationFiles.ts"

/**
 * `ACCOUNT_IMPORT_DATABASE_URL`, and likewise `POST_IMPORT_`, `QUERY_`, `BATCHES_`,
 * `BATCH_WORKER_`, `EVENTS_`, `BOARD_`, `AUTH_` and `OPERATOR_`: the DATABASE_URL of that worker.
 * Users whose URL is not set are not touched.
 */
const databaseUsers = Config.all(
  Record.map(
    DatabaseUsers.roleOf,
    (_, worker) =>
      ConnectionUrl.setting(`${worker.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`).optional
  )
)

const job = Effect.gen(function* () {
  const owner = yield* ConnectionUrl.setting("DATABASE_URL").required
  const given = Record.getSomes(yield* databaseUsers)
  const applied = yield* migrate(owner)
  yield* Effect.log(applied.length > 0 ? `Migrated: ${applied.join(", ")}` : "Nothing to migrate")
  yield* DatabaseUsers.ensure(owner, given)
  for (const worker of Object.keys(given)) yield* Effect.log(`A user for ${worker} is there`)
})

/** One line for a failure that the operator of the job can fix. */
const explained = (cause: Cause.Cause<unknown>): string => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  const isPlain =
    failure instanceof MigrationsBlocked ||
    failure instanceof MigrationDiffers ||
    failure instanceof DatabaseUsers.UnusableDatabaseUser
  return isPlain ? failure.message : Settings.explained(cause)
}

const main = Effect.tapCause(job, (cause) =>
  Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(explained(cause))
)

NodeRuntime.runMain(main, { disableErrorReporting: true })
