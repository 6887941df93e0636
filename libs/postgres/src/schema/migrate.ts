/**
 * Migrates a database: runs the numbered migrations, each once and in order, in one transaction. Of
 * several concurrent runs, one migrates, and the others wait and find nothing to do. A statement
 * that waits for a lock blocks every later statement on that table. So it waits only for a short
 * time; then everything is rolled back and repeated after a pause.
 */
import { PgClient } from "@effect/sql-pg"
import { Data, Duration, Effect, type Redacted, Schedule } from "effect"
import { Migrator, SqlError } from "effect/sql"
import { connectionTo } from "../connection/ConnectionUrl.ts"
import { sqlStateOf } from "../connection/SqlFailure.ts"
import {
  apply,
  type Migration,
  type MigrationDiffers,
  migrations,
  refuseOthers
} from "./MigrationFiles.ts"

/** Another transaction held a lock for too long. The message says what to do. */
export class MigrationsBlocked extends Data.TaggedError("MigrationsBlocked")<{
  readonly what: string
  readonly patience: Duration.Duration
}> {
  override get message(): string {
    return (
      `${this.what} because another transaction held a lock for ${Duration.format(this.patience)}. ` +
      "Nothing was changed. End that transaction and migrate again."
    )
  }
}

/** How long a statement waits for a lock while others may wait behind it. */
const lockTimeout = Duration.seconds(2)

/** During a pause the waiting statements run, and the blocking transaction may end. */
const pauses = (patience: Duration.Duration) =>
  Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("15 seconds")]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: patience })
  )

const client = (url: Redacted.Redacted) =>
  PgClient.layer({
    ...connectionTo(url),
    applicationName: "data-import-migrate",
    maxConnections: 1,
    connectTimeout: Duration.seconds(5),
    startupParameters: { lock_timeout: String(Duration.toMillis(lockTimeout)) }
  })

type Failure = Migrator.MigrationError | SqlError.SqlError

const gaveWay = (failure: Failure | MigrationDiffers): boolean => {
  const error = failure._tag === "MigrationError" ? failure.cause : failure
  return SqlError.isSqlError(error) && /^(?:55P03|40P01)$/.test(sqlStateOf(error) ?? "")
}

const whatFailed = (failure: Failure | MigrationDiffers): string =>
  failure._tag === "MigrationError" ? failure.message : "The migrations failed"

const run = (wanted: ReadonlyArray<Migration>) =>
  Migrator.make({})({
    loader: Effect.succeed(
      wanted.map((each) => [each.number, each.name, Effect.succeed(apply(each))])
    ),
    table: "migrations"
  })

/**
 * Migrates the database at `url` and returns the names of the newly applied migrations. `patience`
 * is how long blocked migrations are repeated, by default 5 minutes.
 */
export const migrate = (
  url: Redacted.Redacted,
  patience: Duration.Duration = Duration.minutes(5),
  wanted: ReadonlyArray<Migration> = migrations
): Effect.Effect<ReadonlyArray<string>, Failure | MigrationsBlocked | MigrationDiffers> =>
  Effect.andThen(refuseOthers(wanted), run(wanted)).pipe(
    Effect.map((applied) => applied.map(([, name]) => name)),
    Effect.tapError((failure) =>
      gaveWay(failure)
        ? Effect.logWarning(`${whatFailed(failure)} because another transaction holds a lock`)
        : Effect.void
    ),
    Effect.retry({ while: gaveWay, schedule: pauses(patience) }),
    Effect.mapError((failure) =>
      gaveWay(failure) ? new MigrationsBlocked({ what: whatFailed(failure), patience }) : failure
    ),
    Effect.provide(client(url))
  )
