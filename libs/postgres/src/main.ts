/**
 * The migration job: `node libs/postgres/src/main.ts` migrates the database that DATABASE_URL
 * names, as its owner, and makes the users of the services whose URLs it is given.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Record } from "effect"
import * as Logins from "./Logins.ts"
import { migrate } from "./migrate.ts"

/**
 * `ACCOUNT_IMPORT_DATABASE_URL`, likewise `POST_IMPORT_`, `QUERY_`, `AUTH_` and `OPERATOR_`: what
 * is the DATABASE_URL there. One that is not set is for somebody else to take care of.
 */
const logins = Config.all(
  Record.map(Logins.roleOf, (_, worker) =>
    Config.option(Config.Redacted(`${worker.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`))
  )
)

const job = Effect.gen(function* () {
  const owner = yield* Config.Redacted("DATABASE_URL")
  const given = Record.getSomes(yield* logins)
  const applied = yield* migrate(owner)
  yield* Effect.log(applied.length > 0 ? `Migrated: ${applied.join(", ")}` : "Nothing to migrate")
  yield* Logins.ensure(owner, given)
  for (const worker of Object.keys(given)) yield* Effect.log(`A user for ${worker} is there`)
})

NodeRuntime.runMain(job)
